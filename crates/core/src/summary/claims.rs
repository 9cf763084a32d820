//! Claims about the state of the work in a summary, against what the calls and results of the log show: tests
//! that pass, work that is committed or pushed, files that were changed, everything done.
//!
//! Only plain claims are judged: a sentence that plans, doubts, asks or denies is left alone, and so is what
//! stands under headings about the future.

use crate::ledger::{FileState, Ledger, TodoState};

/// What the log says about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing against it.
    Fine,
    /// Nothing for it either, where there ought to be something.
    NotShown,
    /// It shows this instead.
    Otherwise(String),
}

/// Words that turn a sentence into a plan, a condition or a denial.
const NOT_A_CLAIM: &[&str] = &[
    " not ",
    "n't",
    " no ",
    "never",
    "without",
    "should",
    " must",
    " will ",
    " would ",
    " need",
    "to be ",
    " to run",
    " once ",
    " until ",
    " if ",
    " when ",
    " before ",
    "ensure",
    "make sure",
    "verify",
    "check that",
    "todo",
    "next",
    "pending",
    "remain",
    "fail",
    "asked",
    "wants",
    "want ",
    "plan",
    "?",
    "未",
    "没有",
    "还没",
    "需要",
    "应该",
    "如果",
    "确保",
    "待",
    "失败",
    "ない",
    "まだ",
    "必要",
    "予定",
    "たら",
    "失敗",
];

/// Headings of sections that speak of the future or of wishes.
const NOT_STATE: &[&str] = &[
    "next",
    "open",
    "goal",
    "question",
    "todo",
    "rule",
    "constraint",
    "目标",
    "下一步",
    "待办",
    "目標",
    "次の",
    "未解決",
];

const TESTS_PASS: &[&str] = &[
    "tests pass",
    "test passes",
    "tests are passing",
    "tests passing",
    "tests all pass",
    "tests now pass",
    "tests are green",
    "tests green",
    "test suite passes",
    "测试通过",
    "测试全部通过",
    "测试都通过",
    "テストが通",
    "テストは通",
    "テストに合格",
    "テストは成功",
    "テストが成功",
];
const COMMITTED: &[&str] = &[
    "committed",
    "has been commit",
    "已提交",
    "コミット済",
    "コミットしました",
    "コミットした",
];
const PUSHED: &[&str] = &[
    "pushed",
    "已推送",
    "プッシュ済",
    "プッシュしました",
    "プッシュした",
];
const ALL_DONE: &[&str] = &[
    "all tasks are done",
    "all tasks done",
    "all tasks completed",
    "all tasks are complete",
    "everything is done",
    "all work is done",
    "all work is complete",
    "all steps are done",
    "all steps completed",
    "all todos are done",
    "所有任务已完成",
    "全部完成",
    "すべて完了",
    "全て完了",
];
const CHANGED: &[&str] = &[
    "created ",
    "modified ",
    "updated ",
    "edited ",
    "changed ",
    "rewrote ",
    "wrote ",
];

/// Judges `line`, which stands under the heading `section` (lower case), by the facts and by what the source
/// itself says: `told` whether one of some words stands in it, in any case. Then somebody said so: that is not the
/// log's own finding, but no invention of the summary either.
pub(super) fn judge(
    line: &str,
    section: &str,
    ledger: &Ledger,
    told: &dyn Fn(&[&str]) -> bool,
) -> Verdict {
    let lower = line.to_lowercase();
    let is_claim = !NOT_STATE.iter().any(|word| section.contains(word))
        && !NOT_A_CLAIM.iter().any(|word| lower.contains(word));
    if !is_claim {
        return Verdict::Fine;
    }
    let claims = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if claims(TESTS_PASS) {
        match ledger.test() {
            Some(test) if test.passed == Some(false) => {
                let result = test.summary.as_deref().map(|s| format!(" ({s})"));
                let result = result.unwrap_or_default();
                return Verdict::Otherwise(format!("`{}` failed{result}", test.command));
            }
            None if !told(TESTS_PASS) => return Verdict::NotShown,
            _ => {}
        }
    }
    if claims(PUSHED) && !told(&["push"]) && !told(PUSHED) {
        return Verdict::NotShown;
    }
    if claims(COMMITTED) && ledger.commit().is_none() && !told(&["commit"]) && !told(COMMITTED) {
        return Verdict::NotShown;
    }
    if claims(ALL_DONE) {
        let open: Vec<&str> = ledger
            .todos()
            .iter()
            .filter(|todo| todo.state != TodoState::Done)
            .map(|todo| todo.text.as_ref())
            .collect();
        if !open.is_empty() {
            return Verdict::Otherwise(format!("still open: {}", open.join("; ")));
        }
    }
    if claims(CHANGED)
        && let Some(path) = only_read(&lower, ledger)
    {
        return Verdict::Otherwise(format!("{path} was read, not changed"));
    }
    Verdict::Fine
}

