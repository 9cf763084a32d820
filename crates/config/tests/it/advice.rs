//! Advice: what applies is said, word by word, and nothing else.

use conspectus_config::{Config, Symptom};
use conspectus_core::policy::{ModelProfile, Preset};

use super::model;

fn advice_for(section: &str, profile: &ModelProfile) -> Vec<(Option<Symptom>, String)> {
    let config = Config::load("c.yaml", section).expect("loads");
    let resolved = config.resolve(profile).expect("resolves");
    let line = |a: &conspectus_config::Advice| (a.tip.symptom(), a.to_string());
    resolved.advice.iter().map(line).collect()
}

/// The advice for options on one line, for a model of 100,000 tokens.
#[track_caller]
fn check(options: &str, expect: &[(Option<Symptom>, &str)]) {
    let text = format!("summarization: {{enabled: true, {options}}}\n");
    let told = advice_for(&text, &model());
    let expect: Vec<(Option<Symptom>, String)> = expect
        .iter()
        .map(|(symptom, text)| (*symptom, format!("c.yaml:1: summarization.{text}")))
        .collect();
    assert_eq!(told, expect, "{options}");
}

const FINE: &str = "trigger: {tokens: 70000}, keep: {messages: 20}";

#[test]
fn what_is_usual_needs_no_advice() {
    check(FINE, &[]);
    check("trigger: {fraction: 0.6}, keep: {fraction: 0.3}", &[]);
    check("trigger: {fraction: 0.8}, keep: {messages: 15}", &[]);
    check(
        "trigger: [{tokens: 80000}, {messages: 50}], keep: {messages: 25}",
        &[],
    );
    check("preset: nous, keep_recent: 10", &[]);
    check("preset: default", &[]);
    // Off is off, and an assumed window is no window.
    assert_eq!(
        advice_for("summarization: {keep: {messages: 900}}\n", &model()),
        []
    );
    let unknown = ModelProfile::default();
    let seed = "summarization: {enabled: true, trigger: {tokens: 4000}, keep: {messages: 20}}\n";
    assert_eq!(advice_for(seed, &unknown), []);
}

#[test]
fn ranges_of_the_tips() {
    check(
        "trigger: {tokens: 4000}",
        &[(
            None,
            "trigger.tokens: fires at 4% of the window of 100000 tokens; 60000 to 80000 tokens (60–80%) are usual, \
             and each compaction costs the prefix cache",
        )],
    );
    check(
        "trigger: [{fraction: 0.7}, {messages: 10}]",
        &[(
            None,
            "trigger[1].messages: fires at 10 messages; 50–100 are usual, depending on how long they are",
        )],
    );
    check(
        "trigger: {tokens: 70000}, keep: {messages: 26}",
        &[(None, "keep.messages: keeps 26 messages; 15–25 are usual")],
    );
    check(
        "trigger: {tokens: 70000}, keep: {tokens: 4001}",
        &[(
            None,
            "keep.tokens: keeps 4001 tokens; 2,000–4,000 are usual",
        )],
    );
    check(
        "trigger: {tokens: 70000}, keep: {fraction: 0.1}",
        &[(
            None,
            "keep.fraction: keeps 0.1 of the window; 0.2–0.4 is usual",
        )],
    );
}

#[test]
fn summaries_lose_context() {
    let loses = Some(Symptom::LosesContext);
    check(
        &format!("{FINE}, max_summary_tokens: 100"),
        &[(
            loses,
            "max_summary_tokens: summaries may lose context: 100 tokens hold a few sentences; raise it, keep more \
             messages, fire earlier, or say in summary_prompt what matters most",
        )],
    );
    check(
        &format!("{FINE}, strict_parity: true, trim_tokens_to_summarize: 4000"),
        &[(
            loses,
            "trim_tokens_to_summarize: summaries may lose context: the summariser is given at most 4000 tokens of \
             the 70000 or so that are folded, and strict_parity does not make further calls; raise it, leave \
             strict_parity out, or fire earlier",
        )],
    );
    let late = advice_for(
        "summarization: {enabled: true, trigger: {tokens: 83000}, keep: {tokens: 1000}}\n",
        &model(),
    );
    let symptoms: Vec<_> = late.iter().map(|(symptom, _)| *symptom).collect();
    assert_eq!(
        symptoms,
        [Some(Symptom::StillTooLong), None, loses],
        "{late:?}"
    );
}

