//! Windows and prices of the model that a session, a flag or the configuration names.

use serde_json::Value;

use crate::support::Place;

/// A request of twelve rounds, to this model.
fn request(model: &str) -> String {
    let round = |n: usize| {
        let words = format!("step {n} of the work is described here. ").repeat(40);
        format!(
            r#"{{"role":"user","content":"{words}"}},{{"role":"assistant","content":"Step {n} is done. {words}"}}"#
        )
    };
    let rounds: Vec<String> = (0..12).map(round).collect();
    format!(
        r#"{{"model":"{model}","messages":[{},{{"role":"user","content":"And now?"}}]}}"#,
        rounds.join(",")
    )
}

fn inspected(place: &Place, args: &[&str]) -> Value {
    let ran = place.run(&[&["inspect", "chat.json", "--json"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    document["results"][0]["conversations"][0].clone()
}

#[test]
fn the_window_is_that_of_the_model_that_is_named() {
    let place = Place::new();
    place.write("chat.json", request("gpt-5").as_bytes());
    let sizes = |args: &[&str]| {
        let found = inspected(&place, args);
        let number = |field: &str| found[field].as_u64().expect("a number");
        let source = found["window_source"].as_str().expect("a word").to_owned();
        (number("window"), number("output_reserve"), source)
    };
    let given = |window, reserve| (window, reserve, "given".to_owned());
    // 272,000 may be sent.
    assert_eq!(sizes(&[]), given(400_000, 128_000));
    assert_eq!(sizes(&["--model", "gpt-4o-mini"]), given(128_000, 16_384));
    assert_eq!(sizes(&["--max-context", "50000"]), given(50_000, 12_500));
    let assumed = (128_000, 8_192, "assumed".to_owned());
    assert_eq!(sizes(&["--model", "our-own"]), assumed);
    // What the configuration says of a model wins; what it leaves open comes from the catalog.
    let file =
        "models:\n  - {name: first, window: 9000}\n  - {name: main, model: gpt-5, window: 30000}\n";
    place.write("config.yaml", file.as_bytes());
    let config = ["-c", "config.yaml"];
    assert_eq!(sizes(&config), given(30_000, 7_500));
    assert_eq!(
        sizes(&["-c", "config.yaml", "--model", "first"]),
        given(9_000, 2_250)
    );
    place.write("chat.json", request("gpt-4o").as_bytes());
    assert_eq!(sizes_of_first(&place), 9_000, "not in the list: its first");
}

fn sizes_of_first(place: &Place) -> u64 {
    let found = inspected(place, &["-c", "config.yaml"]);
    found["window"].as_u64().expect("a number")
}

#[test]
fn a_fraction_needs_a_window_that_somebody_knows() {
    let place = Place::new();
    let args = [
        "plan",
        "chat.json",
        "--trigger",
        "fraction=0.8",
        "--keep",
        "messages=2",
    ];
    place.write("chat.json", request("gpt-4o").as_bytes());
    place.run(&args).done().says("no trigger is reached");
    for unknown in ["our-own", ""] {
        place.write("chat.json", request(unknown).as_bytes());
        let ran = place.run(&args);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(
            ran.err.contains("the model's window is not known"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn an_unknown_window_is_not_taken_in_silence() {
    let place = Place::new();
    place.write("chat.json", request("our-own").as_bytes());
    let args = ["plan", "chat.json", "--trigger", "auto"];
    let ran = place.run(&args);
    assert!(
        ran.err
            .contains("window of model our-own is not known: 128000"),
        "{}",
        ran.err
    );
    place.write("chat.json", request("gpt-4o").as_bytes());
    place.run(&args).done();
}

#[test]
fn prices_of_the_configuration_win_and_a_cap_without_prices_is_told() {
    let place = Place::new();
    place.write("chat.json", request("gpt-4o").as_bytes());
    let cost = |config: &str| {
        place.write("config.yaml", config.as_bytes());
        let ran = place.run(&["plan", "chat.json", "-c", "config.yaml", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let document: Value = serde_json::from_str(&ran.out).expect("JSON");
        let cost = document["results"][0]["conversations"][0]["cost"].clone();
        (cost["prices"]["rates"].clone(), ran.err)
    };
    let section = "summarization: {preset: default}\n";
    let (known, _) = cost(section);
    assert_eq!(known["cache_read"], 1_250_000, "half of 2.50 dollars");
    // Input and output alone: the cache is its maker's usual.
    let own = format!("models:\n  - {{name: gpt-4o, prices: {{input: 4, output: 8}}}}\n{section}");
    let (said, _) = cost(&own);
    assert_eq!(
        (&said["input"], &said["output"]),
        (&4_000_000.into(), &8_000_000.into())
    );
    assert_eq!(said["cache_read"], 2_000_000);
    let capped =
        "models:\n  - {name: gpt-4o}\nsummarization: {preset: default, max_spend: {thread: 1}}\n";
    assert_eq!(cost(capped).1, "");
    let unknown =
        "models:\n  - {name: our-own}\nsummarization: {preset: default, max_spend: {thread: 1}}\n";
    let (prices, told) = cost(unknown);
    assert!(prices.is_null());
    assert!(
        told.contains("max_spend: the prices of model our-own are not known"),
        "{told}"
    );
}
