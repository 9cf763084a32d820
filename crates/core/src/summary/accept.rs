//! A summary is accepted, not assumed: what is wrong with a reply is found here, by its own text and by what
//! the model was given. Size is judged later, against what it replaces.

use std::collections::BTreeSet;

use super::form;
use super::prompt;
use super::transcript::EARLIER;
use crate::digest::{EntityKind, entities, words};
use crate::effect::{Finish, Refusal, Reply};
use crate::planted::{Bug, planted};

/// A text this short may repeat itself.
const LOOP_CHARS: usize = 120;
/// What the messages of a transcript begin with.
const SPEAKERS: [&str; 8] = [
    EARLIER,
    "user: ",
    "assistant: ",
    "assistant calls ",
    "result",
    "host: ",
    "system: ",
    "tool: ",
];
/// Windows of this many characters are compared to find a loop.
const WINDOW_CHARS: usize = 12;
/// A shorter reply may be what it was given, word for word: of little there is little to sum up.
const ECHO_BYTES: usize = 2_000;
/// There is more in so many bytes than a goal or a question.
const LONG_BYTES: usize = 1_000;
/// A text with fewer bytes in lines that somebody said is no retelling.
const RETOLD_BYTES: usize = 500;
/// A shorter reply need not name anything.
const TELLING_BYTES: usize = 400;
/// A source with fewer names does not oblige a summary to name one.
const TELLING_NAMES: usize = 8;
/// A summary without any name of its source shares at least this many of its words.
const SHARED_WORDS: usize = 3;

/// The summary's text, or why the reply is none. `given` are the texts that the model was asked about;
/// `as_fields`: it was to answer with a [`form`](super::form).
///
/// # Errors
/// What is wrong with the reply.
pub fn accept<'g>(
    reply: &Reply,
    given: impl Iterator<Item = &'g str> + Clone,
    as_fields: bool,
) -> Result<String, Refusal> {
    let text = without_thoughts(reply.text.trim());
    match reply.finish {
        // A loop has no end of its own: what is wrong with it is not the limit.
        Finish::Length if repeats_itself(text) || is_retold(text, given.clone()) => {
            return Err(Refusal::Echo);
        }
        Finish::Length => return Err(Refusal::CutOff),
        Finish::Refused => return Err(Refusal::Refused),
        Finish::ToolCalls if text.is_empty() => return Err(Refusal::ToolCall),
        Finish::ToolCalls | Finish::Stop => {}
    }
    if text.is_empty() && !planted(Bug::BlankAccepted) {
        return Err(Refusal::Blank);
    }
    if is_markup(text) {
        return Err(Refusal::Markup);
    }
    let is_echo = repeats_itself(text)
        || is_retold(text, given.clone())
        || given.clone().any(|given| is_copy(text, given));
    if is_echo {
        return Err(Refusal::Echo);
    }
    if is_question_back(text) && is_long(given.clone()) || is_unrelated(text, given.clone()) {
        return Err(Refusal::Unrelated);
    }
    let written = match as_fields {
        true => match form::rendered(text) {
            Some(text) if form::is_goal_only(&text) && is_long(given.clone()) => {
                return Err(Refusal::NotTheForm);
            }
            Some(text) => text,
            // A server that ignores the schema: a note in sections is as good.
            None if !text.starts_with(['{', '`', '[']) => text.to_owned(),
            None => return Err(Refusal::NotTheForm),
        },
        false => text.to_owned(),
    };
    let own = prompt::without_ours(&written);
    // Hardly anything but what it was told, and nothing that somebody said.
    let mut given = given;
    let quotes = |given: &str| given.lines().any(|l| l.len() > 8 && own.contains(l.trim()));
    match own.len() * 2 < written.len() && !given.any(quotes) {
        true => Err(Refusal::Echo),
        false => Ok(own.into_owned()),
    }
}

/// There is more in it than a goal.
fn is_long<'g>(given: impl Iterator<Item = &'g str>) -> bool {
    given.map(str::len).sum::<usize>() >= LONG_BYTES
}

