//! A configuration in numbers, a line an option.

use conspectus::core::policy::{
    Breaker, Counted, CounterChoice, Keep, OnFailure, Placement, PruneWhen, Reached, Strategy,
    Threshold, WindowSource,
};
use conspectus::{ModelProfile, Policy};
use conspectus_config::{Config, Model, Place};

use super::cost::dollars;
use super::{Style, Table, count, number};
use crate::check::unset;

/// What the file comes to for this model.
pub(crate) fn numbers(
    file: &str,
    config: &Config,
    model: &ModelProfile,
    policy: &Policy,
    style: Style,
) -> String {
    let off = match policy.enabled {
        true => "",
        false => ", off: nothing is compacted (set enabled: true)",
    };
    let name = policy.preset.name();
    let strict = match policy.strict_parity {
        true => ", strict_parity",
        false => "",
    };
    let mut table = Table::new("ll");
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("window", window(policy, model));
    row("output reserve", number(policy.output_reserve));
    row("input limit", number(policy.input_limit()));
    row("trigger", triggers(policy));
    if let Some(soft) = policy.soft_tokens {
        row("in background", format!("from {} tokens", number(soft)));
    }
    if let Some(target) = policy.target_tokens() {
        let gain = policy.minimum_gain_permille;
        let least = format!("{}.{}%", gain / 10, gain % 10);
        row(
            "target",
            format!("{} tokens, least gain {least}", number(target)),
        );
    }
    row("counted", counted(policy));
    row("keep", keep(policy.keep));
    row("prune", prune(policy));
    row("summary", summary(policy, model));
    row("calls", calls(policy));
    row("placement", placement(policy.placement).to_owned());
    row("breaker", breaker(policy.breaker));
    row("cost", cost(policy));
    let tools: Vec<&str> = policy.skill_read_tools.iter().map(|t| &**t).collect();
    row(
        "skill files",
        match tools.is_empty() {
            true => "not remembered".to_owned(),
            false => format!("read by {}", tools.join(", ")),
        },
    );
    let head = style.bold(file);
    let mut text = format!("{head}  preset {name}{strict}{off}\n{}", table.text());
    text += &said(config);
    if !config.models().is_empty() {
        text += "models\n";
        text += &models(config.models(), model);
    }
    text
}

fn cost(policy: &Policy) -> String {
    let cost = &policy.cost;
    let mut words = match &cost.prices {
        Some(prices) => format!(
            "prices known, {} a million tokens; even within {}",
            dollars(i64::try_from(prices.rates.input).unwrap_or(i64::MAX)),
            count(cost.expected_calls, "call")
        ),
        None => "prices not known".to_owned(),
    };
    let caps = [
        (cost.max_thread_micros, "thread"),
        (cost.max_day_micros, "thread and day"),
    ];
    for (cap, of) in caps {
        if let Some(cap) = cap {
            let most = dollars(i64::try_from(cap).unwrap_or(i64::MAX));
            words += &format!("; at most {most} a {of}");
        }
    }
    words
}

/// Which options were said, and where.
fn said(config: &Config) -> String {
    let mut table = Table::new("ll");
    for (option, place) in config.said() {
        table.row([option.to_owned(), said_by(place)]);
    }
    match table.text() {
        rows if rows.is_empty() => rows,
        rows => format!("said\n{rows}"),
    }
}

/// `config.yaml:7`, the environment variable or the flag.
pub(crate) fn said_by(place: &Place) -> String {
    match (&place.file, place.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_string(),
        (None, _) => place.option.clone(),
    }
}

fn window(policy: &Policy, model: &ModelProfile) -> String {
    let from = match (policy.window_source, &model.name) {
        (WindowSource::Assumed, _) => "assumed, nobody says".to_owned(),
        (WindowSource::Learnt, _) => "learnt from an error".to_owned(),
        (WindowSource::Given, Some(name)) if model.window == Some(policy.window) => {
            format!("of model {name}")
        }
        (WindowSource::Given, _) => "as said".to_owned(),
    };
    format!("{} tokens, {from}", number(policy.window))
}

fn triggers(policy: &Policy) -> String {
    if policy.triggers.is_empty() {
        return "never by itself, only by hand".to_owned();
    }
    let reached = match policy.reached {
        Reached::AtLeast => "at",
        Reached::Above => "above",
    };
    let of_window = |tokens: u64| {
        if policy.window_source == WindowSource::Assumed {
            return count(tokens, "token");
        }
        let percent = u128::from(tokens) * 100 / u128::from(policy.window.max(1));
        format!("{} ({percent}% of the window)", count(tokens, "token"))
    };
    let clause = |threshold: &Threshold| {
        let tokens = threshold.tokens.map(of_window);
        let messages = threshold.messages.map(|n| count(n, "message"));
        let sizes: Vec<String> = tokens.into_iter().chain(messages).collect();
        sizes.join(" and ")
    };
    let clauses: Vec<String> = policy.triggers.iter().map(clause).collect();
    format!("{reached} {}", clauses.join(", or "))
}

