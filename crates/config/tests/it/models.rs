//! The list `models:`: what is read, what is refused, and that nothing secret is ever shown.

use conspectus_config::{Config, Prices};
use conspectus_core::policy::{CounterChoice, ModelProfile};

use super::error;

const FILE: &str = "\
models:
  - name: main
    provider: Anthropic
    model: claude-9
    api_key: $MAIN_KEY
    window: 200_000
    max_output: 64000
    prices: {input: 3, output: 15, cache_read: 0.3}
  - name: small
    use: langchain_openai:ChatOpenAI
    display_name: Small one
    base_url: https://gateway.example/v1
    api_key: ${GATEWAY_KEY}
    context: 128000
    max_tokens: 4096
    headers: {X-Team: talks, Authorization: very-secret-value-1}
    supports_vision: true
";

fn load(text: &str) -> Config {
    Config::load("config.yaml", text).expect("loads")
}

#[test]
fn everything_is_read() {
    let config = load(FILE);
    assert_eq!(config.warnings(), []);
    let [main, small] = config.models() else {
        panic!("two models: {:?}", config.models());
    };
    assert_eq!((&*main.name, &*main.model), ("main", "claude-9"));
    assert_eq!(main.provider.as_deref(), Some("anthropic"));
    assert!(main.is_anthropic());
    let key = main.api_key.as_ref().expect("a key");
    assert_eq!(
        (key.variable(), key.to_string().as_str()),
        (Some("MAIN_KEY"), "$MAIN_KEY")
    );
    let looked_up = key.reveal(|name| Some(format!("value of {name}")));
    assert_eq!(looked_up.as_deref(), Some("value of MAIN_KEY"));
    assert_eq!(key.reveal(|_| None), None);
    let prices = Prices {
        input: Some(3.0),
        output: Some(15.0),
        cache_read: Some(0.3),
        cache_write: None,
    };
    assert_eq!(main.prices, prices);
    assert_eq!((&*small.name, &*small.model), ("small", "small"));
    assert_eq!(
        small.provider.as_deref(),
        Some("openai"),
        "from deer-flow's class"
    );
    assert_eq!(
        (small.window, small.max_output),
        (Some(128_000), Some(4_096))
    );
    assert_eq!(
        small.base_url.as_deref(),
        Some("https://gateway.example/v1")
    );
    assert_eq!(
        small.api_key.as_ref().and_then(|k| k.variable()),
        Some("GATEWAY_KEY")
    );
    assert_eq!(
        small.headers[1].1.reveal(|_| None).as_deref(),
        Some("very-secret-value-1")
    );
    assert!(!main.is_same_place(small));
}

#[test]
fn the_run_model_gives_window_reserve_and_counter() {
    let config = load(FILE);
    let profile = |name| config.run_model(name).expect("known");
    assert_eq!(
        profile(None).name.as_deref(),
        Some("main"),
        "the first of the list"
    );
    assert_eq!(profile(Some("small")).window, Some(128_000));
    let error = config.run_model(Some("other")).expect_err("not there");
    assert_eq!(
        error.to_string(),
        "--model: found \"other\", expected a name of the list models: main or small"
    );
    let policy = config.resolve(&profile(None)).expect("resolves").policy;
    assert_eq!((policy.window, policy.output_reserve), (200_000, 50_000));
    // Without a list a name is only a name.
    let bare = load("summarization:\n")
        .run_model(Some("x"))
        .expect("a name");
    assert_eq!(
        bare,
        ModelProfile {
            name: Some("x".into()),
            ..ModelProfile::default()
        }
    );
    // Anthropic's models are counted at 3.3 characters a token where LangChain's formula is used.
    let parity = load(&format!("{FILE}summarization: {{preset: langchain}}\n"));
    let tenths = |name| {
        let profile = parity.run_model(Some(name)).expect("known");
        parity.resolve(&profile).expect("resolves").policy.counter
    };
    assert_eq!(tenths("main"), CounterChoice::LangChain { tenths: 33 });
    assert_eq!(tenths("small"), CounterChoice::LangChain { tenths: 40 });
}

