//! A shallow reading of shell commands: what they read, write, delete, commit and test. Quoting, pipes,
//! redirections and here-documents are understood; variables, loops and substitutions are not.

use super::action::{Action, path};
use super::{capped, patch};

/// Longer scripts are read up to here.
const MAX_SCRIPT: usize = 64_000;

/// The actions of a command line or script.
pub(super) fn command(script: &str, out: &mut Vec<Action>) {
    let script = &script[..script.floor_char_boundary(MAX_SCRIPT)];
    if script.trim().is_empty() {
        return;
    }
    out.push(Action::Command(capped(script)));
    patch::envelope(script, out);
    let mut place = None;
    let mut lines = script.lines();
    let mut logical = String::new();
    let mut quotes = Quotes::default();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_suffix('\\') {
            logical.push_str(head);
            logical.push(' ');
            continue;
        }
        logical.push_str(line);
        // A quote that is still open takes the next lines along (commit messages, inline programs).
        quotes.read(line);
        if quotes.open.is_some() && logical.len() < 4_000 {
            logical.push('\n');
            continue;
        }
        let line = std::mem::take(&mut logical);
        quotes = Quotes::default();
        simple_commands(&line, &mut place, out);
        let end = here_document(&line).filter(|end| line.lines().skip(1).all(|l| l.trim() != *end));
        if let Some(end) = end {
            lines
                .by_ref()
                .take_while(|l| l.trim() != end)
                .for_each(drop);
        }
    }
    if !logical.is_empty() {
        simple_commands(&logical, &mut place, out);
    }
}

/// The actions of one command that is given as words.
pub(super) fn words(words: &[&str], out: &mut Vec<Action>) {
    out.push(Action::Command(capped(&words.join(" "))));
    let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    simple(&words, out);
}

/// Which quote is open after what was read so far.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    escaped: bool,
}

impl Quotes {
    fn read(&mut self, line: &str) {
        for c in line.chars() {
            match (c, self.open) {
                _ if self.escaped => self.escaped = false,
                ('\\', None | Some('"')) => self.escaped = true,
                ('\'' | '"', None) => self.open = Some(c),
                (c, Some(open)) if c == open => self.open = None,
                _ => {}
            }
        }
        self.escaped = false;
    }
}

/// The word that ends the here-document which `line` opens.
fn here_document(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    if after.starts_with('<') {
        return None;
    }
    let word = after.trim_start_matches(['-', ' ', '\'', '"', '\\']);
    let end = word
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(word.len());
    (end > 0).then(|| &word[..end])
}

/// Splits at operators and pipes outside quotes and reads each command.
fn simple_commands(line: &str, place: &mut Option<String>, out: &mut Vec<Action>) {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let (mut quote, mut quoted, mut escaped) = (None, false, false);
    for c in line.chars() {
        if escaped {
            word.push(c);
            escaped = false;
            continue;
        }
        match (c, quote) {
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => (quote, quoted) = (Some(c), true),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.push(c),
            (';' | '&' | '|' | '(' | ')', None) if !(c == '&' && word.ends_with('>')) => {
                flush(&mut word, &mut quoted, &mut words);
                placed(&words, place, out);
                words.clear();
            }
            ('#', None) if word.is_empty() => break,
            ('>' | '<', None) => {
                if !word.ends_with(c) {
                    // A file descriptor before the arrow belongs to it.
                    if word.bytes().all(|b| b.is_ascii_digit()) {
                        if word == "2" {
                            word.push('!');
                        } else {
                            word.clear();
                        }
                    } else {
                        flush(&mut word, &mut quoted, &mut words);
                    }
                }
                word.push(c);
            }
            (c, None) if c.is_whitespace() => flush(&mut word, &mut quoted, &mut words),
            (c, None) => {
                if word.ends_with('>') && c != '&' {
                    flush(&mut word, &mut quoted, &mut words);
                }
                word.push(c);
            }
        }
    }
    flush(&mut word, &mut quoted, &mut words);
    placed(&words, place, out);
}