/// A file that the line, which claims a change, names first, and that was only looked at.
fn only_read<'l>(lower: &str, ledger: &'l Ledger) -> Option<&'l str> {
    let at = CHANGED
        .iter()
        .filter_map(|word| lower.find(word).map(|at| at + word.len()))
        .min()?;
    let object = lower[at..].trim_start_matches(['`', '*', '"', '\'', ' ']);
    let object = object
        .split(|c: char| c.is_whitespace() || "`*\"',;()".contains(c))
        .next()
        .filter(|name| name.contains(['.', '/']))?;
    let object = object.trim_end_matches(['.', ':']);
    let named = |path: &str| {
        let path = path.to_lowercase();
        path == object || path.ends_with(&format!("/{object}"))
    };
    let mut files = ledger.files().filter(|(path, _)| named(path)).peekable();
    files.peek()?;
    let files: Vec<_> = files.collect();
    files
        .iter()
        .all(|(_, file)| file.state() == FileState::Read)
        .then(|| files[0].0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, call, result};
    use crate::view::Role;

    /// A failed test run, an open todo, one file read and one edited.
    fn ledger() -> Ledger {
        let mut texts = Memory::new();
        let mut ledger = Ledger::default();
        let calls = [
            (
                "Bash",
                r#"{"command":"cargo test"}"#,
                "test result: FAILED. 3 passed; 2 failed; 0 ignored",
            ),
            (
                "TodoWrite",
                r#"{"todos":[{"content":"write docs","status":"pending"},{"content":"port","status":"completed"}]}"#,
                "ok",
            ),
            ("Read", r#"{"file_path":"src/a.rs"}"#, "1 x"),
            (
                "Edit",
                r#"{"file_path":"src/b.rs","old_string":"x","new_string":"y"}"#,
                "ok",
            ),
        ];
        for (n, (tool, arguments, answer)) in calls.into_iter().enumerate() {
            let id = format!("c{n}");
            let asked = texts.message(Role::Assistant, vec![call(&id, tool, arguments)]);
            ledger.fold(&asked, &texts);
            let told = texts.message(Role::Tool, vec![result(&id, answer)]);
            ledger.fold(&told, &texts);
        }
        ledger
    }

    #[track_caller]
    fn check(line: &str, expect: &Verdict) {
        let ledger = ledger();
        assert_eq!(&judge(line, "state", &ledger, &|_| false), expect, "{line}");
    }

    #[test]
    fn claims_are_held_against_the_log() {
        let failed = || {
            Verdict::Otherwise(
                "`cargo test` failed (test result: FAILED. 3 passed; 2 failed; 0 ignored)".into(),
            )
        };
        check("- All tests pass.", &failed());
        check("- 所有测试通过。", &failed());
        check("- テストが通りました。", &failed());
        check(
            "- The tests do not pass yet; all tests pass is the aim",
            &Verdict::Fine,
        );
        check("- make sure the tests pass", &Verdict::Fine);
        check("- The change was pushed.", &Verdict::NotShown);
        check("- It was committed as one commit.", &Verdict::NotShown);
        check(
            "- All tasks completed.",
            &Verdict::Otherwise("still open: write docs".into()),
        );
        check(
            "- Updated `src/a.rs` with the new type",
            &Verdict::Otherwise("src/a.rs was read, not changed".into()),
        );
        check("- Updated `src/b.rs`", &Verdict::Fine);
        check("- Updated the plan", &Verdict::Fine);
    }

    #[test]
    fn what_somebody_said_and_what_is_planned_is_left_alone() {
        let none = Ledger::default();
        let said = "user: i ran it, all tests pass, and i pushed it";
        let said = |words: &[&str]| words.iter().any(|word| said.contains(word));
        assert_eq!(
            judge("- All tests pass.", "state", &none, &said),
            Verdict::Fine
        );
        assert_eq!(
            judge("- It was pushed.", "state", &none, &said),
            Verdict::Fine
        );
        assert_eq!(
            judge("- All tests pass.", "next steps", &ledger(), &|_| false),
            Verdict::Fine
        );
    }
}
