//! What is sent, to the byte.

use std::sync::Arc;

use conspectus::core::effect::Failure;
use conspectus::{ModelCall, Prompt};
use conspectus_providers::{Auth, BuildError, Endpoint, Key, OutputCap, Proxy, Secret};
use conspectus_testkit::server::{Asked, HttpServer};
use serde_json::{Value, json};

use crate::api::{APIS, Api, KEY, Says, block_on, call};

fn sent(api: Api, call: ModelCall, change: impl Fn(&mut Endpoint)) -> Asked {
    let server = HttpServer::start(move |_, _| api.answer(Says::Text, true));
    let mut endpoint = api.endpoint(&server);
    change(&mut endpoint);
    let model = (api.make)(&endpoint).unwrap();
    block_on(async { model.call(call, &|| {}).await }).unwrap();
    server.asked().remove(0)
}

fn json(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).unwrap()
}

#[test]
fn openai() {
    let api = APIS[0];
    let asked = sent(api, call(), |_| {});
    assert_eq!(
        (asked.method.as_str(), asked.target.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(
        asked.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert!(
        asked
            .header("user-agent")
            .unwrap()
            .starts_with("conspectus/")
    );
    assert_eq!(asked.header("x-api-key"), None);
    let messages = json!([
        {"role": "system", "content": "Summarise."},
        {"role": "user", "content": "<new>tea \"and\" coffee</new>"},
    ]);
    let expect = json!({
        "model": "m-1", "messages": messages, "max_tokens": 300,
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(json(&asked), expect);

    let asked = sent(api, call(), |endpoint| {
        endpoint.stream = false;
        endpoint.output_cap = OutputCap::MaxCompletionTokens;
        endpoint.fields.insert("temperature".into(), json!(0));
    });
    let expect = json!({
        "model": "m-1", "messages": messages, "max_completion_tokens": 300,
        "stream": false, "temperature": 0,
    });
    assert_eq!(json(&asked), expect);
}

#[test]
fn anthropic() {
    let asked = sent(APIS[1], call(), |_| {});
    assert_eq!(
        (asked.method.as_str(), asked.target.as_str()),
        ("POST", "/v1/messages")
    );
    assert_eq!(asked.header("x-api-key"), Some(KEY));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked.header("authorization"), None);
    let expect = json!({
        "model": "m-1", "max_tokens": 300, "stream": true, "system": "Summarise.",
        "messages": [{"role": "user", "content": "<new>tea \"and\" coffee</new>"}],
    });
    assert_eq!(json(&asked), expect);
}

#[test]
fn a_schema_is_passed_on_where_the_server_takes_one() {
    let schema = json!({"type": "object", "properties": {"goal": {"type": "string"}}});
    let mut call = call();
    call.schema = Some(schema.to_string().into());
    let with = |api: Api, takes| json(&sent(api, call.clone(), |e| e.schema = takes));
    let named = json!({"name": "summary", "strict": true, "schema": schema});
    assert_eq!(
        with(APIS[0], true)["response_format"],
        json!({"type": "json_schema", "json_schema": named})
    );
    assert_eq!(
        with(APIS[1], true)["output_config"],
        json!({"format": {"type": "json_schema", "schema": schema}})
    );
    assert_eq!(with(APIS[0], false)["response_format"], Value::Null);
    assert_eq!(with(APIS[1], false)["output_config"], Value::Null);
}

#[test]
fn a_body_of_the_host_keeps_every_byte_but_for_three_fields() {
    let check = |api: Api, body: &str, expect: &str| {
        let mut call = call();
        call.prompt = Prompt::Body(Arc::from(body.as_bytes()));
        // Fields of the endpoint would move the prefix that the cache knows.
        let asked = sent(api, call, |e| {
            e.fields.insert("temperature".into(), json!(0));
        });
        assert_eq!(asked.body, expect);
    };
    check(
        APIS[0],
        r#"{ "messages":[{"role":"user","content":"\u00e9","x":1.50}],"model":"other","max_completion_tokens":9,"stream":false}"#,
        r#"{ "messages":[{"role":"user","content":"\u00e9","x":1.50}],"model":"m-1","stream":true,"max_tokens":300,"stream_options":{"include_usage":true}}"#,
    );
    check(
        APIS[1],
        r#"{"model":"other","tools":[],"messages":[{"role":"user","content":"\ud83d"}],"max_tokens":5}"#,
        r#"{"model":"m-1","tools":[],"messages":[{"role":"user","content":"\ud83d"}],"max_tokens":300,"stream":true}"#,
    );
    let server = HttpServer::always(vec![]);
    for api in APIS {
        let model = (api.make)(&api.endpoint(&server)).unwrap();
        let mut call = call();
        call.prompt = Prompt::Body(Arc::from(&b"[]"[..]));
        let answer = block_on(async { model.call(call, &|| {}).await });
        assert!(
            matches!(answer, Err(Failure::Unusable { .. })),
            "{answer:?}"
        );
    }
    assert_eq!(server.asked(), []);
}

#[test]
fn headers_and_ways_to_send_the_key() {
    for api in APIS {
        let asked = sent(api, call(), |endpoint| {
            endpoint.auth = Some(Auth::Header("api-key".into()));
            endpoint.headers = vec![("X-Title".into(), Secret::new("tea"))];
        });
        assert_eq!(
            (asked.header("api-key"), asked.header("x-title")),
            (Some(KEY), Some("tea"))
        );
        assert_eq!(
            (asked.header("authorization"), asked.header("x-api-key")),
            (None, None)
        );
        let bearer = sent(api, call(), |e| e.auth = Some(Auth::Bearer));
        assert_eq!(
            bearer.header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
        let none = sent(api, call(), |e| e.key = Key::None);
        assert_eq!(
            (none.header("authorization"), none.header("x-api-key")),
            (None, None)
        );
        // A version of the host's own.
        let asked = sent(api, call(), |endpoint| {
            endpoint.headers = vec![("anthropic-version".into(), Secret::new("2026-10-21"))];
        });
        assert_eq!(asked.header("anthropic-version"), Some("2026-10-21"));
    }
}

#[test]
fn a_proxy_is_used() {
    for api in APIS {
        let proxy = HttpServer::start(move |_, _| api.answer(Says::Text, true));
        let mut endpoint = Endpoint::new("http://model.invalid/v1", "m-1");
        let url = proxy.url().replace("http://", "http://me:word@");
        endpoint.proxy = Proxy::Url(Secret::new(url));
        assert_eq!(&*api.ask(&endpoint).unwrap().text, "Tea — done.");
        let asked = proxy.asked().remove(0);
        assert!(
            asked.target.starts_with("http://model.invalid/v1/"),
            "{}",
            asked.target
        );
        assert!(asked.header("proxy-authorization").is_some());
        assert!(!format!("{endpoint:?}").contains("word"));
    }
}

/// It runs this program once more, since the environment of a process with threads cannot be changed.
#[test]
fn a_proxy_of_the_environment_is_used() {
    const ME: &str = "requests::a_proxy_of_the_environment_is_used";
    const CHILD: &str = "CONSPECTUS_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let endpoint = Endpoint::new("http://model.invalid/v1", "m-1");
        assert_eq!(&*APIS[0].ask(&endpoint).unwrap().text, "Tea — done.");
        return;
    }
    let proxy = HttpServer::start(|_, _| APIS[0].answer(Says::Text, true));
    let run = |proxied: &str| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", ME]).env(CHILD, "1");
        for name in [
            "http_proxy",
            "ALL_PROXY",
            "all_proxy",
            "NO_PROXY",
            "no_proxy",
        ] {
            child.env_remove(name);
        }
        child
            .env("NO_PROXY", proxied)
            .env("HTTP_PROXY", proxy.url());
        child.output().unwrap().status.success()
    };
    assert!(run("other.invalid"));
    assert!(
        proxy.asked()[0]
            .target
            .starts_with("http://model.invalid/v1/")
    );
    assert!(!run("model.invalid"), "NO_PROXY says otherwise");
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn what_cannot_work_is_said_when_the_model_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("ca.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    let check = |change: &dyn Fn(&mut Endpoint), expect: &str| {
        for api in APIS {
            let mut endpoint = Endpoint::new("https://model.invalid/v1", "m-1");
            change(&mut endpoint);
            let error = (api.make)(&endpoint).err().unwrap();
            assert!(error.to_string().contains(expect), "{error}");
        }
    };
    check(
        &|e| e.base_url = "model".into(),
        "the base URL cannot be used",
    );
    check(
        &|e| e.key = Key::Env("CONSPECTUS_NO_SUCH_VARIABLE".into()),
        "CONSPECTUS_NO_SUCH_VARIABLE is not set",
    );
    check(
        &|e| e.headers = vec![("a b".into(), Secret::new("c"))],
        "the header \"a b\" cannot be sent",
    );
    check(
        &|e| e.proxy = Proxy::Url(Secret::new("::")),
        "the proxy is not a URL",
    );
    check(
        &|e| e.ca_file = Some(folder.path().join("missing")),
        "cannot read the certificates",
    );
    check(&|e| e.ca_file = Some(empty.clone()), "there is none in it");
    let error = BuildError::Proxy;
    assert!(!error.to_string().contains("::"));
}

#[test]
fn nothing_that_is_printed_shows_the_key() {
    let server = HttpServer::always(vec![]);
    for api in APIS {
        assert!(!format!("{:?}", api.endpoint(&server)).contains(KEY));
    }
    let endpoint = APIS[0].endpoint(&server);
    let model = conspectus_providers::OpenAiChat::new(&endpoint).unwrap();
    let printed = format!("{model:?}");
    assert!(
        printed.contains("****") && !printed.contains(KEY),
        "{printed}"
    );
}
