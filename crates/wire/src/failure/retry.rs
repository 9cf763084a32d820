//! How long a server asks to be left alone.

use crate::time::days;

/// How long to wait in milliseconds, by the headers of an answer: `retry-after-ms` (as OpenAI and Azure send it),
/// else `retry-after` in seconds or as an HTTP date. A date is measured from the answer's own `date`, so that the
/// clocks need not agree; `now_ms`, milliseconds since 1970, is used where it has none. `None`: it does not say.
pub fn retry_after_ms<'h>(
    header: impl Fn(&str) -> Option<&'h str>,
    now_ms: impl FnOnce() -> u64,
) -> Option<u64> {
    if let Some(ms) = header("retry-after-ms").and_then(number) {
        return Some(ms.ceil() as u64);
    }
    let value = header("retry-after")?;
    if let Some(seconds) = number(value) {
        return Some((seconds * 1000.0).ceil() as u64);
    }
    let until = http_date(value)?;
    let now = header("date").and_then(http_date).unwrap_or_else(now_ms);
    Some(until.saturating_sub(now))
}

/// A number of zero or more.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse()
        .ok()
        .filter(|n: &f64| is_plain && n.is_finite())
}

/// Milliseconds since 1970 of an HTTP date, in any of the three spellings of RFC 9110, 5.6.7.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    let month = |word: &str| MONTHS.iter().position(|m| *m == word);
    // `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`
    let (day, month, year, time) = match words.as_slice() {
        [_, day, name, year, time @ .., "GMT"] if month(name).is_some() => {
            (*day, month(name)?, *year, time)
        }
        [_, name, day, time @ .., year] => (*day, month(name)?, *year, time),
        _ => return None,
    };
    let [hour, minute, second] = time else {
        return None;
    };
    let at_most = |word: &str, most: u64| word.parse().ok().filter(|n: &u64| *n <= most);
    let year = match (year.len(), at_most(year, 9999)?) {
        (2, short) if short < 70 => 2000 + short,
        (2, short) => 1900 + short,
        (_, year) => year,
    };
    let days = days(year, month as u64 + 1, at_most(day, 31)?)?;
    let seconds = at_most(hour, 23)? * 3600 + at_most(minute, 59)? * 60 + at_most(second, 60)?;
    Some((days * 86_400 + seconds) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits() {
        let check = |headers: &[(&str, &'static str)], expect: Option<u64>| {
            let get = |name: &str| headers.iter().find(|h| h.0 == name).map(|h| h.1);
            assert_eq!(
                retry_after_ms(get, || 784_111_777_000),
                expect,
                "{headers:?}"
            );
        };
        check(&[], None);
        check(&[("retry-after", "20")], Some(20_000));
        check(&[("retry-after", " 0.25 ")], Some(250));
        check(&[("retry-after", "0")], Some(0));
        check(
            &[("retry-after", "20"), ("retry-after-ms", "1500.5")],
            Some(1501),
        );
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "inf")], None);
        check(
            &[("retry-after", "99999999999999999999999")],
            Some(u64::MAX),
        );
        for date in [
            "Sun, 06 Nov 1994 08:49:38 GMT",
            "Sunday, 06-Nov-94 08:49:38 GMT",
            "Sun Nov  6 08:49:38 1994",
        ] {
            let there = "Sun, 06 Nov 1994 08:49:08 GMT";
            check(&[("retry-after", date)], Some(1_000));
            check(&[("retry-after", date), ("date", there)], Some(30_000));
        }
        check(&[("retry-after", "Sun, 06 Nov 1990 08:49:38 GMT")], Some(0));
        check(&[("retry-after", "Sun, 99 Nov 1994 08:49:38 GMT")], None);
        check(&[("retry-after", "Sun, 06 Nov 0001 08:49:38 GMT")], None);
    }
}
