//! A program that was built without models says so when one is asked for.

use crate::support::Place;

const BUILD: &str = "this program was built without models; build it with: cargo install --path crates/cli --features models";

#[test]
fn flags_that_ask_for_a_model_are_refused() {
    let place = Place::with(&["openai.json"]);
    let run = |args: &[&str]| place.run(&[&["compact", "openai.json"], args].concat());
    run(&["--model", "gpt-5-mini"]).failed(
        2,
        &format!("error: --model: {BUILD}; or add --strategy digest, which asks no model\n"),
    );
    run(&["--summary-model", "m"]).failed(2, &format!("error: --summary-model: {BUILD}\n"));
    run(&["--fallback", "m"]).failed(2, &format!("error: --fallback: {BUILD}\n"));
    run(&["--strategy", "transcript"]).failed(2, &format!("error: --strategy: {BUILD}\n"));
    assert_eq!(place.files(), ["openai.json"]);
    run(&["--model", "gpt-5-mini", "--strategy", "digest"])
        .done()
        .says("extracted without a model");
}

#[test]
fn a_configuration_that_names_models_is_warned_of() {
    let place = Place::with(&["openai.json"]);
    place.write("config.yaml", b"models:\n  - {name: main}\n");
    let ran = place.run(&["compact", "openai.json", "-c", "config.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let warning =
        format!("the configuration names models, but {BUILD}; summaries are extracts until then");
    assert_eq!(ran.err, format!("warning: {warning}\n"));
    ran.says("extracted without a model");
}