/// Without the reasoning that some servers leave in the text, in front of the answer.
fn without_thoughts(text: &str) -> &str {
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some((_, answer)) = text.strip_prefix(open).and_then(|t| t.split_once(close)) {
            return answer.trim();
        }
        // Templates that open the block themselves: only its end is in the text.
        if let Some((_, answer)) = text.split_once(close).filter(|(t, _)| !t.contains(open)) {
            return answer.trim();
        }
    }
    text
}

/// Tool calls written as text: models that are denied tools do that.
fn is_markup(text: &str) -> bool {
    const OPENINGS: [&str; 8] = [
        "<tool_call",
        "<function_call",
        "<function=",
        "<invoke ",
        "<|tool",
        "[TOOL_CALLS]",
        "<think>",
        "<thinking>",
    ];
    OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// A loop: most of a long text stood there before.
fn repeats_itself(text: &str) -> bool {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if starts.len() < LOOP_CHARS {
        return false;
    }
    let total = starts.len() - WINDOW_CHARS;
    let window = |at: usize| &text[starts[at]..starts[at + WINDOW_CHARS]];
    let distinct: BTreeSet<&str> = (0..total).map(window).collect();
    distinct.len() * 3 < total
}

/// Nothing but a piece of what was given, or the transcript written once more. An earlier summary that comes
/// back as it was is no copy: nothing may have happened since that matters.
fn is_copy(text: &str, given: &str) -> bool {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told =
        |line: &str| SPEAKERS[1..].iter().any(|who| line.starts_with(who)) && given.contains(line);
    text.len() >= ECHO_BYTES
        && (quotes(given, text) || lines().filter(|l| told(l)).count() * 2 > lines().count())
}

/// Most of it is whole lines of the messages, whatever stands between them: a conversation told once more under a
/// heading. Lines of an earlier summary may come back, as may a few of what somebody said.
fn is_retold<'g>(text: &str, given: impl Iterator<Item = &'g str>) -> bool {
    let mut said = BTreeSet::new();
    for given in given {
        let mut is_said = false;
        for line in given.lines() {
            if SPEAKERS.iter().any(|who| line.starts_with(who)) {
                is_said = !line.starts_with(EARLIER);
            }
            if is_said {
                said.insert(line.trim());
            }
        }
    }
    let lines = || text.lines().map(str::trim);
    let size = |lines: &mut dyn Iterator<Item = &str>| lines.map(str::len).sum::<usize>();
    let retold = size(&mut lines().filter(|line| said.contains(line)));
    retold >= RETOLD_BYTES && retold * 3 > size(&mut lines()) * 2
}

/// Whether `text` stands in what somebody said. An earlier summary in front of it, or the rest of one at the
/// beginning of a chunk, is nobody's.
fn quotes(given: &str, text: &str) -> bool {
    let Some(at) = given.find(text) else {
        return false;
    };
    let line = given[at..].find('\n').map_or(given.len(), |end| at + end);
    let mut before = given[..line].lines().rev();
    let begins = |line: &str| SPEAKERS.iter().any(|who| line.starts_with(who));
    before
        .find(|line| begins(line))
        .is_some_and(|line| !line.starts_with(EARLIER))
}

/// A short word to the user instead of a note: "What shall I do next?"
fn is_question_back(text: &str) -> bool {
    text.len() < TELLING_BYTES && !text.starts_with(['#', '{']) && text.ends_with(['?', '？'])
}

/// It names nothing that its source names and uses none of its words.
fn is_unrelated<'g>(text: &str, given: impl Iterator<Item = &'g str> + Clone) -> bool {
    if text.len() < TELLING_BYTES {
        return false;
    }
    let mut names = BTreeSet::new();
    for source in given.clone() {
        entities(source, &mut |kind, name| {
            if kind != EntityKind::Number {
                names.insert(name);
            }
        });
    }
    if names.len() < TELLING_NAMES || names.iter().any(|name| text.contains(name)) {
        return false;
    }
    let mut own = BTreeSet::new();
    long_words(text, &mut |word| {
        own.insert(word);
    });
    let mut shared = BTreeSet::new();
    for source in given {
        long_words(source, &mut |word| {
            if own.contains(&word) {
                shared.insert(word);
            }
        });
    }
    shared.len() < SHARED_WORDS
}