/// One command, run in the folder that earlier `cd`s led to.
fn placed(words: &[String], place: &mut Option<String>, out: &mut Vec<Action>) {
    if let [cd, to] = words
        && cd == "cd"
    {
        let sound = !to.contains(['$', '`', '~', '*']) && to.len() < 200;
        *place = sound.then(|| place.take().map_or(to.clone(), |from| joined(&from, to)));
        return;
    }
    let first = out.len();
    simple(words, out);
    let Some(place) = place else { return };
    for action in &mut out[first..] {
        if let Action::Read(name)
        | Action::Create(name)
        | Action::Edit(name)
        | Action::Delete(name) = action
        {
            *name = joined(place, name).into();
        }
    }
}

fn joined(place: &str, path: &str) -> String {
    if path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    [place.trim_end_matches('/'), path.trim_start_matches("./")].join("/")
}

fn flush(word: &mut String, quoted: &mut bool, words: &mut Vec<String>) {
    if !word.is_empty() || *quoted {
        words.push(std::mem::take(word));
    }
    *quoted = false;
}

fn simple(words: &[String], out: &mut Vec<Action>) {
    let mut plain: Vec<&str> = Vec::new();
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            ">" => out.extend(rest.next().and_then(target).map(Action::Create)),
            ">>" => out.extend(rest.next().and_then(target).map(Action::Edit)),
            "2!>" | "2!>>" | "<" | "<<" | "<<<" => drop(rest.next()),
            w if w.contains(">&") || w.starts_with("<<") => {}
            w => plain.push(w),
        }
    }
    let start = plain
        .iter()
        .position(|w| !is_prefix(w))
        .unwrap_or(plain.len());
    let Some((program, args)) = plain[start..].split_first() else {
        return;
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    let files = || {
        args.iter()
            .filter(|a| !a.starts_with('-'))
            .filter_map(|a| target(a))
    };
    let named = |flag: &str| {
        let at = args.iter().position(|a| *a == flag)?;
        args.get(at + 1).copied()
    };
    match program {
        "cat" | "less" | "more" | "nl" | "head" | "tail" | "bat" | "Get-Content" => {
            out.extend(files().filter(|f| looks_like_file(f)).map(Action::Read));
        }
        "sed"
            if args
                .iter()
                .any(|a| a.starts_with("-i") || *a == "--in-place") =>
        {
            // The first free word is the program, unless -e gave one.
            let skip = usize::from(!args.contains(&"-e"));
            out.extend(
                files()
                    .skip(skip)
                    .filter(|f| looks_like_file(f))
                    .map(Action::Edit),
            );
        }
        "sed" | "awk" => {
            out.extend(
                files()
                    .skip(1)
                    .filter(|f| looks_like_file(f))
                    .map(Action::Read),
            );
        }
        "tee" => out.extend(files().map(Action::Create)),
        "touch" => out.extend(files().map(Action::Create)),
        "rm" | "unlink" | "rmdir" => out.extend(files().map(Action::Delete)),
        "mv" => moved(&files().collect::<Vec<_>>(), true, out),
        "cp" => moved(&files().collect::<Vec<_>>(), false, out),
        "curl" | "wget" => out.extend(
            args.iter()
                .filter(|a| a.starts_with("http"))
                .map(|a| Action::Fetch(capped(a))),
        ),
        "git" => git(args, out),
        "env" | "timeout" | "time" | "sudo" | "xargs" | "nohup" => {
            let inner: Vec<String> = args
                .iter()
                .skip_while(|a| is_prefix(a) || a.starts_with('-') || a.parse::<f64>().is_ok())
                .map(|a| (*a).to_owned())
                .collect();
            if inner.len() < words.len() {
                simple(&inner, out);
            }
        }
        "bash" | "sh" | "zsh" => {
            if let Some(script) = named("-c").or_else(|| named("-lc"))
                && script.len() < words.iter().map(String::len).sum()
            {
                simple_commands(script, &mut None, out);
            }
        }
        _ => {}
    }
    if is_test(program, args) {
        out.push(Action::Test(capped(&plain.join(" "))));
    }
}

