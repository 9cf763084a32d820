//! Public enums as they stand in a source file that rustfmt wrote: their comments, messages and fields.

pub(super) struct Enum {
    pub(super) name: String,
    /// It derives `thiserror::Error`.
    pub(super) is_error: bool,
    pub(super) doc: String,
    pub(super) variants: Vec<Variant>,
}

#[derive(Default)]
pub(super) struct Variant {
    pub(super) name: String,
    /// As it is spelled in JSON, where that is known from the attributes.
    pub(super) shown: Option<String>,
    pub(super) doc: String,
    pub(super) message: Option<String>,
    pub(super) fields: Vec<String>,
}

/// The public enums of a source file, as rustfmt writes them.
pub(super) fn enums(source: &str) -> Vec<Enum> {
    let mut found = Vec::new();
    let mut doc = Vec::new();
    let mut attributes = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.trim());
        } else if line.starts_with('#') || line.starts_with(' ') || line == ")]" {
            attributes.push_str(line);
        } else if let Some(rest) = line.strip_prefix("pub enum ") {
            let name = rest.split([' ', '<']).next().expect("a name");
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            found.push(Enum {
                name: name.to_owned(),
                is_error: attributes.contains("thiserror::Error"),
                doc: plain(&doc),
                variants: variants(&body, attributes.contains("snake_case")),
            });
            doc.clear();
            attributes.clear();
        } else {
            doc.clear();
            attributes.clear();
        }
    }
    found
}

fn variants(body: &[&str], snake: bool) -> Vec<Variant> {
    let mut found: Vec<Variant> = Vec::new();
    let mut doc = Vec::new();
    let mut attribute = String::new();
    for line in body {
        let Some(inner) = line.strip_prefix("    ") else {
            continue;
        };
        if let Some(text) = inner.strip_prefix("///") {
            doc.push(text.trim());
        } else if let Some(field) = inner.strip_prefix("    ") {
            let is_field = |name: &str| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            };
            match field.split_once(':') {
                Some((name, _)) if is_field(name) && attribute.is_empty() => {
                    let last = found.last_mut().expect("a variant that is open");
                    last.fields.push(format!("`{name}`"));
                }
                // A message that goes on.
                _ if !attribute.is_empty() => attribute.push_str(field.trim_end()),
                _ => {}
            }
        } else if inner.starts_with('#') || inner.starts_with(')') {
            attribute.push_str(inner);
        } else if inner.starts_with(|first: char| first.is_ascii_uppercase()) {
            let name = inner.split([' ', '(', ',', '{']).next().expect("a name");
            let renamed = attribute
                .split_once("rename = \"")
                .and_then(|(_, rest)| rest.split('"').next());
            found.push(Variant {
                name: name.to_owned(),
                shown: renamed
                    .map(str::to_owned)
                    .or(snake.then(|| snake_case(name))),
                doc: plain(&doc),
                message: message(&attribute),
                fields: Vec::new(),
            });
            doc.clear();
            attribute.clear();
        }
    }
    found
}

/// What `#[error("…")]` says, with `{…}` where something is put in.
fn message(attribute: &str) -> Option<String> {
    let (_, rest) = attribute.split_once("#[error(")?;
    let Some((_, rest)) = rest.split_once('"') else {
        return Some("as its cause says".to_owned());
    };
    let mut out = String::new();
    let mut chars = rest.chars();
    let mut depth = 0_u32;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped) if !escaped.is_whitespace() => out.push(escaped),
                // A line that goes on.
                _ => {}
            },
            '"' => break,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                out.push_str("{…}");
            }
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    Some(out)
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A comment on one line, without the links that only rustdoc follows.
fn plain(doc: &[&str]) -> String {
    let text: Vec<&str> = doc
        .iter()
        .copied()
        .take_while(|line| !line.is_empty())
        .collect();
    let mut text = text.join(" ");
    while let Some(at) = text.find("[`") {
        let Some(end) = text[at..].find("`]").map(|end| at + end) else {
            break;
        };
        let mut after = end + 2;
        if text[after..].starts_with('(') {
            after += text[after..].find(')').map_or(0, |end| end + 1);
        }
        text = format!("{}`{}`{}", &text[..at], &text[at + 2..end], &text[after..]);
    }
    text
}
