//! One HTTP request and its answer, within limits of time and size.

use std::error::Error as _;

use conspectus::core::effect::{Failure, Reply};
use conspectus::wire::failure::{ErrorClass, ProviderError};
use conspectus::{About, Delta, Meter, ModelCall, Turn, TurnRequest};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Url};

use crate::answer::{Ended, Head, Limit, Pieces, within};
use crate::client::{client, put};
use crate::dialect::{Dialect, Odd};
use crate::draft::Draft;
use crate::endpoint::{Auth, Endpoint, Timeouts};
use crate::error::BuildError;
use crate::secret::Secret;
use crate::stream::Following;

/// What a reply of an agent's model may have where nobody says.
const MOST_TURN_TOKENS: u64 = 200_000;
/// No more of an error is read.
const MOST_ERROR_BYTES: usize = 64 << 10;
/// Values of headers that are shorter are words, not secrets.
const LEAST_SECRET: usize = 8;

/// Who hears of a call while it goes on.
struct Watch<'a> {
    alive: &'a (dyn Fn() + Send + Sync),
    on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    meter: &'a Meter,
}

/// A connection to one URL.
#[derive(Debug)]
pub(crate) struct Transport {
    client: Client,
    url: Url,
    timeouts: Timeouts,
    max_reply_bytes: usize,
    secrets: Vec<Secret>,
}

