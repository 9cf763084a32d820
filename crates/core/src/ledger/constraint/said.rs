//! What of a user message is the user's own words, in sentences. Code, logs, quotations, examples and what a tool
//! printed are left out; a list belongs to the sentence that introduces it.

use crate::digest::is_dense;

/// Longer messages are read at both ends only: what lies between is a paste.
const READ_AT_START: usize = 16_000;
const READ_AT_END: usize = 6_000;
/// A longer sentence is no sentence.
const MAX_SENTENCE: usize = 1_000;
/// A line shorter than this ends its sentence: it was not wrapped.
const WRAPPED: usize = 60;

/// A sentence of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    /// The same with the list that it introduces.
    pub(super) with_list: Option<&'a str>,
    /// It is an item of the list that this sentence introduced.
    pub(super) item_of: Option<usize>,
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Not said by the user, or empty.
    Other,
    Text,
    /// An item of a list; its text begins here.
    Item(usize),
}

/// The sentences that the user says.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut out = Vec::new();
    if is_output(text) {
        return out;
    }
    if text.len() <= READ_AT_START + READ_AT_END {
        read(text, &mut out);
    } else {
        read(&text[..text.floor_char_boundary(READ_AT_START)], &mut out);
        read(
            &text[text.ceil_char_boundary(text.len() - READ_AT_END)..],
            &mut out,
        );
    }
    out
}

/// The whole message is what a tool printed.
fn is_output(text: &str) -> bool {
    const HEADS: &[&str] = &[
        "observation:",
        "execution result",
        "output:",
        "stdout:",
        "stderr:",
        "traceback (",
        "tool result",
        "context summary:",
        "<system-reminder>",
    ];
    let text = text.trim_start();
    let head = text[..text.floor_char_boundary(24)].to_ascii_lowercase();
    HEADS.iter().any(|start| head.starts_with(start))
}

fn read<'a>(text: &'a str, out: &mut Vec<Sentence<'a>>) {
    let mut skipper = Skipper::new(text);
    let mut open: Option<(usize, usize)> = None;
    // The sentence that introduces the list that is being read.
    let mut intro: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        let kind = skipper.line(line);
        match kind {
            Line::Text => {
                let is_wrapped = open.is_some_and(|(from, to)| {
                    let before = text[from..to].rsplit('\n').next().unwrap_or("");
                    let goes_on = line
                        .trim_start()
                        .chars()
                        .next()
                        .is_some_and(|c| c.is_lowercase());
                    before.len() >= WRAPPED && goes_on && !before.ends_with(['.', ':', '!', '?'])
                });
                if is_wrapped {
                    open = open.map(|(from, _)| (from, end));
                } else {
                    close(text, &mut open, None, out);
                    open = Some((start, end));
                    // Indented text goes on with the item before it.
                    if !line.starts_with([' ', '\t']) {
                        intro = None;
                    }
                }
            }
            Line::Item(from) => {
                let was_open = open.is_some();
                close(text, &mut open, intro, out);
                if was_open && intro.is_none() {
                    intro = introduced(out);
                }
                if let Some(nth) = intro {
                    let begin = out[nth].text.as_ptr() as usize - text.as_ptr() as usize;
                    out[nth].with_list = Some(&text[begin..end]);
                }
                let mut item = Some((start + from, end));
                close(text, &mut item, intro, out);
            }
            Line::Other => {
                close(text, &mut open, None, out);
                if !line.trim().is_empty() {
                    intro = None;
                } else if intro.is_none() {
                    intro = introduced(out);
                }
            }
        }
    }
    close(text, &mut open, None, out);
}

