use std::borrow::Cow;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Letters and digits that look drawn by lot. No key in this file was ever one.
fn made_up(chars: usize) -> String {
    "Zk3Qm9Tb7Wx1Lp5Rv8Yc2Nd6Hf4Gj0Sa"
        .chars()
        .cycle()
        .take(chars)
        .collect()
}

fn check(text: &str, expect: &str) {
    assert_eq!(Redactor::default().redact(text), expect);
}

fn stays(text: &str) {
    let redacted = Redactor::default();
    assert!(
        matches!(redacted.redact(text), Cow::Borrowed(_)),
        "{:?}",
        redacted.redact(text)
    );
}

#[test]
fn every_makers_prefix() {
    for token in tokens::TOKENS {
        let body = match token.kind {
            "aws key" => made_up(16),
            "google key" => made_up(35),
            "replicate token" => made_up(37),
            _ => made_up(64),
        };
        let secret = token.example(&body);
        for (before, after) in [
            ("", ""),
            ("key ", " then"),
            ("(", ")."),
            (r#"{"a":"x\n"#, r#""}"#),
            ("密钥是", "。"),
        ] {
            check(
                &format!("{before}{secret}{after}"),
                &format!("{before}[redacted: {}]{after}", token.kind),
            );
        }
        // In a word, too short, or a placeholder.
        stays(&token.example("abc"));
        stays(&format!("x{}", token.example(&body)));
        stays(&token.example(&"X".repeat(16)));
    }
}

#[test]
fn private_keys() {
    let line = made_up(64);
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let end = "-----END RSA PRIVATE KEY-----";
    let mark = "[redacted: private key]";
    check(
        &format!("a\n{begin}\n{line}\n{line}\nab==\n{end}\nb"),
        &format!("a\n{mark}\nb"),
    );
    check(
        &format!(r#"{{"k":"{begin}\n{line}\nab==\n{end}\n"}}"#),
        &format!(r#"{{"k":"{mark}\n"}}"#),
    );
    check(
        &format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{line}\n{end}"),
        mark,
    );
    // Cut off in the middle.
    check(&format!("{begin}\n{line}\nZk3"), &format!("{mark}\nZk3"));
    check(
        &format!("{begin}\n{line}\n[rest left out]"),
        &format!("{mark}\n[rest left out]"),
    );
    stays("A file begins with -----BEGIN PRIVATE KEY----- and then lines of base64.");
    stays(&format!(
        "-----BEGIN CERTIFICATE-----\n{line}\n-----END CERTIFICATE-----"
    ));
}

#[test]
fn web_tokens_and_addresses() {
    let part = made_up(30);
    check(
        &format!("is eyJ{part}.eyJ{part}.{part}, ok"),
        "is [redacted: web token], ok",
    );
    check(
        &format!("eyJ{part}..{part}.{part}.{part}"),
        "[redacted: web token]",
    );
    stays(&format!("eyJ{part}.eyJ{part}"));
    stays(&format!("x.eyJ{part}"));
    check(
        "postgres://app:correct-horse-battery@db.local:5432/x",
        "postgres://app:[redacted: url password]@db.local:5432/x"
            .replace("[redacted: url password]", "[redacted]")
            .as_str(),
    );
    check("redis://:tiny5@cache", "redis://:[*]@cache");
    stays("postgres://app:${DB_PASSWORD}@db/x");
    stays("https://example.org:8080/a@b");
    stays("see https://example.org/user:name and mail me@example.org");
}

#[test]
fn a_stretch_holds_no_piece_of_a_secret() {
    let redactor = own(&["key-[a-z0-9]+"], &[]).expect("a pattern");
    let text = "a key-x1y2z3w4v5u6t7 and key-t7u6v5w4x3y2z1 b";
    let check = |from: usize, to: usize, expect: &str| {
        assert_eq!(
            redactor.redact_stretch(text, from..to),
            expect,
            "{from}..{to}"
        );
    };
    check(
        0,
        text.len(),
        "a [redacted: custom] and [redacted: custom] b",
    );
    check(0, 2, "a ");
    check(3, 25, "[redacted] and ");
    check(22, 30, "nd [*]");
    check(6, 9, "[*]");
    check(30, text.len(), "[redacted] b");
    check(9, 9, "");
    // Inside of a character, or turned round.
    assert_eq!(redactor.redact_stretch("é", 1..2), "");
    assert_eq!(Redactor::off().redact_stretch(text, 3..9), "ey-x1y");
}

#[test]
fn what_stands_behind_a_name() {
    let secret = made_up(40);
    for (before, after) in [
        ("API_KEY=", ""),
        ("export GITHUB_TOKEN=\"", "\""),
        ("aws_secret_access_key = ", "\nregion = x"),
        (r#"{"client_secret": ""#, r#""}"#),
        (r#"{"x":"{\"api_key\": \""#, r#"\"}"}"#),
        ("token: ", ", next"),
        ("curl -H 'X-Api-Key: ", "'"),
        ("tool --token ", " --x"),
    ] {
        check(
            &format!("{before}{secret}{after}"),
            &format!("{before}[redacted: secret]{after}"),
        );
    }
    check(
        &format!("Authorization: Bearer {secret}"),
        "Authorization: Bearer [redacted: bearer token]",
    );
    check(
        "Authorization: Basic YWRtaW46aHVudGVyMnh4eHg0",
        "Authorization: Basic [redacted: basic login]",
    );
    check("password=hunter2 and on", "password=[*] and on");
    check("DB_PASSWORD='tr0ub4dor&3'", "DB_PASSWORD='[redacted]'");
    check(r#"password: "letmein""#, r#"password: "[*]""#);
    check("密码：hunter2024x", "密码：[redacted]");
    for code in [
        "max_tokens: 4096",
        "token = get_token(user)",
        "password: str = Field(...)",
        "\"password\": \"string\"",
        "password = settings.DB_PASSWORD",
        "secret: process.env.SECRET_KEY_2024",
        "api_key=os.environ[\"OPENAI_API_KEY\"]",
        "API_KEY=your-api-key-here-1234567",
        "token=${TOKEN_1}",
        "password: ********",
        "--token <TOKEN>",
        "input_tokens: 123456789012",
        "csrf_token: {{ csrf_token_v2_1_3 }}",
        "const token = tokens[i1];",
        "Bearer authentication is required",
        "basic understanding of things",
        "bearer token-based-authentication",
        "token: CancellationToken",
        "secret_key: path/to/secret_key.pem",
        "bypass: true, compass=N3",
    ] {
        stays(code);
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "123e4567-e89b-12d3-a456-426614174000",
        "claude-sonnet-4-20250514 gpt-4o-2024-08-06 text-embedding-3-large",
        "/usr/lib/python3.12/site-packages/task-runner-2024/disk-usage-monitor/index-1234567890.js",
        "toolu_01A09q90qw90lq917835lq9 call_abc123def456ghi789",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "class sk-fading-circle-container-wrapper",
        "hf_hub_download_from_repository_snapshot",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJz0",
        "items[*].name",
        "",
    ] {
        stays(text);
    }
}

fn own(patterns: &[&str], allow: &[&str]) -> Result<Redactor, BadPattern> {
    let list = |of: &[&str]| of.iter().map(|p| Arc::from(*p)).collect();
    Redactor::new(&RedactOption {
        enabled: None,
        patterns: list(patterns),
        allow: list(allow),
    })
}

#[test]
fn patterns_of_the_configuration() {
    let redactor =
        own(&["ACME-[0-9]+", "(?i)project falcon"], &["ACME-0+"]).expect("they are sound");
    let text = "ACME-1234567890123 of Project Falcon, not ACME-000";
    assert_eq!(
        redactor.redact(text),
        "[redacted: custom] of [redacted], not ACME-000"
    );
    assert_eq!(
        Redactor::off().redact("password=hunter2"),
        "password=hunter2"
    );
    let bad = |patterns: &[&str], allow: &[&str]| {
        own(patterns, allow).expect_err("one is bad").to_string()
    };
    assert_eq!(bad(&["a", "b("], &[]), "redact.patterns[1]: unclosed group");
    assert_eq!(
        bad(&[], &["["]),
        "redact.allow[0]: unclosed character class"
    );
    assert_eq!(
        bad(&["x*"], &[]),
        "redact.patterns[0]: it matches the empty text; say what a secret has in it"
    );
    assert_eq!(
        bad(&["(\\w{1000}){1000}"], &[]),
        "redact.patterns[0]: it is too large when compiled; make it shorter"
    );
}

#[test]
fn a_redactor_is_its_options() {
    let redactor = own(&["a+b"], &[]).expect("it is sound");
    let json = serde_json::to_string(&redactor).expect("options are plain data");
    assert_eq!(
        serde_json::from_str::<Redactor>(&json).expect("it was one"),
        redactor
    );
    assert_ne!(redactor, Redactor::default());
    assert!(serde_json::from_str::<Redactor>(r#"{"patterns":["("]}"#).is_err());
}

/// Pieces of secrets and of what stands around them, put together at random.
fn shreds() -> impl Strategy<Value = String> {
    let pieces = [
        "sk-",
        "ghp_",
        "AKIA",
        "eyJ",
        ".",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END ",
        "password",
        "=",
        ": ",
        "\"",
        "\\n",
        "\n",
        " ",
        "://",
        "@",
        ":",
        "a",
        "aaaa",
        "[redacted",
        "[redacted: custom]",
        "[*]",
        "]",
        "密",
        "token",
        "Bearer ",
        "/",
        "&lt;",
        "Zk3Qm9Tb7Wx1Lp5Rv8Yc",
        "Yc2Nd6Hf4Gj0Sa",
        "0123456789",
        "x",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|p| p.concat())
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(text in shreds()) {
        for redactor in [
            Redactor::default(),
            own(&["a$", r"\w+c\b"], &[]).expect("sound"),
            own(&["^x|redacted|[a-f]+", "(?s)token.*"], &["aa.*"]).expect("sound"),
        ] {
            let once = redactor.redact(&text).into_owned();
            prop_assert_eq!(redactor.redact(&once), once.as_str());
            prop_assert!(redactor.find(&once).is_empty());
        }
    }

    #[test]
    fn what_is_built_in_never_makes_a_text_longer(text in shreds()) {
        prop_assert!(Redactor::default().redact(&text).len() <= text.len());
    }
}

/// Texts on which a careless search would take the square of their length.
#[test]
fn the_worst_texts_take_linear_time() {
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let shapes = [
        "sk-",
        "sk-sk-1",
        "eyJ",
        "eyJaaaaaaaaaa-",
        "eyJaaaaaaaaaa.",
        "AKIA-",
        "ghp_-",
        "password=",
        "token:\"",
        "://a:",
        "://",
        "x:-----BEGIN RSA PRIVATE KEY-----\n",
        "a-a:",
        "bearer ",
        "[redacted",
        "[",
        "basic a",
        "_pass:=",
        begin,
    ];
    for shape in shapes {
        let text = shape.repeat(200_000 / shape.len());
        let redacted = Redactor::default().redact(&text).into_owned();
        assert!(redacted.len() <= text.len(), "{shape}");
    }
}