impl Transport {
    /// For `url`, with the key sent as `auth` says unless the endpoint says otherwise.
    pub(crate) fn new(
        endpoint: &Endpoint,
        url: Url,
        auth: &Auth,
        fixed: &[(&'static str, &'static str)],
    ) -> Result<Self, BuildError> {
        let key = endpoint.key.read()?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in fixed {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = &key {
            let (name, value) = match endpoint.auth.as_ref().unwrap_or(auth) {
                Auth::Bearer => ("authorization", format!("Bearer {}", key.expose())),
                Auth::Header(name) => (name.as_str(), key.expose().to_owned()),
            };
            put(&mut headers, name, &value)?;
        }
        for (name, value) in &endpoint.headers {
            put(&mut headers, name, value.expose())?;
        }
        let given = endpoint.headers.iter().map(|(_, value)| value.clone());
        let given = given.filter(|value| value.expose().len() >= LEAST_SECRET);
        Ok(Self {
            client: client(endpoint, &url, headers)?,
            url,
            timeouts: endpoint.timeouts,
            max_reply_bytes: endpoint.max_reply_bytes,
            secrets: key.into_iter().chain(given).collect(),
        })
    }

    /// What telemetry says of it.
    pub(crate) fn about(&self, provider: &str, model: &str) -> About {
        About {
            provider: Some(provider.into()),
            model: Some(model.into()),
            host: self.url.host_str().map(Into::into),
            port: self.url.port_or_known_default(),
        }
    }

    /// One call from beginning to end.
    pub(crate) async fn call(
        &self,
        dialect: &dyn Dialect,
        call: ModelCall,
        alive: &(dyn Fn() + Send + Sync),
    ) -> Result<Reply, Failure> {
        let total_ms = self.timeouts.total_ms.min(call.timeout_ms);
        let all = async {
            let body = dialect.body(&call)?;
            let max = call.max_output_tokens;
            let watch = Watch {
                alive,
                on_delta: &|_| {},
                meter: &call.meter,
            };
            self.exchange(dialect, body, max, watch).await?.end()
        };
        within(Limit::from_now(total_ms), all).await?
    }

    /// One call of an agent's from beginning to end.
    pub(crate) async fn turn(
        &self,
        dialect: &dyn Dialect,
        request: &TurnRequest,
        on_delta: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Turn, Failure> {
        let total_ms = self.timeouts.total_ms.min(request.timeout_ms);
        let all = async {
            let body = dialect.turn_body(request)?;
            let max = request.max_output_tokens.unwrap_or(MOST_TURN_TOKENS);
            let watch = Watch {
                alive: &|| {},
                on_delta,
                meter: &Meter::default(),
            };
            self.exchange(dialect, body, max, watch).await?.end_turn()
        };
        within(Limit::from_now(total_ms), all).await?
    }

    async fn exchange(
        &self,
        dialect: &dyn Dialect,
        body: Vec<u8>,
        max_output_tokens: u64,
        watch: Watch<'_>,
    ) -> Result<Draft, Failure> {
        let first = Limit::from_now(self.timeouts.first_byte_ms);
        let sent = self.client.post(self.url.clone()).body(body).send();
        let response = match within(first, sent).await? {
            Ok(response) => response,
            Err(error) => return Err(self.broke(error)),
        };
        (watch.alive)();
        let status = response.status().as_u16();
        let head = Head::of(&response);
        let mut pieces = Pieces {
            response,
            limit: first,
            idle_ms: self.timeouts.idle_ms,
            alive: watch.alive,
        };
        if !(200..300).contains(&status) {
            // What has come of it is enough to tell.
            let (body, _) = pieces.collect(MOST_ERROR_BYTES).await;
            return Err(self.refused(status, &head, &body));
        }
        let draft = if head.is_events() {
            let most = self.max_reply_bytes;
            let following = Following::new(dialect, most, max_output_tokens, watch.on_delta);
            self.follow(following, &mut pieces, watch.meter).await?
        } else {
            let (body, end) = pieces.collect(self.max_reply_bytes).await;
            match end {
                Ended::Whole => {
                    let mut draft = self.read(dialect, &head, &body, max_output_tokens)?;
                    draft.news.drain(..).for_each(watch.on_delta);
                    draft
                }
                Ended::Full => {
                    let most = self.max_reply_bytes;
                    return Err(Failure::Unusable {
                        message: format!("the answer is larger than {most} bytes").into(),
                    });
                }
                Ended::Broken(error) => return Err(self.broke(error)),
                Ended::Late(failure) => return Err(failure),
            }
        };
        if let Some(usage) = &draft.usage {
            watch.meter.report(usage);
        }
        Ok(draft)
    }

    /// Follows a stream until it says that it is done.
    async fn follow(
        &self,
        mut following: Following<'_>,
        pieces: &mut Pieces<'_>,
        meter: &Meter,
    ) -> Result<Draft, Failure> {
        loop {
            let is_done = match pieces.next().await {
                Ok(Ok(Some(piece))) => {
                    let pushed = following.push(piece.as_ref());
                    if let Some(usage) = following.new_usage() {
                        meter.report(usage);
                    }
                    pushed.map_err(|odd| self.odd(odd))?
                }
                // What is still to come are figures.
                _ if following.may_end() => true,
                Ok(Ok(None)) => true,
                Ok(Err(error)) => return Err(self.broke(error)),
                Err(late) => return Err(late),
            };
            if is_done {
                return following.end().ok_or_else(torn);
            }
        }
    }

    /// Reads an answer that came in one piece.
    fn read(
        &self,
        dialect: &dyn Dialect,
        head: &Head,
        body: &[u8],
        max_output_tokens: u64,
    ) -> Result<Draft, Failure> {
        let text = String::from_utf8_lossy(body);
        if text.trim().is_empty() {
            return Err(unavailable("the answer is empty"));
        }
        let mut draft = Draft::default();
        match dialect.whole(&text, &mut draft) {
            Ok(()) => Ok(draft),
            // A stream by a server that does not say so.
            Err(Odd::Foreign) if looks_like_events(&text) => {
                let most = self.max_reply_bytes;
                let mut following = Following::new(dialect, most, max_output_tokens, &|_| {});
                following.push(body).map_err(|odd| self.odd(odd))?;
                following.end().ok_or_else(torn)
            }
            Err(Odd::Foreign) => {
                let error = self.error_of(200, head, body);
                Err(Failure::Unusable {
                    message: format!("{error}; this is no reply of a model: check the base URL")
                        .into(),
                })
            }
            Err(odd) => Err(self.odd(odd)),
        }
    }

    /// An answer with an error status.
    fn refused(&self, status: u16, head: &Head, body: &[u8]) -> Failure {
        let error = self.error_of(status, head, body);
        match head.should_retry {
            // The server knows best; but that the request is too large stays true.
            Some(true) if !error.class.is_overflow() => Failure::Unavailable {
                message: error.to_string().into(),
                retry_after_ms: head.retry_after_ms,
            },
            Some(false) if error.class.is_retryable() => Failure::Unusable {
                message: error.to_string().into(),
            },
            _ => failure(&error, head.retry_after_ms),
        }
    }

    fn error_of(&self, status: u16, head: &Head, body: &[u8]) -> ProviderError {
        let content_type = head.content_type.as_deref();
        ProviderError::of_answer(status, content_type, body, &|text| self.scrub(text))
    }

    fn odd(&self, odd: Odd) -> Failure {
        match odd {
            Odd::Stated(json) => {
                let hide = |text| self.scrub(text);
                failure(&ProviderError::in_stream(json.as_bytes(), &hide), None)
            }
            Odd::Foreign => Failure::Unusable {
                message: "the stream is not one of a model of this kind: check the base URL".into(),
            },
        }
    }

    /// The connection failed. The URL is left out: it may hold what nobody should see.
    fn broke(&self, error: reqwest::Error) -> Failure {
        if error.is_connect() && error.is_timeout() {
            return Failure::TimedOut {
                after_ms: self.timeouts.connect_ms,
            };
        }
        let what = match error.is_connect() {
            true => "cannot connect to the server",
            false => "the connection broke",
        };
        let error = error.without_url();
        let mut cause = error.source();
        while let Some(deeper) = cause.and_then(std::error::Error::source) {
            cause = Some(deeper);
        }
        let why = cause.map_or_else(|| error.to_string(), ToString::to_string);
        let why = self.scrub(why);
        if why.contains("certificate") {
            return Failure::Unusable {
                message: format!("{what}: {why}; a CA of one's own is set with a CA file").into(),
            };
        }
        unavailable(&format!("{what}: {why}"))
    }

    fn scrub(&self, text: String) -> String {
        self.secrets
            .iter()
            .fold(text, |text, secret| secret.scrub(text))
    }
}

fn torn() -> Failure {
    unavailable("the stream ended before the reply did")
}

fn unavailable(message: &str) -> Failure {
    Failure::Unavailable {
        message: message.into(),
        retry_after_ms: None,
    }
}

/// What can be done about an error, in the core's words.
fn failure(error: &ProviderError, retry_after_ms: Option<u64>) -> Failure {
    let unusable = |advice: &str| Failure::Unusable {
        message: format!("{error}{advice}").into(),
    };
    match error.class {
        ErrorClass::Overflow { limit, actual } => Failure::ContextOverflow { limit, actual },
        ErrorClass::TooManyBytes => Failure::TooManyBytes,
        ErrorClass::RateLimited | ErrorClass::Unavailable => Failure::Unavailable {
            message: error.to_string().into(),
            retry_after_ms,
        },
        ErrorClass::Unauthorized => unusable("; check the key"),
        ErrorClass::NotFound => unusable("; check the base URL and the model's name"),
        _ => unusable(""),
    }
}

fn looks_like_events(text: &str) -> bool {
    let start = text.trim_start();
    ["data:", "event:", ":"]
        .iter()
        .any(|s| start.starts_with(s))
}