/// The last sentence, if it introduces a list.
fn introduced(out: &[Sentence<'_>]) -> Option<usize> {
    let last = out.len().checked_sub(1)?;
    let ends = out[last]
        .text
        .trim_end_matches(['*', '_'])
        .ends_with([':', '：']);
    (ends && out[last].item_of.is_none()).then_some(last)
}

/// Splits what is open into sentences.
fn close<'a>(
    text: &'a str,
    open: &mut Option<(usize, usize)>,
    item_of: Option<usize>,
    out: &mut Vec<Sentence<'a>>,
) {
    let Some((from, to)) = open.take() else {
        return;
    };
    split(&text[from..to], &mut |sentence| {
        let sentence = sentence.trim();
        if !sentence.is_empty() && sentence.len() <= MAX_SENTENCE {
            out.push(Sentence {
                text: sentence,
                with_list: None,
                item_of,
            });
        }
    });
}

fn split<'a>(text: &'a str, each: &mut dyn FnMut(&'a str)) {
    let mut start = 0;
    let mut depth = 0_i32;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let gap = next.is_none_or(|n| {
            n.is_whitespace() || matches!(n, '"' | '”' | '\'' | ')' | '*' | '_') || is_dense(n)
        });
        match c {
            '(' | '（' => depth += 1,
            ')' | '）' => depth -= 1,
            _ => {}
        }
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' => gap && depth <= 0 && !abbreviates(&text[start..at]),
            '!' | '?' => gap && depth <= 0,
            // In Chinese a space often stands for a stop.
            ' ' => {
                let before = text[start..at].chars().next_back();
                before.is_some_and(is_han)
                    && next.is_some_and(is_han)
                    && text[start..at].chars().filter(|c| is_han(*c)).count() >= 4
            }
            _ => false,
        };
        if ends {
            let mut end = at + c.len_utf8();
            // Marks that close belong to the sentence.
            while let Some((place, closing)) = chars.peek().copied() {
                if !matches!(
                    closing,
                    '"' | '”' | '»' | '」' | '』' | '!' | '?' | '！' | '？' | '*' | '_'
                ) {
                    break;
                }
                end = place + closing.len_utf8();
                chars.next();
            }
            each(&text[start..end]);
            start = end;
        }
    }
    each(&text[start..]);
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

/// The stop after `before` belongs to an abbreviation, an initial, or a list's number.
fn abbreviates(before: &str) -> bool {
    let word = before
        .rsplit([' ', '(', '\t', '\n'])
        .next()
        .unwrap_or(before);
    const SHORT: &[&str] = &[
        "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "Jr", "Sr", "vs", "cf", "etc", "approx", "bzw",
        "ca", "resp", "usw", "Nr", "Abs", "max", "min",
    ];
    let is_letter =
        word.chars().count() == 1 && !word.chars().all(|c| is_dense(c) || c.is_ascii_digit());
    let is_number = word.chars().all(|c| c.is_ascii_digit()) && before.trim_start() == word;
    is_letter
        || is_number
        || word.contains('.') && !word.contains('/') && word.len() < 6
        || SHORT.contains(&word)
}

/// Knows which lines are somebody else's.
struct Skipper {
    /// Fences that are left; an odd last one opens nothing.
    fences: usize,
    in_fence: bool,
    in_example: bool,
    /// The tag whose content is data.
    in_tag: Option<String>,
    text_has: String,
    after_item: bool,
}

impl Skipper {
    fn new(text: &str) -> Self {
        let fences = text.lines().filter(|l| is_fence(l)).count();
        // Tags that never close mark nothing.
        let closing = text
            .match_indices("</")
            .map(|(at, _)| tag_name(&text[at + 2..]));
        let text_has = closing
            .flatten()
            .fold(String::new(), |all, name| all + "<" + name + ">");
        Self {
            fences: fences - fences % 2,
            in_fence: false,
            in_example: false,
            in_tag: None,
            text_has,
            after_item: false,
        }
    }

