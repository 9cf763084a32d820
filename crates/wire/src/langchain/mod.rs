//! LangChain's messages as JSON, in its three forms: flat dictionaries as in thread states, the constructors of
//! `dumpd` (`lc`, `kwargs`), and the pairs of `messages_to_dict` (`type`, `data`).

mod read;
mod write;

use crate::json::{Array, Object, string};

pub(crate) use read::LangChain;

/// The form of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// The fields stand in the message itself.
    #[default]
    Flat,
    /// They stand in `kwargs`.
    Constructor,
    /// They stand in `data`.
    Data,
}

/// A message taken apart.
pub(crate) struct Fields<'a> {
    /// How it is written.
    pub(crate) form: Form,
    /// The name of its type: `human`, `HumanMessage`, ….
    pub(crate) kind: String,
    /// The source of the object that holds the fields.
    pub(crate) json: &'a str,
}

/// Takes a message apart; `None` when it names no type.
pub(crate) fn fields<'a>(message: &Object<'a>, json: &'a str) -> Option<Fields<'a>> {
    let outer = message.string("type");
    if let Some(kwargs) = message
        .value("kwargs")
        .filter(|_| message.get("lc").is_some())
    {
        let class = || {
            let path = message.array("id").unwrap_or(Array(Vec::new())).0;
            path.last().map(|name| string::decode(name).into_owned())
        };
        let named = Object::of(kwargs)?.string("type").map(String::from);
        return Some(Fields {
            form: Form::Constructor,
            kind: named.or_else(class)?,
            json: kwargs,
        });
    }
    let data = message
        .value("data")
        .filter(|data| Object::of(data).is_some());
    Some(Fields {
        form: if data.is_some() {
            Form::Data
        } else {
            Form::Flat
        },
        kind: outer?.into_owned(),
        json: data.unwrap_or(json),
    })
}
