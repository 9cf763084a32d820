//! A picture of what survived: bars for each budget, a colour a method, as SVG. Colours suit light and dark pages.

use std::fmt::Write as _;

use crate::method::Method;
use crate::tally::{Cell, Means};

const BAR: usize = 26;
const GAP: usize = 34;
const HIGH: f64 = 180.0;
const LEFT: usize = 46;
const TOP: usize = 54;
const NAME: usize = 104;

/// Names needed later, by budget and method, of cells that were compacted once.
pub fn chart(cells: &[(Cell, Means)]) -> String {
    let once: Vec<_> = cells.iter().filter(|(cell, _)| cell.rounds == 1).collect();
    let mut percents: Vec<u32> = once.iter().map(|(cell, _)| cell.percent).collect();
    percents.sort_unstable();
    percents.dedup();
    let group = shown().count() * BAR + GAP;
    // Wide enough for the names on top.
    let width = LEFT + (percents.len() * group).max(shown().count() * NAME) + 20;
    let bottom = TOP as f64 + HIGH;
    let mut out = String::new();
    let mut add = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = out.write_fmt(text);
    };
    add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"268\" viewBox=\"0 0 {width} 268\" \
         font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>Share of the names needed later that survive \
         a compaction</title>\n<style>text{{fill:#57606a}}@media(prefers-color-scheme:dark){{text{{fill:#9da7b3}}}}</style>\n"
    ));
    for (nth, method) in shown().enumerate() {
        let x = LEFT + nth * NAME;
        add(format_args!(
            "<rect x=\"{x}\" y=\"14\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{}\"/><text x=\"{}\" y=\"24\">{}</text>\n",
            colour(method),
            x + 16,
            method.name()
        ));
    }
    for line in 0..=4 {
        let share = f64::from(line) / 4.0;
        let y = bottom - share * HIGH;
        add(format_args!(
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#8b949e\" stroke-opacity=\".35\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{share:.2}</text>\n",
            width - 20,
            LEFT - 6,
            y + 4.0
        ));
    }
    for (nth, percent) in percents.iter().enumerate() {
        let left = LEFT + nth * group + GAP / 2;
        for (at, method) in shown().enumerate() {
            let found = once
                .iter()
                .find(|(cell, _)| cell.percent == *percent && cell.method == method);
            let Some(share) = found.and_then(|(_, means)| means.names) else {
                continue;
            };
            let (x, high) = (left + at * BAR, share * HIGH);
            let y = bottom - high;
            add(format_args!(
                "<rect x=\"{x}\" y=\"{y:.1}\" width=\"{}\" height=\"{high:.1}\" rx=\"2\" fill=\"{}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\">{share:.2}</text>\n",
                BAR - 4,
                colour(method),
                x + BAR / 2 - 2,
                y - 3.0
            ));
        }
        add(format_args!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">{percent}% of the tokens</text>\n",
            left + shown().count() * BAR / 2,
            bottom + 20.0
        ));
    }
    add(format_args!("</svg>\n"));
    out
}

/// The ways that one compaction tells apart.
fn shown() -> impl Iterator<Item = Method> {
    Method::ALL.into_iter().filter(|method| method.is_for(1))
}

fn colour(method: Method) -> &'static str {
    match method {
        Method::KeepLast => "#8b949e",
        Method::Masking => "#6e9fd0",
        Method::Digest | Method::DigestOfDigests => "#2f81f7",
        Method::Random => "#c9b27c",
        Method::Oracle => "#7fbf7f",
    }
}
