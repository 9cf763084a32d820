//! Channels of deer-flow's kind for Python: what must outlive every summary, captured, reduced and shown by the agent
//! runtime's own functions. Everything crosses as JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus_agent::Message;
use conspectus_agent::channel::delegation::{self, Delegation};
use conspectus_agent::channel::skill::{self, Reads, Skill};
use conspectus_agent::channel::{render, scope};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::fail::{json, of_json};

/// What `messages` add to the channels: new and changed delegations, reads of skills, and what is odd about reads.
/// `run`: only what belongs to it; `before`: ids of messages that were there before it.
#[pyfunction]
#[pyo3(signature = (messages, delegations, *, run=None, before=Vec::new(), now, root, tools))]
#[expect(
    clippy::too_many_arguments,
    reason = "keywords of one call from Python"
)]
pub(crate) fn channel_capture(
    py: Python<'_>,
    messages: &str,
    delegations: &str,
    run: Option<&str>,
    before: Vec<String>,
    now: &str,
    root: &str,
    tools: Vec<String>,
) -> PyResult<String> {
    let messages: Vec<Value> = of_json(messages, "messages")?;
    let known: Vec<Delegation> = of_json(delegations, "delegations")?;
    let reads = Reads {
        root: root.into(),
        tools: tools.into_iter().map(Arc::from).collect(),
    };
    let before: BTreeSet<String> = before.into_iter().collect();
    json(&py.detach(|| {
        let messages: Vec<Message> = messages.into_iter().map(Message::new).collect();
        let from = scope::begins_at(&messages, run, &before);
        let delegations = delegation::capture(&messages, from, &known, run, now);
        let captured = reads.capture(&messages, from, 0);
        json!({"delegations": delegations, "skills": captured.skills, "warnings": captured.warnings})
    }))
}

/// The reducer of delegations.
#[pyfunction]
pub(crate) fn delegations_reduced(known: &str, news: &str) -> PyResult<String> {
    let known: Vec<Delegation> = of_json(known, "delegations")?;
    let news: Vec<Delegation> = of_json(news, "delegations")?;
    json(&delegation::reduce(&known, &news))
}

/// The reducer of skills. What is no entry is left out.
#[pyfunction]
pub(crate) fn skills_reduced(known: &str, news: &str) -> PyResult<String> {
    let known: Value = of_json(known, "skills")?;
    let news: Value = of_json(news, "skills")?;
    json(&skill::reduce(&skill::read(&known), &skill::read(&news)))
}

/// The data that is shown: the summary, then what the channels say; empty where there is nothing.
#[pyfunction]
pub(crate) fn channel_data(
    summary: Option<&str>,
    delegations: &str,
    skills: &str,
) -> PyResult<String> {
    let delegations: Vec<Delegation> = of_json(delegations, "delegations")?;
    let skills: Value = of_json(skills, "skills")?;
    let (ledger, active): (String, Vec<Skill>) =
        (render::delegations(&delegations), skill::read(&skills));
    Ok(render::data(summary, &[&ledger, &render::skills(&active)]))
}

/// The rules under which that data is read.
#[pyfunction]
pub(crate) fn channel_contract() -> &'static str {
    render::CONTRACT
}

/// What a read of a skill's file is stamped with, if that path is one: `additional_kwargs` as JSON.
#[pyfunction]
pub(crate) fn skill_stamp(root: &str, path: &str, text: &str) -> PyResult<Option<String>> {
    let reads = Reads {
        root: root.into(),
        ..Reads::default()
    };
    let Some(path) = reads.file(path) else {
        return Ok(None);
    };
    let said = skill::front_matter(text).and_then(|said| said.description);
    let stamp = skill::stamp(&path, said.as_deref().unwrap_or_default());
    Ok(Some(json(&json!({skill::STAMP: stamp}))?))
}
