//! A look at a list of LangChain's messages where they lie: whether it is surely below every trigger. Nothing is kept, so
//! nothing can be stale: a message that was changed in place is measured as it is now.
//!
//! The formula and the rules are the core's; here is only where LangChain's objects hold what they ask for.

use conspectus::core::count::{LangChain, Scaling};
use conspectus::core::listed::ListRules;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyTuple, PyType};

use crate::list::{Clause, clauses};

/// How deep values are looked into; Python prints what is deeper.
const DEPTH: usize = 32;

/// LangChain's classes whose fields are known.
struct Classes<'py> {
    human: Bound<'py, PyType>,
    ai: Bound<'py, PyType>,
    tool: Bound<'py, PyType>,
    system: Bound<'py, PyType>,
}

/// Whether `messages` are surely below every trigger, and whether one of them has no id; `None`: only a machine can tell.
/// `classes`: human, ai, tool, system.
#[pyfunction]
pub(crate) fn is_quiet<'py>(
    messages: &Bound<'py, PyList>,
    classes: &Bound<'py, PyTuple>,
    trigger: Vec<Clause>,
    window: Option<f64>,
    anthropic: bool,
) -> PyResult<Option<(bool, bool)>> {
    let class = |at: usize| PyResult::Ok(classes.get_item(at)?.cast_into::<PyType>()?);
    let classes = Classes {
        human: class(0)?,
        ai: class(1)?,
        tool: class(2)?,
        system: class(3)?,
    };
    let formula = match anthropic {
        true => LangChain::ANTHROPIC,
        false => LangChain::DEFAULT,
    };
    let rules = ListRules::of(clauses(trigger), window).for_messages(messages.len());
    let mut scaling = Scaling::default();
    let mut nameless = false;
    if rules.trigger.is_empty() {
        for message in messages.iter() {
            nameless |= message.getattr(intern!(messages.py(), "id"))?.is_none();
        }
        return Ok(Some((true, nameless)));
    }
    for (at, message) in messages.iter().enumerate() {
        let Some(is_nameless) = add(&mut scaling, formula, &classes, at, &message)? else {
            return Ok(None);
        };
        nameless |= is_nameless;
    }
    let total = scaling.total((0, 0), (0, 0)) as f64;
    let reached = |told| rules.is_reached(messages.len(), total, told);
    let is_reached = reached(None)
        || scaling
            .newest()
            .is_some_and(|told| reached(Some(told as f64)));
    Ok(Some((!is_reached, nameless)))
}