    fn line(&mut self, line: &str) -> Line {
        let trimmed = line.trim();
        if is_fence(line) && self.fences > 0 {
            self.fences -= 1;
            self.in_fence = !self.in_fence;
            return Line::Other;
        }
        if self.in_fence {
            return Line::Other;
        }
        if let Some(tag) = &self.in_tag {
            if trimmed.contains(tag.as_str()) {
                self.in_tag = None;
            }
            return Line::Other;
        }
        let opened = trimmed.strip_prefix('<').and_then(tag_name);
        let closes = |name: &&str| self.text_has.contains(&["<", name, ">"].concat());
        if let Some(name) = opened.filter(|name| is_data(name)).filter(closes) {
            let close = ["</", name].concat();
            if !trimmed.contains(&close) {
                self.in_tag = Some(close);
            }
            return Line::Other;
        }
        if let Some(opens) = example_mark(trimmed) {
            self.in_example = opens;
            return Line::Other;
        }
        if self.in_example || trimmed.is_empty() || trimmed.starts_with('>') {
            self.after_item &= trimmed.is_empty();
            return Line::Other;
        }
        if let Some(from) = item_start(line) {
            self.after_item = true;
            return match is_code(line[from..].trim()) {
                true => Line::Other,
                false => Line::Item(from),
            };
        }
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        if is_code(trimmed) || is_indented && !self.after_item {
            return Line::Other;
        }
        self.after_item &= line.starts_with([' ', '\t']);
        Line::Text
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// The name of a tag that opens or closes here, after `<` or `</`.
fn tag_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    (end > 1 && end <= 40).then(|| &text[..end])
}

/// Tags that people put around what they quote.
fn is_data(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "description",
        "issue",
        "pr",
        "example",
        "examples",
        "output",
        "result",
        "results",
        "log",
        "logs",
        "document",
        "documents",
        "file",
        "files",
        "source",
        "code",
        "diff",
        "data",
        "quote",
        "transcript",
        "article",
        "email",
        "paste",
        "pasted",
        "content",
        "contents",
        "error",
        "trace",
        "history",
        "conversation",
        "summary",
        "response",
        "page",
        "html",
        "snippet",
        "attachment",
        "text",
        "reference",
        "json",
        "xml",
        "observation",
        "notice",
        "uploaded",
        "record",
        "body",
        "head",
        "script",
        "style",
        "div",
        "table",
        "message",
    ];
    name.split(['-', '_'])
        .any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// A ruled line that opens (true) or closes an example.
fn example_mark(line: &str) -> Option<bool> {
    if !line.starts_with("--") && !line.starts_with("==") && !line.starts_with("##") {
        return None;
    }
    let upper = line.to_ascii_uppercase();
    let is_example =
        upper.contains("EXAMPLE") || upper.contains("TRANSCRIPT") || upper.contains(" LOG");
    match () {
        () if !is_example => None,
        () if upper.contains("START") || upper.contains("BEGIN") => Some(true),
        () if upper.contains("END") => Some(false),
        () => None,
    }
}

/// Where the text of a list's item begins.
fn item_start(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    for mark in ["- ", "* ", "+ ", "• ", "– ", "• ", "・", "•", "●", "◦", "※"] {
        if let Some(text) = rest.strip_prefix(mark) {
            let skipped = rest.len() - text.trim_start().len();
            return (!text.trim().is_empty()).then_some(indent + skipped);
        }
    }
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    if digits == 0 || digits > 3 {
        return None;
    }
    let after = &rest[digits..];
    let mark = after
        .chars()
        .next()
        .filter(|c| matches!(c, '.' | ')' | '、' | '．'))?;
    let text = &after[mark.len_utf8()..];
    let spaced = text.starts_with([' ', '\t']) || matches!(mark, '、' | '．');
    (spaced && !text.trim().is_empty()).then(|| line.len() - text.trim_start().len())
}

/// A line of code, a log, a listing or a table.
fn is_code(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "//",
        "/*",
        "*/",
        "#include",
        "#!",
        "import ",
        "from ",
        "def ",
        "fn ",
        "pub ",
        "const ",
        "let ",
        "var ",
        "class ",
        "function ",
        "return ",
        "$ ",
        "@@",
        "+++",
        "---",
        "diff --git",
        "at ",
        "File \"",
        "File '",
        "Traceback",
        "| ",
        "|-",
        "<?",
        "</",
        "{",
        "}",
        "[{",
        "(Open file:",
        "(Current directory:",
        "bash-$",
        "➜",
        "Caused by:",
        "warning:",
        "error[",
        "error:",
        "INFO ",
        "WARN ",
        "DEBUG ",
        "ERROR ",
    ];
    if line.ends_with([';', '{', '}', '\\']) || line.ends_with("=>") || line.ends_with("/>") {
        return true;
    }
    let is_import = |start: &&&str| {
        matches!(
            **start,
            "from " | "import " | "return " | "let " | "class " | "at " | "function " | "pub "
        )
    };
    let starts = STARTS.iter().find(|start| line.starts_with(**start));
    if let Some(start) = starts {
        // Words that also begin sentences count with code behind them.
        return !is_import(&start)
            || line.contains(['(', '{', ';', '"', '='])
            || line.split(' ').nth(2) == Some("import");
    }
    // `12: …`, `2025-06-14T11:02 …`, `[12:03:04] …`
    let digits = line
        .trim_start_matches('[')
        .chars()
        .take_while(char::is_ascii_digit)
        .count();
    let after = line.trim_start_matches('[').chars().nth(digits);
    if digits > 0 && matches!(after, Some(':' | '\t' | '|' | '→'))
        || digits == 4 && after == Some('-')
    {
        return true;
    }
    let (mut letters, mut marks) = (0_u32, 0_u32);
    for c in line.chars() {
        match c {
            ' ' => {}
            c if c.is_alphanumeric() => letters += 1,
            '.' | ',' | '!' | '?' | '\'' | '"' | '-' | '*' | '’' | '“' | '”' | '。' | '，'
            | '、' | '：' => {}
            _ => marks += 1,
        }
    }
    marks * 2 > letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let got: Vec<&str> = sentences(text).iter().map(|s| s.text).collect();
        assert_eq!(got, expect, "of {text:?}");
    }

    #[test]
    fn only_what_the_user_says() {
        check("Fix it. Never push!", &["Fix it.", "Never push!"]);
        check(
            "Do this:\n```\nnever do that\n```\nThanks",
            &["Do this:", "Thanks"],
        );
        check(
            "with ``` in it\nAlways test",
            &["with ``` in it", "Always test"],
        );
        check("> never do that\nok", &["ok"]);
        check("OBSERVATION:\nnever", &[]);
        check(
            "<pr_description>\nmust not\n</pr_description>\nAlways test.",
            &["Always test."],
        );
        check(
            "<important>Always test.</important>",
            &["<important>Always test.</important>"],
        );
        check("let x = never();\nif (a) {\nok", &["ok"]);
        check("2025-06-14 11:02 you must wait\nok", &["ok"]);
        check(
            "--- START OF EXAMPLE ---\nnever\n--- END OF EXAMPLE ---\nok",
            &["ok"],
        );
        check("第一句。第二句！ok", &["第一句。", "第二句！", "ok"]);
        check(
            "Use v1.2, e.g. here. Dr. No stays",
            &["Use v1.2, e.g. here.", "Dr. No stays"],
        );
    }

    #[test]
    fn wrapped_lines_are_one_sentence() {
        let text = "Please never touch anything that lives below the vendor folder,\nnot even for a hotfix. Thanks";
        check(
            text,
            &[
                "Please never touch anything that lives below the vendor folder,\nnot even for a hotfix.",
                "Thanks",
            ],
        );
    }

    #[test]
    fn a_list_belongs_to_its_sentence() {
        let found = sentences("Never touch:\n- a.rs\n- b.rs\n\nThanks");
        assert_eq!(found[0].with_list, Some("Never touch:\n- a.rs\n- b.rs"));
        assert_eq!(
            found.iter().map(|s| s.item_of).collect::<Vec<_>>(),
            [None, Some(0), Some(0), None]
        );
        assert_eq!(found[3].text, "Thanks");
    }
}
