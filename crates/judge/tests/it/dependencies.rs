//! Arrows point one way: who may reach what.

use std::process::Command;

/// The names of all crates that `package` reaches in its default build.
fn reached(package: &str) -> Vec<String> {
    reached_with(package, "")
}

/// The same with features.
fn reached_with(package: &str, features: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--package",
            package,
            "--features",
            features,
        ])
        .output()
        .expect("cargo is there, it runs this test");
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let text = String::from_utf8(tree.stdout).expect("cargo prints UTF-8");
    text.lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

fn check(package: &str, forbidden: &[&str]) {
    let reached = reached(package);
    assert!(reached.iter().any(|name| name == package), "{reached:?}");
    for name in forbidden {
        assert!(
            !reached.iter().any(|r| r == name),
            "{package} reaches {name}"
        );
    }
}

const RUNTIME: [&str; 4] = ["tokio", "async-std", "smol", "mio"];
const NETWORK: [&str; 6] = [
    "reqwest",
    "hyper",
    "rustls",
    "native-tls",
    "openssl",
    "ureq",
];
const SQL: [&str; 4] = ["sqlx", "rusqlite", "libsqlite3-sys", "tokio-postgres"];

#[test]
fn the_core_and_the_formats_do_no_input_or_output() {
    for package in [
        "conspectus-core",
        "conspectus-wire",
        "conspectus-tokens",
        "conspectus-config",
    ] {
        check(package, &[&RUNTIME[..], &NETWORK, &SQL].concat());
        check(
            package,
            &["conspectus", "conspectus-cli", "conspectus-testkit"],
        );
    }
    check(
        "conspectus-core",
        &["conspectus-wire", "conspectus-tokens", "conspectus-config"],
    );
    check(
        "conspectus-wire",
        &["conspectus-tokens", "conspectus-config"],
    );
}

#[test]
fn the_library_needs_no_runtime_of_its_own() {
    check("conspectus", &[&RUNTIME[..], &NETWORK, &SQL].concat());
    check("conspectus-agent", &[&RUNTIME[..], &NETWORK, &SQL].concat());
}

#[test]
fn models_over_http_need_only_a_c_compiler() {
    let others = ["aws-lc-sys", "openssl-sys", "native-tls"];
    check("conspectus-providers", &[&others[..], &SQL].concat());
}

/// Stores and models are the host's.
#[test]
fn the_service_reaches_no_store_and_no_model() {
    let others = [
        "reqwest",
        "rustls",
        "conspectus-providers",
        "conspectus-store",
    ];
    check("conspectus-server", &[&others[..], &SQL].concat());
}

#[test]
fn the_first_command_compiles_neither_tls_nor_sql() {
    check("conspectus-cli", &[&RUNTIME[..], &NETWORK, &SQL].concat());
}

#[test]
fn spans_and_their_export_are_compiled_for_whoever_asks_for_them() {
    for package in ["conspectus-cli", "conspectus", "conspectus-store"] {
        check(package, &["tracing-subscriber", "opentelemetry"]);
    }
    check("conspectus", &["tracing", "tracing-core"]);
    check("conspectus-cli", &["tracing", "tracing-core"]);
    let exported = reached_with("conspectus-cli", "otel");
    let is_there = |name: &str| exported.iter().any(|r| r == name);
    assert!(is_there("opentelemetry-otlp") && is_there("tracing-opentelemetry"));
    // By the HTTP client that is there anyway.
    for other in ["tonic", "h2", "openssl", "aws-lc-sys", "ureq"] {
        assert!(!is_there(other), "the export reaches {other}");
    }
}