fn is_prefix(word: &str) -> bool {
    matches!(word, "then" | "do" | "else" | "{" | "!" | "if" | "while")
        || word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

/// A redirection or argument that can be a file.
fn target(word: &str) -> Option<std::sync::Arc<str>> {
    let odd = word.starts_with(['&', '$', '(', '{']) || word.starts_with("/dev/");
    path(word).filter(|_| !odd && !word.contains(['*', '\n', '$']))
}

fn looks_like_file(word: &str) -> bool {
    word.contains(['/', '.']) || word.starts_with(char::is_uppercase)
}

fn moved(files: &[std::sync::Arc<str>], away: bool, out: &mut Vec<Action>) {
    let Some((to, from)) = files.split_last() else {
        return;
    };
    if away {
        out.extend(from.iter().cloned().map(Action::Delete));
    }
    let single = from.len() == 1 && looks_like_file(to) && !to.ends_with('/');
    if single {
        out.push(Action::Create(to.clone()));
    }
}

fn git(args: &[&str], out: &mut Vec<Action>) {
    let skip = usize::from(args.first() == Some(&"-C")) * 2;
    let Some((verb, args)) = args.get(skip..).and_then(|a| a.split_first()) else {
        return;
    };
    let free = || args.iter().filter(|a| !a.starts_with('-'));
    match *verb {
        "checkout" if args.contains(&"--") => {}
        "checkout" | "switch" => {
            let makes = args.iter().any(|a| matches!(*a, "-b" | "-B" | "-c" | "-C"));
            let name = free()
                .next()
                .filter(|n| makes || (free().count() == 1 && !n.contains('.')));
            out.extend(name.and_then(|n| path(n)).map(Action::Branch));
        }
        "commit" => {
            let message = args.iter().enumerate().find_map(|(at, a)| {
                if *a == "-m" || *a == "-am" || *a == "--message" {
                    args.get(at + 1).copied()
                } else {
                    a.strip_prefix("--message=")
                }
            });
            // `-m "$(cat <<EOF` keeps its subject on the next line.
            let subject = message.and_then(|m| {
                m.lines()
                    .map(str::trim)
                    .find(|l| !l.is_empty() && !l.starts_with("$("))
            });
            out.extend(subject.map(|s| Action::Commit(capped(s))));
        }
        "rm" => out.extend(free().filter_map(|f| target(f)).map(Action::Delete)),
        "mv" => moved(
            &free().filter_map(|f| target(f)).collect::<Vec<_>>(),
            true,
            out,
        ),
        _ => {}
    }
}

fn is_test(program: &str, args: &[&str]) -> bool {
    let first = args
        .iter()
        .find(|a| !a.starts_with('-'))
        .copied()
        .unwrap_or("");
    let has = |word: &str| args.contains(&word);
    match program {
        "pytest" | "py.test" | "jest" | "vitest" | "rspec" | "phpunit" | "tox" | "ctest"
        | "nose2" | "mocha" | "nosetests" | "playwright" => true,
        "cargo" => first == "test" || first == "nextest",
        "go" | "mix" | "deno" | "bun" | "dotnet" | "swift" | "flutter" | "dart" => first == "test",
        "npm" | "yarn" | "pnpm" => args
            .iter()
            .any(|a| a.starts_with("test") || *a == "vitest" || *a == "jest"),
        "npx" | "uv" | "poetry" | "bundle" | "pipenv" | "hatch" => args.iter().any(|a| {
            matches!(
                *a,
                "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "playwright"
            )
        }),
        "python" | "python3" => {
            has("pytest")
                || has("unittest")
                || first.contains("runtests")
                || (first == "manage.py" && has("test"))
        }
        "make" | "just" | "mvn" | "gradle" | "gradlew" | "rake" => args
            .iter()
            .any(|a| a.starts_with("test") || *a == "check" || *a == "verify"),
        _ => program.starts_with("runtests"),
    }
}
