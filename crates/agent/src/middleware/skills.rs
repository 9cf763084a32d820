//! Skills: the model is told which there are, and a request that begins with `/name` loads one.

use std::fs;

use serde_json::json;

use super::{Hooked, Middleware};
use crate::channel::skill::{STAMP, stamp};
use crate::context::RunContext;
use crate::message::Message;
use crate::skills::Listed;
use crate::state::{State, Update};
use crate::text::{bounded, escaped};
use crate::tool::Tool as _;
use crate::tools::ReadFile;

/// Characters of a skill's file that a request loads.
const MAX_BODY: usize = 50_000;

/// Lists the skills in the system prompt, and loads the one that a request names.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkillActivation;

impl Middleware for SkillActivation {
    fn name(&self) -> &'static str {
        "skill_activation"
    }

    fn system(&self, cx: &RunContext) -> Option<String> {
        let skills = cx.skills().list();
        if skills.is_empty() || cx.tools().get(&ReadFile.spec().name).is_none() {
            return None;
        }
        let line = |skill: &Listed| {
            let (name, description) = (escaped(&skill.name), escaped(&skill.description));
            format!("- {name}: {description} -> {}\n", escaped(&skill.path))
        };
        let lines: String = skills.iter().map(line).collect();
        Some(format!(
            "## Skills\nInstructions for kinds of work. When one fits, read its file with read_file first, then follow it.\n{lines}"
        ))
    }

    fn before_agent<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        Box::pin(async move {
            let asked = state
                .input
                .iter()
                .rev()
                .find(|message| message.is_real_user());
            let skill = asked.and_then(|message| named(cx, message));
            let Some(skill) = skill else {
                return Ok(Update::none());
            };
            let body = cx.skills().resolve(&skill.path).and_then(Result::ok);
            let body = body.and_then(|path| fs::read_to_string(path).ok());
            let Some(body) = body else {
                return Ok(Update {
                    warnings: vec![format!("skill {} cannot be read", skill.name)],
                    ..Update::none()
                });
            };
            let tool = ReadFile.spec().name;
            let call = format!("{}-skill", cx.run_id);
            // As if the model had read it: every provider takes that, and it is captured like any other read.
            Ok(Update {
                messages: vec![
                    json!({
                        "type": "ai", "id": format!("{call}-call"), "content": "",
                        "tool_calls": [{"name": tool, "args": {"path": skill.path}, "id": call, "type": "tool_call"}],
                    }),
                    json!({
                        "type": "tool", "id": format!("{call}-result"), "name": tool,
                        "tool_call_id": call, "status": "success",
                        "content": bounded(&body, MAX_BODY),
                        "additional_kwargs": {STAMP: stamp(&skill.path, &skill.description)},
                    }),
                ],
                ..Update::none()
            })
        })
    }
}

/// The skill that a request begins with.
fn named(cx: &RunContext, message: &Message) -> Option<Listed> {
    let text = message.text();
    let name = text.trim_start().strip_prefix('/')?;
    let name = name.split_whitespace().next()?;
    cx.skills().named(name)
}
