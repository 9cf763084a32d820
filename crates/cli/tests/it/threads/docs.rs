//! The runs about threads in `docs/cli.md` are real: each is made again and compared.
//!
//! `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-cli --features threads docs` writes what is printed now.

use crate::docs::{check, run_again};

#[test]
fn the_runs_on_threads_are_real() {
    check("docs/cli.md", |text| {
        run_again(text, "```console threads\n", without_times)
    });
}

/// Times are others at every run: `2026-11-30 12:00`.
fn without_times(printed: &str) -> String {
    let bytes = printed.as_bytes();
    let form = b"dddd-dd-dd dd:dd";
    let is_time = |at: usize| {
        let here = bytes.get(at..at + form.len());
        here.is_some_and(|here| {
            here.iter().zip(form).all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                form => byte == form,
            })
        })
    };
    let mut out = String::new();
    let mut rest = 0;
    for (at, _) in printed.char_indices() {
        if at >= rest && is_time(at) {
            out.push_str(&printed[rest..at]);
            out.push_str("2026-11-30 12:00");
            rest = at + form.len();
        }
    }
    out + &printed[rest..]
}

#[test]
fn times_are_taken_out() {
    assert_eq!(
        without_times("a 2027-01-02 03:04  2027-1-2 b é"),
        "a 2026-11-30 12:00  2027-1-2 b é"
    );
}