#[test]
fn a_summary_model_must_be_one_of_the_list_where_there_is_one() {
    let with =
        |name: &str| format!("{FILE}summarization: {{preset: default, model_name: {name}}}\n");
    assert!(
        load(&with("small"))
            .resolve(&ModelProfile::default())
            .is_ok()
    );
    assert_eq!(
        error(&with("gpt-4o-mini-2024-07-18")),
        "config.yaml:18: summarization.model_name: found \"gpt-4o-mini-2024-07-18\", expected a name of the list \
         models: main or small"
    );
    assert!(
        load(
            "models: []\nsummarization: {model_name: any, enabled: true, trigger: {tokens: 5000}}\n"
        )
        .resolve(&ModelProfile::default())
        .is_ok()
    );
}

#[test]
fn what_is_wrong_is_named() {
    let check = |text: &str, expect: &str| assert_eq!(error(text), format!("config.yaml:{expect}"));
    check(
        "models: 7\n",
        "1: models: found 7, expected a list of models, each with a name",
    );
    check(
        "models:\n  - 7\n",
        "2: models[0]: found 7, expected a map with at least a name",
    );
    check(
        "models:\n  - window: 7\n",
        "2: models[0].name: found no name, expected what model_name and --model call it",
    );
    check(
        "models:\n  - name: a\n  - name: a\n",
        "3: models[1].name: given twice, first on line 2; remove one",
    );
    check(
        "models:\n  - name: a\n    window: many\n",
        "3: models[0].window: found \"many\", expected a whole number > 0",
    );
    check(
        "models:\n  - name: a\n    window: 9\n    context: 9\n",
        "4: models[0].context: given together with models[0].window (line 3), which means the same; remove one",
    );
    check(
        "models:\n  - name: a\n    name: b\n",
        "3: models[0].name: given twice, first on line 2; remove one",
    );
    check(
        "models:\n  - name: a\n    prices: {inptu: 3}\n",
        "3: models[0].prices.inptu: unknown option, did you mean prices.input?",
    );
    check(
        "models:\n  - name: a\n    prices: {input: -3}\n",
        "3: models[0].prices.input: found -3, expected dollars a million tokens, a number >= 0",
    );
    check(
        "models:\n  - name: a\n    windwo: 3\n",
        "3: models[0].windwo: unknown option, did you mean window?",
    );
    check(
        "models: []\nsummarization:\nmodels: []\n",
        "3: models: given twice, first on line 1; remove one",
    );
    let expected =
        "expected an http or https address without user, password and spaces; keys go to api_key";
    for url in [
        "https://me:secret@host/v1",
        "ftp://host",
        "host",
        "\"https://a b\"",
        "https://h?key=s",
    ] {
        let text = format!("models:\n  - name: a\n    base_url: {url}\n");
        let told = error(&text);
        assert!(
            told.ends_with(expected) && !told.contains("secret"),
            "{told}"
        );
    }
}

#[test]
fn a_field_of_others_is_passed_over_and_a_typo_is_not() {
    let text = "models:\n  - {name: a, windwo: 3, supports_thinking: true}\n\
                summarization: {preset: deerflow}\n";
    let warnings: Vec<String> = load(text)
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        warnings,
        [
            "config.yaml:2: models[0].windwo: unknown option, did you mean window? (ignored, as preset deerflow does)"
        ]
    );
}

#[test]
fn nothing_secret_is_shown() {
    let secret = "hunter2-hunter2";
    let text =
        format!("models:\n  - name: a\n    api_key: {secret}\n    headers: {{X-Key: {secret}}}\n");
    let config = load(&text);
    let warnings: Vec<String> = config.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "config.yaml:3: models[0].api_key: the key stands in the file itself; put it into an environment \
          variable and write $NAME"
        ]
    );
    let shown = format!("{config:?} {:#?} {}", config.models(), warnings.join(" "));
    assert!(!shown.contains(secret), "{shown}");
    assert!(shown.contains("****"));
    for wrong in [
        "api_key: [hunter2-hunter2]",
        "headers: [hunter2-hunter2]",
        "api_key: {a: hunter2-hunter2}",
    ] {
        let told = error(&format!("models:\n  - name: a\n    {wrong}\n"));
        assert!(told.starts_with("config.yaml:3: models[0]."), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}
