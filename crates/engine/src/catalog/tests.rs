use super::*;

#[track_caller]
fn check(name: &str, expect: Option<(&str, u64)>) {
    let found = look_up(name, None).map(|known| (known.key, known.window));
    assert_eq!(found, expect, "{name}");
}

#[test]
fn names_as_they_occur() {
    let sonnet_4 = Some(("claude-sonnet-4", 200_000));
    let sonnet_45 = Some(("claude-sonnet-4-5", 200_000));
    for name in [
        "claude-sonnet-4",
        "claude-sonnet-4-20250514",
        "anthropic/claude-sonnet-4",
        "anthropic.claude-sonnet-4-20250514-v1:0",
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "claude-sonnet-4@20250514",
        "litellm_proxy/claude-sonnet-4-20250514",
        "arn:aws:bedrock:us-east-1:000000000000:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
        "publishers/anthropic/models/claude-sonnet-4@20250514",
        " Claude-Sonnet-4 ",
    ] {
        check(name, sonnet_4);
    }
    for name in [
        "claude-sonnet-4.5",
        "claude-sonnet-4-5-20250929",
        "openrouter/anthropic/claude-sonnet-4.5:beta",
        "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ] {
        check(name, sonnet_45);
    }
    check(
        "claude-sonnet-4-5-20250929[1m]",
        Some(("claude-sonnet-4-5", 1_000_000)),
    );
    check("gpt-4o-mini-2024-07-18", Some(("gpt-4o-mini", 128_000)));
    check("azure/gpt-4o", Some(("gpt-4o", 128_000)));
    // A dated one that differs from its successor.
    check("gpt-3.5-turbo-0613", Some(("gpt-3-5-turbo-0613", 4_095)));
    check("gpt-3.5-turbo", Some(("gpt-3-5-turbo", 16_385)));
    check("models/gemini-2.5-pro", Some(("gemini-2-5-pro", 1_048_576)));
    check(
        "deepseek/deepseek-chat:free",
        Some(("deepseek-chat", 64_000)),
    );
    // A host that gives less.
    check(
        "github-copilot/gpt-4.1",
        Some(("github-copilot/gpt-4-1", 128_000)),
    );
    for unknown in [
        "",
        "/",
        ":free",
        "default",
        "my-model",
        "gpt",
        "claude",
        "<synthetic>",
        "🦀",
    ] {
        check(unknown, None);
    }
}

#[test]
fn a_host_that_is_known_from_elsewhere() {
    let known = look_up("gpt-4.1", Some("copilot")).expect("in the table");
    assert_eq!(known.key, "github-copilot/gpt-4-1");
    let known = look_up("gpt-4.1", Some("openai")).expect("in the table");
    assert_eq!(known.key, "gpt-4-1");
}

/// The figures of a row, in micro-dollars.
#[test]
fn a_row_is_read_whole() {
    let known = look_up("gpt-5.6-sol", None).expect("in the table");
    let (window, input, output) = (known.window, known.max_input, known.max_output);
    assert_eq!(
        (window, input, output),
        (1_050_000, Some(922_000), Some(128_000))
    );
    let rates = |input, output, cache_read, cache_write| Rates {
        input,
        output,
        cache_read,
        cache_write,
    };
    let prices = Prices {
        rates: rates(4_000_000, 20_000_000, 400_000, 5_000_000),
        long: Some((272_000, rates(8_000_000, 30_000_000, 800_000, 10_000_000))),
    };
    assert_eq!(known.prices, Some(prices));
    let ttl = known.cache.map(|cache| cache.ttl_ms);
    assert_eq!(ttl, Some(30 * 60_000));
    // The cache's prices where the data are silent: a quarter more for writing is this maker's rule.
    let opus = look_up("claude-opus-4-8", None).and_then(|known| known.prices);
    let opus = opus.expect("has a price").rates;
    assert_eq!(opus, rates(5_000_000, 25_000_000, 500_000, 6_250_000));
    let gpt = look_up("gpt-5.4", None).and_then(|known| known.prices);
    let gpt = gpt.expect("has a price").rates;
    assert_eq!(gpt, rates(2_500_000, 15_000_000, 250_000, 2_500_000));
}

#[test]
fn what_the_owner_says_wins() {
    let said = ModelProfile {
        name: Some("mine".into()),
        window: Some(50_000),
        ..ModelProfile::default()
    };
    let full = complete(said.clone(), Some("gpt-5"), Some("openai"));
    assert_eq!((full.window, full.max_input), (Some(50_000), None));
    assert_eq!(full.max_output, Some(128_000));
    assert_eq!(full.name.as_deref(), Some("mine"));
    assert!(full.prices.is_some() && full.cache.is_some());
    assert_eq!(complete(said.clone(), None, None), said, "not in the table");
    let by_name = profile("gpt-5", None);
    let sizes = (by_name.window, by_name.max_input, by_name.max_output);
    assert_eq!(sizes, (Some(400_000), Some(272_000), Some(128_000)));
    assert_eq!(profile("nobody's", None).window, None);
}

/// Every row can be found by its own name and read, and the table is what its first lines say.
#[test]
fn the_table_is_whole() {
    let lines: Vec<&str> = rows().lines().collect();
    assert!(lines.len() > 1_000 && TABLE.len() < 150_000);
    let keys: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    for (line, key) in lines.iter().zip(&keys) {
        let known = Known::of(line).expect("a row");
        assert!(
            known.window >= 1024 && known.max_input.is_none_or(|m| m < known.window),
            "{line}"
        );
        assert_eq!(row(key), Some(*line));
        let own = key.rsplit('/').next().unwrap_or(key);
        assert_eq!(name::fold(own), own, "a key is its own fold");
        let fields = line.split('\t').skip(4).filter(|f| !f.is_empty());
        assert!(fields.into_iter().all(|f| micros(f).is_some()), "{line}");
    }
    let told = format!("# Rows: {},", lines.len());
    assert!(TABLE.lines().any(|line| line.starts_with(&told)));
    assert!(row("").is_none() && row("zzzz").is_none() && row("a").is_none());
}