/// Adds a message, and says whether it has no id.
fn add(
    scaling: &mut Scaling,
    formula: LangChain,
    classes: &Classes<'_>,
    at: usize,
    message: &Bound<'_, PyAny>,
) -> PyResult<Option<bool>> {
    let py = message.py();
    let class = message.get_type();
    let (is_ai, is_tool) = (class.is(&classes.ai), class.is(&classes.tool));
    let role = match () {
        () if is_ai => "assistant",
        () if is_tool => "tool",
        () if class.is(&classes.human) => "user",
        () if class.is(&classes.system) => "system",
        () => return Ok(None),
    };
    let fields = message.getattr(intern!(py, "__dict__"))?;
    let Ok(fields) = fields.cast::<PyDict>() else {
        return Ok(None);
    };
    if let Some(extra) = fields.get_item(intern!(py, "additional_kwargs"))?
        && !extra.is_empty()?
        && extra.contains(intern!(py, "__openai_role__"))?
    {
        return Ok(None);
    }
    let Some(content) = fields.get_item(intern!(py, "content"))? else {
        return Ok(None);
    };
    let (mut chars, mut images) = (role.len(), 0);
    if let Some(name) = fields.get_item(intern!(py, "name"))?
        && !name.is_none()
    {
        chars += name.len()?;
    }
    let is_text = content.is_instance_of::<PyString>();
    if is_text {
        chars += content.len()?;
    } else if let Ok(blocks) = content.cast::<PyList>() {
        for block in blocks.iter() {
            match measured(&block)? {
                Some(len) => chars += len,
                None => images += 1,
            }
        }
    } else {
        return Ok(None);
    }
    if is_tool && let Some(call) = fields.get_item(intern!(py, "tool_call_id"))? {
        chars += call.len()?;
    }
    if is_ai
        && is_text
        && let Some(calls) = fields.get_item(intern!(py, "tool_calls"))?
        && !calls.is_empty()?
    {
        chars += printed(&calls)?;
    }
    let weight = formula.measured(chars, images);
    if is_ai {
        let total = match fields.get_item(intern!(py, "usage_metadata"))? {
            Some(usage) if !usage.is_none() => member(&usage, intern!(py, "total_tokens"))?,
            _ => None,
        };
        let total = total.and_then(|total| total.extract::<u64>().ok());
        let named = match fields.get_item(intern!(py, "response_metadata"))? {
            Some(meta) if !meta.is_empty()? => member(&meta, intern!(py, "model_provider"))?,
            _ => None,
        };
        let named = named.and_then(|named| named.cast_into::<PyString>().ok());
        let named = named.as_ref().and_then(|named| named.to_str().ok());
        scaling.add_reply(at, weight, named.filter(|named| !named.is_empty()), total);
    } else {
        scaling.add_other(weight);
    }
    let id = fields.get_item(intern!(py, "id"))?;
    Ok(Some(id.is_none_or(|id| id.is_none())))
}

fn member<'py>(
    of: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match of.cast::<PyDict>() {
        Ok(of) => of.get_item(name),
        Err(_) => Ok(None),
    }
}

/// Characters of a block of a list; `None`: an image.
fn measured(block: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let py = block.py();
    let Ok(fields) = block.cast::<PyDict>() else {
        return Ok(Some(match block.is_instance_of::<PyString>() {
            true => block.len()?,
            false => printed(block)?,
        }));
    };
    let kind = fields.get_item(intern!(py, "type"))?;
    let kind = kind.and_then(|kind| kind.extract::<String>().ok());
    match kind.as_deref() {
        Some("image" | "image_url") => Ok(None),
        Some("text") => {
            let text = fields.get_item(intern!(py, "text"))?;
            text.map_or(Ok(0), |text| text.len()).map(Some)
        }
        _ => printed(block).map(Some),
    }
}

/// `len(repr(value))`
fn printed(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    match walked(value, DEPTH)? {
        Some(len) => Ok(len),
        None => value.repr()?.len(),
    }
}

/// The same for what calls are made of; `None` where it is deeper than that.
fn walked(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<usize>> {
    if depth == 0 {
        return Ok(None);
    }
    let between = |members: usize| 2 + 2 * members.saturating_sub(1);
    if let Ok(text) = value.cast_exact::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return Ok(Some(LangChain::printed_len(text)));
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        let mut len = between(list.len());
        for inner in list.iter() {
            let Some(inner) = walked(&inner, depth - 1)? else {
                return Ok(None);
            };
            len += inner;
        }
        return Ok(Some(len));
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let mut len = between(dict.len());
        for (key, inner) in dict.iter() {
            let (Some(key), Some(inner)) = (walked(&key, depth - 1)?, walked(&inner, depth - 1)?)
            else {
                return Ok(None);
            };
            len += key + 2 + inner;
        }
        return Ok(Some(len));
    }
    if value.is_none() {
        return Ok(Some("None".len()));
    }
    if let Ok(number) = value.cast_exact::<PyInt>()
        && let Ok(number) = number.extract::<u32>()
    {
        let digits = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        return Ok(Some(digits));
    }
    if let Ok(is_true) = value.cast_exact::<PyBool>() {
        return Ok(Some(match is_true.is_true() {
            true => "True".len(),
            false => "False".len(),
        }));
    }
    value.repr()?.len().map(Some)
}
