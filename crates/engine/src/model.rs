//! The port to a language model, and which name means which model.
//!
//! A [`ChatModel`] performs one call: it has no opinion about retries, chunks or what a good summary is, since
//! the core's machines decide those. It maps what went wrong to a [`Failure`], by what can be done about it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use conspectus_core::effect::{Failure, Reply};
use conspectus_core::view::Usage;
use conspectus_wire::Format;

/// A future in a box, as the ports of this crate return it.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A language model that can be asked for a summary.
///
/// The contract, which the suite in the test kit checks for every provider:
///
/// - One call asks once. Whether to ask again is not the model's business.
/// - The future ends within [`ModelCall::timeout_ms`], whatever the other side does.
/// - Dropping the future stops the call.
/// - What a call is reported to cost before it ended is told to [`ModelCall::meter`]: it is paid also when the call fails
///   or is dropped.
/// - [`Reply::text`] holds text only: no reasoning, no tool calls.
/// - No message of a [`Failure`] holds a key or the content of the conversation.
pub trait ChatModel: Send + Sync {
    /// Asks once. `alive` is called whenever bytes arrive.
    ///
    /// # Errors
    /// Why there is no reply.
    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>>;

    /// What telemetry says of it.
    fn about(&self) -> About {
        About::default()
    }

    /// The format of the request bodies that it takes as [`Prompt::Body`]; `None`: it takes none.
    fn takes(&self) -> Option<Format> {
        None
    }
}

/// What telemetry says of a model. Nothing in it is secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Whose API is spoken, by OpenTelemetry's name for it (`openai`, `anthropic`).
    pub provider: Option<Arc<str>>,
    /// What its server calls it.
    pub model: Option<Arc<str>>,
    /// Its server.
    pub host: Option<Arc<str>>,
    /// The server's port.
    pub port: Option<u16>,
}

/// Where a model writes what a call has cost so far: nobody knows whether it comes to an end. By itself it leads
/// nowhere. It is no part of what is asked, so all are equal.
#[derive(Clone, Default)]
pub struct Meter(Option<Arc<Reads>>);

type Reads = dyn Fn(&Usage) + Send + Sync;

impl Meter {
    /// One that is read.
    pub fn new(read: impl Fn(&Usage) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(read)))
    }

    /// What the call has been reported to cost so far, in all.
    pub fn report(&self, usage: &Usage) {
        if let Some(read) = &self.0 {
            read(usage);
        }
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meter")
    }
}

impl PartialEq for Meter {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Meter {}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// The request.
    pub prompt: Prompt,
    /// The most tokens that the reply may have.
    pub max_output_tokens: u64,
    /// The time for the whole call.
    pub timeout_ms: u64,
    /// A JSON schema that the reply's text should follow, where the model can be held to one.
    pub schema: Option<Arc<str>>,
    /// Where the model says what the call has cost, as soon as it knows.
    pub meter: Meter,
}

/// What stands in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// An instruction and a document.
    Text {
        /// The system prompt.
        system: Arc<str>,
        /// The one user message.
        user: Arc<str>,
    },
    /// A whole request body in the provider's own format. It is sent as it is, byte for byte, but for the fields
    /// that say which model, how much output and whether to stream.
    Body(Arc<[u8]>),
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        (**self).call(call, alive)
    }

    fn about(&self) -> About {
        (**self).about()
    }

    fn takes(&self) -> Option<Format> {
        (**self).takes()
    }
}

/// The models that routes name. A model that could not be made is kept too: using it is a failed call, so that
/// the next model of the chain gets its turn instead of the program ending.
#[derive(Clone, Default)]
pub struct Models {
    run: Option<Made>,
    named: BTreeMap<Arc<str>, Made>,
}

type Made = Result<Arc<dyn ChatModel>, Arc<str>>;

impl Models {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the model that the run executes with: the one that a route without a name means.
    #[must_use]
    pub fn with_run<E: fmt::Display>(mut self, model: Result<Arc<dyn ChatModel>, E>) -> Self {
        self.run = Some(model.map_err(|e| e.to_string().into()));
        self
    }

    /// With a model under a name, or why it could not be made.
    #[must_use]
    pub fn with<E: fmt::Display>(
        mut self,
        name: impl Into<Arc<str>>,
        model: Result<Arc<dyn ChatModel>, E>,
    ) -> Self {
        let made = model.map_err(|e| e.to_string().into());
        self.named.insert(name.into(), made);
        self
    }

    /// The model of a route's name; `None`: the one that the run executes with.
    ///
    /// # Errors
    /// [`Failure::Unusable`] where there is none of that name, [`Failure::Broken`] where it could not be made.
    pub fn get(&self, name: Option<&str>) -> Result<&Arc<dyn ChatModel>, Failure> {
        let made = match name {
            Some(name) => self.named.get(name),
            None => self.run.as_ref(),
        };
        match (made, name) {
            (Some(Ok(model)), _) => Ok(model),
            (Some(Err(why)), _) => Err(Failure::Broken {
                message: format!("it could not be made: {why}").into(),
            }),
            (None, Some(name)) => Err(Failure::Unusable {
                message: format!("no model is called {name:?}; add it to the models").into(),
            }),
            (None, None) => Err(Failure::Unusable {
                message: "no model is configured here".into(),
            }),
        }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |made: &Made| match made {
            Ok(_) => "made".to_owned(),
            Err(why) => why.to_string(),
        };
        let named: BTreeMap<_, _> = self.named.iter().map(|(n, m)| (n, told(m))).collect();
        f.debug_struct("Models")
            .field("run", &self.run.as_ref().map(told))
            .field("named", &named)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mute;

    impl ChatModel for Mute {
        fn call<'a>(
            &'a self,
            _: ModelCall,
            _: &'a (dyn Fn() + Send + Sync),
        ) -> Boxed<'a, Result<Reply, Failure>> {
            Box::pin(std::future::pending())
        }
    }

    #[test]
    fn a_name_that_leads_nowhere_is_a_failed_call() {
        let models = Models::new()
            .with::<String>("good", Ok(Arc::new(Mute)))
            .with("bad", Err("no key in MY_KEY"));
        let said = |name| models.get(name).err().map(|f| f.to_string());
        assert_eq!(said(Some("good")), None);
        assert_eq!(
            said(Some("bad")).as_deref(),
            Some("the summariser broke: it could not be made: no key in MY_KEY")
        );
        assert_eq!(
            said(Some("new")).as_deref(),
            Some("the model cannot be used: no model is called \"new\"; add it to the models")
        );
        assert_eq!(
            said(None).as_deref(),
            Some("the model cannot be used: no model is configured here")
        );
    }
}
