//! Finds the names that an agent may need again: paths, files, URLs, identifiers, codes, numbers, dates,
//! error names. One pass over the text by hand-written rules, no backtracking.

/// What sort of name an entity is. The order is the order of display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EntityKind {
    /// Segments with slashes between them.
    Path,
    /// A name with a file extension.
    File,
    /// `http…`
    Url,
    /// The name of an error, exception or warning.
    Error,
    /// `snake_case`, `camelCase`, `PascalCase`, or an address with `@`.
    Ident,
    /// Order numbers, hashes, booking codes: letters and digits mixed.
    Code,
    /// `2026-11-30`
    Date,
    /// Three digits or more, or a decimal fraction.
    Number,
}

/// Entities longer than this are data, not names.
const MAX_LEN: usize = 160;

/// Calls `found` for each entity of `text`, a longer one before the ones inside it.
pub(crate) fn entities<'a>(text: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !starts_run(bytes[at]) {
            at += 1;
            continue;
        }
        if is_url(&bytes[at..]) {
            let end = at + url_len(&bytes[at..]);
            emit(EntityKind::Url, trim_end(&text[at..end]), found);
            at = end;
            continue;
        }
        if bytes[at] == b'/' && at > 0 && bytes[at - 1] == b'<' {
            // A closing tag is no path.
            at += 1;
            continue;
        }
        if matches!(bytes[at], b'n' | b't' | b'r') && at > 0 && bytes[at - 1] == b'\\' {
            // The letter of an escaped line end belongs to no name.
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && in_run(bytes[at]) {
            at += 1;
        }
        run(&text[start..at], found);
    }
}

fn emit<'a>(kind: EntityKind, name: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    if (3..=MAX_LEN).contains(&name.len()) {
        found(kind, name);
    }
}

/// A run of name characters and joiners, still to be taken apart at `:`, `,` and `=`.
fn run<'a>(text: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    for piece in text.split(':') {
        if piece.contains('/') {
            for part in piece.split(',') {
                path(part, found);
            }
        } else {
            name(piece, found);
        }
    }
}

fn path<'a>(text: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    let text = trim_end(text).trim_start_matches(['-', '+', '@', '$']);
    let segments = text.split('/').filter(|s| has_word(s)).count();
    if segments >= 2 || (segments == 1 && text.starts_with('/') && text.len() > 4) {
        emit(EntityKind::Path, text, found);
    }
    for segment in text.split('/') {
        name(segment, found);
    }
}

/// A run without slashes: perhaps a file, a date, a number; then the words in it.
fn name<'a>(text: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    let text = trim_end(text).trim_start_matches(['.', ',', '-', '+', '@', '~']);
    if text.len() < 3 {
        return;
    }
    if text
        .bytes()
        .all(|b| b.is_ascii_digit() || b".,-$".contains(&b))
    {
        return numeric(text, found);
    }
    if text.contains('@') && text.contains('.') && !text.ends_with('@') {
        return emit(EntityKind::Ident, text, found);
    }
    if let Some((stem, extension)) = text.rsplit_once('.')
        && is_extension(extension)
        && has_word(stem)
    {
        let from = stem.rfind(['.', ',']).map_or(0, |dot| dot + 1);
        emit(EntityKind::File, &text[from..], found);
    } else if is_uuid(text) {
        return emit(EntityKind::Code, text, found);
    } else if let Some(date) = text.get(..10).filter(|d| is_date(d)) {
        // A timestamp: its day is the name.
        return emit(EntityKind::Date, date, found);
    }
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        self::word(word, found);
    }
}

fn numeric<'a>(text: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    if is_date(text) {
        return emit(EntityKind::Date, text, found);
    }
    for piece in text.split('-') {
        let piece = trim_end(piece);
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        let dots = piece.bytes().filter(|b| *b == b'.').count();
        if dots <= 1 && (digits >= 3 || (dots == 1 && digits >= 2)) {
            emit(EntityKind::Number, piece, found);
        }
    }
}

fn word<'a>(word: &'a str, found: &mut dyn FnMut(EntityKind, &'a str)) {
    let bytes = word.as_bytes();
    if bytes.len() < 3 {
        return;
    }
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let upper = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = bytes.iter().filter(|b| b.is_ascii_lowercase()).count();
    let inner_underscore = word.trim_matches('_').contains('_');
    if digits == bytes.len() {
        return emit(EntityKind::Number, word, found);
    }
    if is_error(word) {
        return emit(EntityKind::Error, word, found);
    }
    let hex = bytes.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if hex && digits > 0 && (7..=40).contains(&bytes.len()) {
        return emit(EntityKind::Code, word, found);
    }
    if lower == 0 && upper > 0 && digits > 0 && !inner_underscore && bytes.len() >= 5 {
        return emit(EntityKind::Code, word, found);
    }
    let humps = bytes
        .windows(2)
        .filter(|w| !w[0].is_ascii_uppercase() && w[1].is_ascii_uppercase())
        .count();
    if bytes[0].is_ascii_alphabetic() && (inner_underscore || (lower > 0 && humps > 0)) {
        emit(EntityKind::Ident, word, found);
    }
}