/// Hashes of the words that say something: five letters and more, any with a digit, or a pair of characters in
/// dense scripts.
fn long_words(text: &str, each: &mut dyn FnMut(u64)) {
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if word.len() >= 5 || word.contains(|c: char| c.is_ascii_digit()) {
            words(word, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::ASK;

    fn reply(text: &str, finish: Finish) -> Reply {
        Reply {
            text: text.into(),
            finish,
            usage: None,
        }
    }

    #[track_caller]
    fn check(text: &str, finish: Finish, expect: Result<&str, Refusal>) {
        let given = ["user: hello there\nassistant: hi\n"];
        let reply = reply(text, finish);
        let expect = expect.map(str::to_owned);
        assert_eq!(accept(&reply, given.into_iter(), false), expect, "{text:?}");
    }

    #[test]
    fn only_finished_text_is_a_summary() {
        check(" Done. \n", Finish::Stop, Ok("Done."));
        check(
            "Done, and a call beside it",
            Finish::ToolCalls,
            Ok("Done, and a call beside it"),
        );
        check("", Finish::Stop, Err(Refusal::Blank));
        check(" \n\t", Finish::Stop, Err(Refusal::Blank));
        check("", Finish::ToolCalls, Err(Refusal::ToolCall));
        check("Half a senten", Finish::Length, Err(Refusal::CutOff));
        check("I cannot", Finish::Refused, Err(Refusal::Refused));
        check(
            "<tool_call>{\"name\":\"x\"}</tool_call>",
            Finish::Stop,
            Err(Refusal::Markup),
        );
    }

    #[test]
    fn reasoning_in_the_text_is_left_out() {
        check("<think>hm</think>\n\nDone.", Finish::Stop, Ok("Done."));
        check("hm, well\n</think>\nDone.", Finish::Stop, Ok("Done."));
        check("<think>only thoughts", Finish::Stop, Err(Refusal::Markup));
        check("<think>hm</think>", Finish::Stop, Err(Refusal::Blank));
        check(
            "We removed the <think> tag.",
            Finish::Stop,
            Ok("We removed the <think> tag."),
        );
    }

    #[test]
    fn a_form_is_rendered_and_half_of_one_is_none() {
        let form = |text: &str| accept(&reply(text, Finish::Stop), std::iter::empty(), true);
        assert_eq!(form(r#"{"goal":"Port it"}"#), Ok("## Goal\nPort it".into()));
        assert_eq!(form("## Goal\nPort it"), Ok("## Goal\nPort it".into()));
        assert_eq!(form(r#"{"goal":"Port"#), Err(Refusal::NotTheForm));
        assert_eq!(form("{}"), Err(Refusal::NotTheForm));
        let long = "user: one thing and another, and there is more to tell\n".repeat(50);
        let of_much = |text: &str| {
            accept(
                &reply(text, Finish::Stop),
                [long.as_str()].into_iter(),
                true,
            )
        };
        let goal = r#"{"goal":"Port it","state":[],"artefacts":[]}"#;
        assert_eq!(form(goal), Ok("## Goal\nPort it".into()));
        assert_eq!(of_much(goal), Err(Refusal::NotTheForm));
        assert!(of_much(r#"{"goal":"Port it","state":["begun"]}"#).is_ok());
    }

    #[test]
    fn loops_are_found_with_and_without_line_ends() {
        for text in [
            "the same line again\n".repeat(9),
            "It is the same. ".repeat(20),
            "总是同样的话，没有新的内容。".repeat(20),
        ] {
            check(&text, Finish::Stop, Err(Refusal::Echo));
            check(&text, Finish::Length, Err(Refusal::Echo));
        }
        let list: String = (0..40)
            .map(|n| format!("- file {n}.rs: edited\n"))
            .collect();
        check(&list, Finish::Stop, Ok(list.trim()));
    }

    #[test]
    fn what_was_given_is_no_summary() {
        let talk: String = (0..90)
            .map(|n| format!("user: question {n}?\nassistant: answer {n} of many.\n"))
            .collect();
        let (whole, part) = (
            reply(&talk, Finish::Stop),
            reply(&talk[40..3_000], Finish::Stop),
        );
        assert_eq!(
            accept(&whole, [talk.as_str()].into_iter(), false),
            Err(Refusal::Echo)
        );
        assert_eq!(
            accept(&part, [talk.as_str()].into_iter(), false),
            Err(Refusal::Echo)
        );
    }

    /// Models of a tenth and of half a billion parameters wrote this.
    #[test]
    fn the_instruction_once_more_is_no_summary() {
        check(ASK, Finish::Stop, Err(Refusal::Echo));
        check(
            "## Goal\nto check the status\n## Decisions\nchoices made and their reasons, options ruled out\n\
            ## Next steps\nwhat was about to be done, in order\n\
            ## Open questions\nwhat is pending or waits for an answer, and whose",
            Finish::Stop,
            Err(Refusal::Echo),
        );
    }

    /// A model of a tenth of a billion parameters wrote this.
    #[test]
    fn a_question_back_is_no_summary_of_much() {
        let back = reply("I'm ready to help. What's the next step?", Finish::Stop);
        let of = |given: &str| accept(&back, [given].into_iter(), false).map(|_| ());
        assert_eq!(of("user: hello\n"), Ok(()));
        let long = "user: one thing and another, and there is more to tell\n".repeat(50);
        assert_eq!(of(&long), Err(Refusal::Unrelated));
    }

    #[test]
    fn a_conversation_told_once_more_under_a_heading_is_no_summary() {
        let said = "user: I want to fly from New York to Seattle on May 20th.\n\
            assistant: I need some details first.\n\
            1. Trip type: is it a one-way or a round trip?\n\
            2. Which cabin would you prefer: basic economy, economy or business?\n\
            3. Passengers: the first name, the last name and the date of birth of each.\n\
            4. Please confirm how you want to pay, by card or by certificate.\n\
            user: My user id is mia_li_3668, it is only me, and I take economy.\n\
            assistant calls get_user_details: {\"user_id\":\"mia_li_3668\"}\n\
            result: {\"name\":\"Mia Li\",\"address\":\"975 Sunset Drive\",\"zip\":\"78750\"}\n\
            assistant: Thank you. A flight at six in the morning costs 239 dollars.\n";
        let check = |text: &str, given: &str, finish, expect: Result<(), Refusal>| {
            let got = accept(&reply(text, finish), [given].into_iter(), false);
            assert_eq!(got.map(|_| ()), expect, "{text}");
        };
        let again = format!("## Goal\nTo book a flight.\n{said}");
        let as_list = again
            .replace("user: ", "- ")
            .replace("assistant", "- the")
            .replace("result: ", "- ");
        check(&again, said, Finish::Stop, Err(Refusal::Echo));
        check(&again, said, Finish::Length, Err(Refusal::Echo));
        // The summary so far may come back, and a few lines of what was said.
        let earlier = format!("{EARLIER}: {as_list}");
        check(&as_list, &earlier, Finish::Stop, Ok(()));
        check(&said[..400], said, Finish::Stop, Ok(()));
    }

    #[test]
    fn a_long_text_about_something_else_is_refused() {
        let source: String = (0..20)
            .map(|n| format!("user: look at src/parser_{n}.rs and BUG{n:03}\n"))
            .collect();
        let about = |text: &str| {
            accept(
                &reply(text, Finish::Stop),
                [source.as_str()].into_iter(),
                false,
            )
            .map(|_| ())
        };
        let story = "Once upon a time there lived an old fisherman near the cold northern sea. He owned one \
            boat, one dog and a very small garden behind his house, in which nothing but cabbage would ever grow. \
            Every morning he rowed out before sunrise, and each evening he came home again with little more than \
            he had taken along. His wife complained about it and the neighbours laughed, but he did not mind. \
            So it went on for many years.";
        assert_eq!(about(story), Err(Refusal::Unrelated));
        assert_eq!(about(&format!("{story} See src/parser_3.rs.")), Ok(()));
    }
}
