//! `conspectus eval`: what survives a compaction, by ways to compact, at equal sizes.

use std::path::Path;
use std::time::Instant;

use conspectus_eval::case::MIN_GROUPS;
use conspectus_eval::{
    Case, Cell, Means, Measured, Method, Score, Session, Tally, chart, size, tokens,
};
use serde::Serialize;

use crate::Done;
use crate::atomic;
use crate::fail::{Exit, Fail, guarded};
use crate::job::EvalJob;
use crate::read::{self, Opened, Read};
use crate::round::Round;
use crate::show;
use crate::ui::{self, Stream, Talk};

/// Lines by chance are drawn so many times, and their mean counts.
const DRAWS: u64 = 5;

/// Means of one way to compact.
#[derive(Debug, Serialize)]
pub(crate) struct EvalRow {
    /// The format of the sessions, or `all`: the mean over formats.
    pub(crate) source: String,
    /// The budget, in percent of the tokens before the cut.
    pub(crate) budget_percent: u32,
    /// How many compactions one after the other.
    pub(crate) compactions: usize,
    /// How.
    pub(crate) method: &'static str,
    /// It bounds the scale and is no way to compact.
    pub(crate) is_bound: bool,
    /// How many cuts were measured.
    pub(crate) cases: u32,
    /// The share of the names needed later.
    pub(crate) names: Option<f64>,
    /// The share of the edited files.
    pub(crate) files: Option<f64>,
    /// The share of the user's words.
    pub(crate) words: Option<f64>,
    /// Tokens that are left, on average.
    pub(crate) tokens: f64,
    /// Of how many.
    pub(crate) tokens_before: f64,
    /// How long one compaction took on average, in milliseconds.
    pub(crate) ms: f64,
}

pub(crate) fn run(job: &EvalJob) -> Done {
    let talk = if job.json { Talk::Json } else { Talk::Normal };
    let mut round = Round::begin("eval", Stream::Out, talk, None, &job.inputs);
    let (mut tally, mut failed, mut short) = (Tally::default(), Vec::new(), 0usize);
    for input in &job.inputs.all {
        round.ui.progress(&input.short_name());
        let measured = guarded(&input.name(), || {
            Ok(match read::open(input, &job.read)? {
                Read::Opened(opened) => {
                    let say = |what: &str| {
                        let text = format!("{}: {what}", input.short_name());
                        round.ui.progress(&text);
                    };
                    short += measure(job, &opened, &mut tally, &say);
                    None
                }
                Read::Skipped(found) => Some(found),
            })
        });
        match measured {
            Ok(Some(found)) => round.skip(found),
            Ok(None) => {}
            Err(fail) => {
                ui::error(&fail.message());
                failed.push(fail.exit);
            }
        }
    }
    round.ui.progress("");
    let rows = rows(&tally);
    if rows.is_empty() && failed.is_empty() {
        return Err(Fail::new(
            Exit::Input,
            anyhow::anyhow!(
                "nothing to measure: {}; name sessions of {MIN_GROUPS} groups of messages or more",
                show::too_short(short)
            ),
        ));
    }
    if let Some(path) = &job.csv {
        write(path, csv(&rows).as_bytes(), job.overwrite)?;
    }
    if let Some(path) = &job.svg {
        let all: Vec<_> = tally.over_sources();
        write(path, chart(&all).as_bytes(), job.overwrite)?;
    }
    round.show(|style| show::eval(&rows, short, style))?;
    round.end(&rows, failed.into_iter())
}

/// Measures every conversation of a file; tells how many are too short for it.
fn measure(job: &EvalJob, opened: &Opened, tally: &mut Tally, say: &dyn Fn(&str)) -> usize {
    let mut short = 0;
    let source = opened.document.format().name();
    for conversation in opened.document.conversations() {
        say(conversation.label());
        let name = conversation.label().to_owned();
        let session = Session::new(name, conversation.views(), conversation);
        let cases = Case::of(&session);
        short += usize::from(cases.is_empty());
        for case in &cases {
            let before = size(&session, case);
            for percent in &job.budgets {
                let budget = before * *percent as usize / 100;
                for rounds in [1, job.rounds] {
                    let ways = Method::ALL.into_iter().filter(|way| way.is_for(rounds));
                    for method in ways {
                        let cell = Cell {
                            source: source.to_owned(),
                            percent: *percent,
                            rounds,
                            method,
                        };
                        let measured = once(method, &session, case, (budget, before), rounds);
                        tally.add(cell, measured);
                    }
                    if job.rounds == 1 {
                        break;
                    }
                }
            }
        }
    }
    short
}

fn once(
    method: Method,
    session: &Session<'_>,
    case: &Case,
    (budget, before): (usize, usize),
    rounds: usize,
) -> Measured {
    let draws = if method == Method::Random { DRAWS } else { 1 };
    let begun = now();
    let texts: Vec<String> = (0..draws)
        .map(|draw| method.compact(session, case, budget, rounds, draw))
        .collect();
    let ms = begun.elapsed().as_secs_f64() * 1000.0 / draws as f64;
    let scores: Vec<Score> = texts.iter().map(|text| case.score(text)).collect();
    let mean = |of: fn(&Score) -> Option<f64>| {
        let sum: Option<f64> = scores.iter().map(of).sum();
        sum.map(|sum| sum / draws as f64)
    };
    Measured {
        score: Score {
            names: mean(|score| score.names),
            files: mean(|score| score.files),
            words: mean(|score| score.words),
        },
        tokens: texts.iter().map(|text| tokens(text)).sum::<usize>() / texts.len().max(1),
        before,
        ms,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long it takes is what is measured"
)]
fn now() -> Instant {
    Instant::now()
}

fn rows(tally: &Tally) -> Vec<EvalRow> {
    let mut rows: Vec<EvalRow> = tally
        .means()
        .map(|(cell, means)| EvalRow::of(cell, &means))
        .collect();
    let sources = tally.means().map(|(cell, _)| cell.source.clone());
    if sources.collect::<std::collections::BTreeSet<_>>().len() > 1 {
        let all = tally.over_sources();
        rows.extend(all.iter().map(|(cell, means)| EvalRow::of(cell, means)));
    }
    rows
}

impl EvalRow {
    fn of(cell: &Cell, means: &Means) -> Self {
        Self {
            source: cell.source.clone(),
            budget_percent: cell.percent,
            compactions: cell.rounds,
            method: cell.method.name(),
            is_bound: cell.method.is_bound(),
            cases: means.cases,
            names: means.names,
            files: means.files,
            words: means.words,
            tokens: means.tokens,
            tokens_before: means.before,
            ms: means.ms,
        }
    }
}

fn csv(rows: &[EvalRow]) -> String {
    let mut out = String::from(
        "source,budget_percent,compactions,method,is_bound,cases,names,files,words,tokens,tokens_before,ms\n",
    );
    let share = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
    for row in rows {
        out.push_str(&format!(
            "{},{},{},{},{},{},{},{},{},{:.0},{:.0},{:.2}\n",
            row.source,
            row.budget_percent,
            row.compactions,
            row.method,
            row.is_bound,
            row.cases,
            share(row.names),
            share(row.files),
            share(row.words),
            row.tokens,
            row.tokens_before,
            row.ms,
        ));
    }
    out
}

fn write(path: &Path, bytes: &[u8], overwrite: bool) -> Result<(), Fail> {
    let name = path.display().to_string();
    atomic::write(path, bytes, None, overwrite).map_err(|refused| refused.fail(&name))?;
    Ok(())
}