fn starts_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'.' | b'~' | b'$' | b'@')
}

fn in_run(byte: u8) -> bool {
    starts_run(byte) || matches!(byte, b'-' | b'+' | b':' | b',')
}

fn is_url(bytes: &[u8]) -> bool {
    bytes.starts_with(b"http://") || bytes.starts_with(b"https://")
}

fn url_len(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|b| b.is_ascii_whitespace() || b"\"'<>)]}\\`|".contains(b) || !b.is_ascii())
        .unwrap_or(bytes.len())
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(['.', ',', ':', ';', '/', '-', '+', '$', '@', '~'])
}

fn has_word(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_alphanumeric())
}

/// An extension: short, a letter first, and all of one sort, so that `os.path` and `a.B` are rare hits.
fn is_extension(text: &str) -> bool {
    const KNOWN: &[&str] = &[
        "c",
        "cc",
        "cfg",
        "conf",
        "cpp",
        "cs",
        "css",
        "csv",
        "db",
        "dart",
        "diff",
        "dockerfile",
        "docx",
        "env",
        "erl",
        "ex",
        "exs",
        "gif",
        "go",
        "gradle",
        "gz",
        "h",
        "heex",
        "hpp",
        "hs",
        "html",
        "ini",
        "ipynb",
        "java",
        "jpg",
        "jpeg",
        "js",
        "json",
        "jsonl",
        "jsx",
        "kt",
        "lock",
        "log",
        "lua",
        "md",
        "mdx",
        "mjs",
        "ml",
        "mp3",
        "mp4",
        "patch",
        "pdf",
        "php",
        "pl",
        "png",
        "ppt",
        "pptx",
        "proto",
        "ps1",
        "py",
        "pyi",
        "r",
        "rb",
        "rs",
        "rst",
        "scala",
        "scss",
        "sh",
        "sql",
        "sqlite",
        "svelte",
        "svg",
        "swift",
        "tar",
        "tex",
        "toml",
        "ts",
        "tsv",
        "tsx",
        "txt",
        "vue",
        "wasm",
        "xls",
        "xlsx",
        "xml",
        "yaml",
        "yml",
        "zig",
        "zip",
        "zsh",
    ];
    KNOWN.binary_search(&text).is_ok()
}

fn is_error(word: &str) -> bool {
    ["Error", "Exception", "Warning"]
        .iter()
        .any(|end| word.ends_with(end) && word.len() > end.len())
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, b)| match at {
            4 | 7 => *b == b'-',
            _ => b.is_ascii_digit(),
        })
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(EntityKind, &str)]) {
        let mut got = Vec::new();
        entities(text, &mut |kind, name| got.push((kind, name)));
        assert_eq!(got, expect, "in {text:?}");
    }

    #[test]
    fn names_are_found_in_running_text() {
        use EntityKind::*;
        check(
            "see https://a.b/c?d=1, please.",
            &[(Url, "https://a.b/c?d=1")],
        );
        check(
            "in src/lib_a.rs:12: ValueError",
            &[
                (Path, "src/lib_a.rs"),
                (File, "lib_a.rs"),
                (Ident, "lib_a"),
                (Error, "ValueError"),
            ],
        );
        check(
            "user mia_li_3668 flies HAT001",
            &[(Ident, "mia_li_3668"), (Code, "HAT001")],
        );
        check("on 2024-05-16T10:00", &[(Date, "2024-05-16")]);
        check("costs $1,250.50 or 42", &[(Number, "$1,250.50")]);
        check(
            "commit 3fa9c1d2 of getUserName()",
            &[(Code, "3fa9c1d2"), (Ident, "getUserName")],
        );
        check("请修改 config.yaml 文件。", &[(File, "config.yaml")]);
        check(r"print('\nTesting')", &[]);
        check("</my_tag>", &[(Ident, "my_tag")]);
        check("e.g. the end. It is", &[]);
        check("", &[]);
    }

    #[test]
    fn the_extensions_are_sorted() {
        for extension in ["c", "py", "rs", "zsh", "md", "tsx"] {
            assert!(is_extension(extension), "{extension}");
        }
    }
}