fn counted(policy: &Policy) -> String {
    let what = match policy.counted {
        Counted::Request => "all that would be sent",
        Counted::MessagesAndSummary => "messages and the summary",
        Counted::Messages => "messages",
    };
    let how = match policy.counter {
        CounterChoice::Estimator => "our estimator".to_owned(),
        CounterChoice::LangChain { tenths } => {
            format!(
                "LangChain's formula, {}.{} characters a token",
                tenths / 10,
                tenths % 10
            )
        }
        CounterChoice::Bytes4 => "bytes / 4".to_owned(),
    };
    format!("{what}, by {how}")
}

fn keep(keep: Keep) -> String {
    match keep {
        Keep::Auto => "the smaller of a quarter of the conversation and a tenth of the window",
        Keep::Messages(n) => return count(n, "message"),
        Keep::Tokens(n) => return count(n, "token"),
    }
    .to_owned()
}

fn prune(policy: &Policy) -> String {
    let Some(prune) = policy.prune else {
        return "off".to_owned();
    };
    let mut parts = vec![format!(
        "results over {} characters",
        number(prune.max_result_chars)
    )];
    if prune.max_argument_chars > 0 {
        parts.push(format!(
            "arguments over {}",
            number(prune.max_argument_chars)
        ));
    }
    if prune.duplicates {
        parts.push("duplicates".to_owned());
    }
    if prune.keep_recent_results > 0 {
        parts.push(format!(
            "the newest {} left alone",
            prune.keep_recent_results
        ));
    }
    let when = match prune.when {
        PruneWhen::Trigger => "once a trigger is reached",
        PruneWhen::Always => "always",
    };
    format!("{}; {when}", parts.join(", "))
}

fn summary(policy: &Policy, run: &ModelProfile) -> String {
    let summary = &policy.summary;
    let how = match summary.strategy {
        Strategy::Auto => "replay or transcript, whichever is cheaper",
        Strategy::Replay => "replay",
        Strategy::Transcript => "transcript",
        Strategy::Digest => {
            return format!("digest, at most {}", count(summary.max_tokens, "token"));
        }
    };
    let who = match (&summary.model, &run.name) {
        (Some(model), Some(run)) if model != run => format!("by {model}, else by {run}"),
        (Some(model), _) => format!("by {model}"),
        (None, _) => "by the model that the conversation runs on".to_owned(),
    };
    let prompt = match summary.prompt {
        Some(_) => ", with a prompt of your own",
        None => "",
    };
    format!(
        "{how} {who}{prompt}, at most {}",
        count(summary.max_tokens, "token")
    )
}

fn calls(policy: &Policy) -> String {
    let summary = &policy.summary;
    let trim = match policy.call_cap() {
        Some(tokens) => format!("{} each", count(tokens, "token")),
        None => "as much as the window takes".to_owned(),
    };
    let tries = match u64::from(summary.max_retries) {
        1 => "1 retry".to_owned(),
        n => format!("{} retries", number(n)),
    };
    let then = match summary.on_failure {
        OnFailure::Digest => "the digest",
        OnFailure::Unchanged => "nothing changes",
        OnFailure::Error => "an error",
    };
    format!(
        "{trim}, {} at a time, {tries}, {} ms each, {} ms in all; if all fail: {then}",
        summary.max_parallel,
        number(summary.call_timeout_ms),
        number(summary.deadline_ms)
    )
}

fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::Frozen => "frozen: a data message of user rank",
        Placement::Front => "front: rules as a system message, then a data message",
        Placement::Message => "message: a user message of the list",
        Placement::System => "system: a system message in place of what it replaces",
        Placement::SystemEnd => "system_end: at the end of the system prompt",
    }
}

fn breaker(breaker: Breaker) -> String {
    let failures = count(u64::from(breaker.failures), "failure");
    format!(
        "after {failures} in a row nothing is tried for {} ms",
        number(breaker.cooldown_ms)
    )
}

fn models(models: &[Model], run: &ModelProfile) -> String {
    let mut table = Table::new("llrl");
    for model in models {
        let mut about = Vec::new();
        about.extend(model.base_url.as_ref().map(ToString::to_string));
        about.extend(model.api_key.as_ref().map(|key| format!("key {key}")));
        about.extend(unset(model).map(|name| format!("{name} is not set")));
        about.extend(model.profile().prices.map(|prices| {
            let of = |micros: u64| dollars(i64::try_from(micros).unwrap_or(i64::MAX));
            let rates = prices.rates;
            format!("{} in, {} out", of(rates.input), of(rates.output))
        }));
        if run.name.as_ref() == Some(&model.name) {
            about.push("conversations run on it".to_owned());
        }
        let provider = model.provider.as_deref().unwrap_or("?");
        table.row([
            model.name.to_string(),
            format!("{provider}/{}", model.model),
            model
                .profile()
                .window
                .map_or_else(|| "window ?".to_owned(), number),
            about.join(", "),
        ]);
    }
    table.text()
}
