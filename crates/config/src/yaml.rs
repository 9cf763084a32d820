//! A YAML document as a tree whose every value knows its line.
//!
//! Nothing is interpreted here: a scalar is its text and whether it was quoted. Untrusted input is safe:
//! depth and size are bounded, aliases and merge keys included.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

/// Values inside each other. Configuration nests five or six.
const MAX_DEPTH: usize = 64;

/// Values in all, after aliases: a small file can ask for billions.
const MAX_NODES: usize = 100_000;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// From 1.
    pub(crate) line: usize,
    /// The value.
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A text; unquoted it may mean a number or a boolean.
    Scalar { text: String, quoted: bool },
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file, keys possibly twice.
    Map(Vec<Entry>),
}

/// A key of a map and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) node: Node,
}

/// Why a text is no document that we read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) reason: String,
}

impl Fault {
    fn at(span: Span, reason: &str) -> Self {
        Fault {
            line: span.start.line(),
            column: span.start.col() + 1,
            reason: reason.to_owned(),
        }
    }
}

impl From<ScanError> for Fault {
    fn from(error: ScanError) -> Self {
        Fault {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            reason: error.info().to_owned(),
        }
    }
}

/// Reads one document. An empty text is null.
pub(crate) fn parse(text: &str) -> Result<Node, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        builder.event(event, span)?;
    }
    Ok(builder.root.unwrap_or(Node {
        line: 1,
        value: Value::Null,
    }))
}

/// A list or map that is not closed yet.
struct Open {
    node: Node,
    anchor: usize,
    /// In a map: the key whose value comes next.
    key: Option<(String, usize)>,
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let line = span.start.line();
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::Scalar(text, style, anchor, _) => {
                let quoted = style != ScalarStyle::Plain;
                let value = if !quoted && is_null(&text) {
                    Value::Null
                } else {
                    Value::Scalar {
                        text: text.into_owned(),
                        quoted,
                    }
                };
                self.close(Node { line, value }, anchor, 1, span)
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor) else {
                    return Err(Fault::at(span, "an alias to a value that is not complete"));
                };
                if self.nodes.saturating_add(*size) > MAX_NODES {
                    return Err(Fault::at(span, "too many values"));
                }
                let (node, size) = (node.clone(), *size);
                self.close(node, 0, size, span)
            }
            Event::SequenceStart(anchor, _) => {
                self.start(line, Value::List(Vec::new()), anchor, span)
            }
            Event::MappingStart(anchor, _) => {
                self.start(line, Value::Map(Vec::new()), anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.close(merged(open.node), open.anchor, 1, span),
                None => Ok(()),
            },
        }
    }

    fn start(&mut self, line: usize, value: Value, anchor: usize, span: Span) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Fault::at(span, "values are nested too deeply"));
        }
        self.open.push(Open {
            node: Node { line, value },
            anchor,
            key: None,
        });
        Ok(())
    }

    /// A value is complete: it becomes the root, an item, a key or the value of the key before it.
    /// `added` are the values that have not been counted yet.
    fn close(&mut self, node: Node, anchor: usize, added: usize, span: Span) -> Result<(), Fault> {
        self.nodes = self.nodes.saturating_add(added);
        if anchor != 0 {
            let size = size(&node);
            self.nodes = self.nodes.saturating_add(size);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        if self.nodes > MAX_NODES {
            return Err(Fault::at(span, "too many values"));
        }
        let Some(parent) = self.open.last_mut() else {
            if self.root.is_some() {
                return Err(Fault::at(span, "a second document, expected one"));
            }
            self.root = Some(node);
            return Ok(());
        };
        match (&mut parent.node.value, parent.key.take()) {
            (Value::Map(entries), Some((key, line))) => {
                // An empty value is marked where the parser noticed: show the line of its key.
                let line_of_value = if node.value == Value::Null {
                    line
                } else {
                    node.line
                };
                let node = Node {
                    line: line_of_value,
                    ..node
                };
                entries.push(Entry { key, line, node });
            }
            (Value::Map(_), None) => {
                let key = match node.value {
                    Value::Scalar { text, .. } => text,
                    Value::Null => "null".to_owned(),
                    Value::List(_) | Value::Map(_) => "?".to_owned(),
                };
                parent.key = Some((key, node.line));
            }
            (Value::List(items), _) => items.push(node),
            (Value::Null | Value::Scalar { .. }, _) => {}
        }
        Ok(())
    }
}

/// A map with what its `<<` keys bring in, where the map does not say otherwise.
fn merged(node: Node) -> Node {
    let Value::Map(entries) = node.value else {
        return node;
    };
    let (merges, mut own): (Vec<_>, Vec<_>) = entries.into_iter().partition(|e| e.key == "<<");
    let sources = merges.into_iter().flat_map(|e| match e.node.value {
        Value::List(items) => items,
        value => vec![Node {
            line: e.node.line,
            value,
        }],
    });
    let mut known: BTreeSet<String> = own.iter().map(|e| e.key.clone()).collect();
    for source in sources {
        if let Value::Map(entries) = source.value {
            own.extend(entries.into_iter().filter(|e| known.insert(e.key.clone())));
        }
    }
    Node {
        line: node.line,
        value: Value::Map(own),
    }
}

fn size(node: &Node) -> usize {
    1 + match &node.value {
        Value::Null | Value::Scalar { .. } => 0,
        Value::List(items) => items.iter().map(size).sum(),
        Value::Map(entries) => entries.iter().map(|e| size(&e.node)).sum(),
    }
}

/// The spellings of nothing.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