#[test]
fn summaries_take_long_or_come_often() {
    let slow = Some(Symptom::Slow);
    check(
        &format!("{FINE}, trim_tokens_to_summarize: null"),
        &[(
            slow,
            "trim_tokens_to_summarize: summaries may take long: one call is given as much as its window takes; set \
             it to 4000 or so, the rest goes to further calls at the same time, or take a faster model for summaries",
        )],
    );
    check(
        "trigger: {messages: 50}, keep: {messages: 25}",
        &[(
            Some(Symptom::StillTooLong),
            "trigger: the limit may still be reached: a few large messages fill the window before there are 50; add \
             {fraction: 0.8} or {tokens: …} as another trigger",
        )],
    );
    let often = advice_for(
        "summarization: {enabled: true, trigger: {fraction: 0.7}, keep: {fraction: 0.4}}\n",
        &model(),
    );
    assert_eq!(
        often,
        [(
            slow,
            "c.yaml:1: summarization.keep: summaries may come often: 40000 of 70000 tokens stay each time, so the \
             trigger is soon reached again; keep at most half, or raise the trigger"
                .to_owned()
        )]
    );
}

#[test]
fn limits_are_reached_all_the_same() {
    let still = Some(Symptom::StillTooLong);
    check(
        "trigger: {tokens: 83000}, keep: {messages: 20}",
        &[(
            still,
            "trigger.tokens: the limit may still be reached: it fires at 83% of the window of 100000 tokens, which \
             leaves little room for the reply and the next results; lower it to 60000–80000 tokens (60–80%)",
        )],
    );
    let small = advice_for(
        "summarization: {enabled: true, trigger: {tokens: 2000}, keep: {messages: 20}}\n",
        &ModelProfile::default(),
    );
    assert_eq!(small[0].0, still, "{small:?}");
    assert!(
        small[0].1.contains("leaves 100 tokens for each"),
        "{small:?}"
    );
}

#[test]
fn who_is_sent_the_conversation() {
    let elsewhere = "model_name: other is sent what is folded, tool results included; leave it out and summaries are \
                     written by the model that the conversation runs on";
    check(&format!("{FINE}, model_name: other"), &[(None, elsewhere)]);
    check(&format!("{FINE}, model_name: run-model"), &[]);
    check(&format!("{FINE}, model_name: other, strategy: digest"), &[]);
    // Two models at one address are one place.
    let file = |url: &str| {
        format!(
            "models:\n  - {{name: a, provider: openai, window: 100000}}\n  - {{name: b, provider: openai{url}}}\n\
             summarization: {{enabled: true, {FINE}, model_name: b}}\n"
        )
    };
    let told = |url: &str| {
        let text = file(url);
        let config = Config::load("c.yaml", &text).expect("loads");
        let run = config.run_model(None).expect("the first");
        advice_for(&text, &run)
    };
    assert_eq!(told(""), []);
    // Where it goes is said.
    let elsewhere = told(", base_url: https://other.example");
    assert_eq!(elsewhere.len(), 1);
    let text = &elsewhere[0].1;
    assert!(
        text.contains("b at https://other.example is sent what is folded"),
        "{text}"
    );
}

#[test]
fn the_examples_of_the_presets_load_without_warnings() {
    for preset in Preset::ALL {
        let text = conspectus_config::example(preset);
        let config = Config::load("example.yaml", text).expect("loads");
        assert_eq!(config.options().preset, preset);
        let name = match preset {
            Preset::Deerflow => "production",
            preset => preset.name(),
        };
        let path = format!(
            "{}/../../examples/config/{name}.yaml",
            env!("CARGO_MANIFEST_DIR")
        );
        assert_eq!(
            std::fs::read_to_string(path).expect("there"),
            text,
            "{name}"
        );
    }
}
