//! Errors of providers, by the bodies that servers send.

use conspectus_wire::failure::{ErrorClass, ProviderError};
use serde::Deserialize;
use serde_json::value::RawValue;

fn of_answer(status: u16, content_type: Option<&str>, body: &[u8]) -> ProviderError {
    ProviderError::of_answer(status, content_type, body, &|text| text)
}

fn in_stream(json: &[u8]) -> ProviderError {
    ProviderError::in_stream(json, &|text| text)
}

#[derive(Deserialize)]
struct Row {
    name: String,
    status: u16,
    overflow: bool,
    limit: Option<u64>,
    actual: Option<u64>,
    body: Box<RawValue>,
}

#[test]
fn all_bodies_are_told_apart() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../data/overflow.json")).unwrap();
    assert_eq!(rows.len(), 38);
    for row in &rows {
        let body = row.body.get().as_bytes();
        let json = Some("application/json");
        let class = of_answer(row.status, json, body).class;
        let expect = match (row.overflow, row.name.as_str()) {
            (true, _) => ErrorClass::Overflow {
                limit: row.limit,
                actual: row.actual,
            },
            (_, "anthropic-bytes") => ErrorClass::TooManyBytes,
            (_, "neg-rate-limit-tpm") => ErrorClass::RateLimited,
            _ => ErrorClass::Rejected,
        };
        assert_eq!(class, expect, "{}", row.name);
        // The same body with a status that is about something else.
        for (status, expect) in [
            (429, ErrorClass::RateLimited),
            (500, ErrorClass::Unavailable),
            (503, ErrorClass::Unavailable),
            (529, ErrorClass::Unavailable),
            (401, ErrorClass::Unauthorized),
        ] {
            let class = of_answer(status, json, body).class;
            assert_eq!(class, expect, "{} as {status}", row.name);
        }
    }
}

#[test]
fn a_stream_says_it_too() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../data/overflow.json")).unwrap();
    for row in rows.iter().filter(|r| r.overflow) {
        let class = in_stream(row.body.get().as_bytes()).class;
        let expect = ErrorClass::Overflow {
            limit: row.limit,
            actual: row.actual,
        };
        assert_eq!(class, expect, "{}", row.name);
    }
}

fn check(status: u16, body: &str, expect: ErrorClass, message: &str) {
    let error = of_answer(status, None, body.as_bytes());
    assert_eq!((error.class, error.to_string().as_str()), (expect, message));
}

#[test]
fn bodies_that_say_little() {
    use ErrorClass::{
        NoCredit, NotFound, RateLimited, Rejected, TooManyBytes, Unauthorized, Unavailable,
    };
    check(400, "", Rejected, "status 400 without a word");
    check(422, " \n", Rejected, "status 422 without a word");
    check(429, "", RateLimited, "status 429 without a word");
    check(500, "", Unavailable, "status 500 without a word");
    check(413, "", TooManyBytes, "status 413 without a word");
    check(
        413,
        "<html><title>413 Request Entity Too Large</title></html>",
        TooManyBytes,
        "status 413: a web page: 413 Request Entity Too Large",
    );
    check(
        400,
        "Request too large",
        TooManyBytes,
        "status 400: Request too large",
    );
    check(
        429,
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        NoCredit,
        "status 429: You exceeded your current quota",
    );
    check(402, "{}", NoCredit, "status 402 without a word");
    check(
        404,
        r#"{"error":"model \"x\" not found"}"#,
        NotFound,
        "status 404: model \"x\" not found",
    );
    check(403, "no", Unauthorized, "status 403: no");
    check(307, "", Rejected, "status 307 without a word");
    // A page or an echo of the request that holds the words says nothing.
    check(
        400,
        "<html><title>Oops</title>prompt is too long</html>",
        Rejected,
        "status 400: a web page: Oops",
    );
    check(
        422,
        r#"{"detail":[{"msg":"field required","input":"prompt is too long"}]}"#,
        Rejected,
        "status 422: field required",
    );
}

#[test]
fn errors_inside_a_stream() {
    let check = |json: &str, expect: ErrorClass| {
        assert_eq!(in_stream(json.as_bytes()).class, expect, "{json}");
    };
    check(
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ErrorClass::Unavailable,
    );
    check(
        r#"{"error":{"message":"The server had an error","type":"server_error","code":"server_error"}}"#,
        ErrorClass::Unavailable,
    );
    check(
        r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#,
        ErrorClass::RateLimited,
    );
    check(
        r#"{"error":{"code":429,"message":"upstream"}}"#,
        ErrorClass::RateLimited,
    );
    check(
        r#"{"error":{"code":502,"message":"upstream"}}"#,
        ErrorClass::Unavailable,
    );
    check(
        r#"{"error":{"type":"authentication_error","message":"bad key"}}"#,
        ErrorClass::Unauthorized,
    );
    check(
        r#"{"error":{"type":"invalid_request_error","message":"bad"}}"#,
        ErrorClass::Rejected,
    );
    check("not json", ErrorClass::Unavailable);
}

#[test]
fn what_is_to_be_hidden_leaves_no_half_behind() {
    let hide = |text: String| text.replace("sk-made-up-key", "****");
    for pad in (240..300).step_by(3) {
        let quote = format!("{} the key is sk-made-up-key", "x".repeat(pad));
        let json = serde_json::json!({"error": {"message": quote, "code": "sk-made-up-key"}});
        let escaped = json.to_string().replace("sk-", "\\u0073k-");
        for body in [quote.clone(), json.to_string(), escaped] {
            let error = ProviderError::of_answer(401, None, body.as_bytes(), &hide);
            assert!(!format!("{error:?}").contains("sk-"), "{error:?}");
            let error = ProviderError::in_stream(body.as_bytes(), &hide);
            assert!(!format!("{error:?}").contains("sk-"), "{error:?}");
        }
    }
}
