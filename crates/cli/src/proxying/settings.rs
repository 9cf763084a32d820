//! How the proxy runs: the section `proxy:`, flags over it, and what the environment says of proxies.

use std::time::Duration;

use conspectus_config::{Config, Summarize};
use conspectus_proxy::{STRICT, Settings, Strict, Summaries, Upstream};

use crate::args::ProxyArgs;
use crate::fail::{Exit, Fail};
use crate::serving::tokens;

const DAY: u64 = 24 * 60 * 60;

/// What the file says.
///
/// # Errors
/// When the proxy could not run so.
pub(super) fn of_file(config: &Config) -> Result<Settings, Fail> {
    made(config, Vec::new(), None)
}

/// What the file says, and flags over it.
///
/// # Errors
/// When the proxy could not run so.
pub(super) fn of_flags(config: &Config, args: &ProxyArgs) -> Result<Settings, Fail> {
    let parse = |text: &String| {
        let upstream = Upstream::parse(text);
        upstream.map_err(|why| Fail::about(Exit::Usage, "--upstream", &why.to_string()))
    };
    let flags = args.upstream.iter().map(parse);
    made(config, flags.collect::<Result<_, _>>()?, Some(args))
}

/// `flags`: the upstreams of the command line, which stand in the place of the file's.
fn made(config: &Config, flags: Vec<Upstream>, args: Option<&ProxyArgs>) -> Result<Settings, Fail> {
    let section = config.proxy();
    let mut upstreams = match flags.is_empty() {
        true => of_section(config)?,
        false => flags,
    };
    for text in args.iter().flat_map(|args| &args.strict) {
        strict(&mut upstreams, text)?;
    }
    let settings = Settings::new(&upstreams);
    let mut settings = settings.map_err(|why| Fail::new(Exit::Usage, why))?;
    let flag = |flag: fn(&ProxyArgs) -> bool| args.is_some_and(flag);
    if let Some(listen) = args.and_then(|args| args.at.listen).or(section.listen) {
        settings.listen = listen;
    }
    let of_flag = args.and_then(|args| args.at.tokens.as_deref());
    settings.tokens = tokens(of_flag, &[&section.tokens, &config.server().tokens])?;
    settings.hosts = config.server().hosts.clone();
    settings.origins = config.server().origins.clone();
    settings.options = config.options().clone();
    settings.observe = flag(|args| args.observe) || section.observe == Some(true);
    settings.headers = !flag(|args| args.no_headers) && section.headers != Some(false);
    let model = args.and_then(|args| args.summary_model.as_deref());
    settings.summaries = match (model, flag(|args| args.summarize), &section.summarize) {
        (Some(model), ..) => Summaries::Client {
            model: Some(model.into()),
        },
        (None, true, _) | (None, false, Some(Summarize::Own)) => Summaries::Client { model: None },
        (None, false, Some(Summarize::Model(model))) => Summaries::Client {
            model: Some(model.clone()),
        },
        (None, false, None | Some(Summarize::Nobody)) => Summaries::Digest,
    };
    if let Some(ms) = section.keep_alive_ms {
        settings.limits.keep_alive = Duration::from_millis(ms);
    }
    if let Some(ms) = section.wait_ms {
        settings.limits.wait = Duration::from_millis(ms);
    }
    if let Some(bytes) = section.max_body_bytes {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX);
        (settings.limits.max_body, settings.limits.max_unpacked) = (most, most);
    }
    if let Some(days) = section.keep_days {
        settings.keep.time = Duration::from_secs(days.saturating_mul(DAY));
    }
    settings.keep.threads = section.keep_threads.unwrap_or(settings.keep.threads);
    settings.https_proxy = said(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]);
    settings.no_proxy = said(&["NO_PROXY", "no_proxy"]);
    Ok(settings)
}

fn of_section(config: &Config) -> Result<Vec<Upstream>, Fail> {
    let all = &config.proxy().upstreams;
    if all.is_empty() {
        let why = "there is no upstream; name one with --upstream, or in the section proxy: of the configuration";
        return Err(Fail::about(Exit::Usage, "proxy", why));
    }
    let read = |said: &conspectus_config::UpstreamSection| {
        let fail = |why: conspectus_proxy::UpstreamError| {
            let option = format!("proxy.upstreams.{}", said.name);
            Fail::about(Exit::Config, option, &why.to_string())
        };
        let mut upstream = Upstream::new(&said.name, &said.url).map_err(fail)?;
        // Their names are the configuration's, which knows the same ones.
        let rules = said.strict.iter().filter(|name| STRICT.contains(name));
        upstream.strict = rules.fold(Strict::default(), |all, name| all.with(name).unwrap_or(all));
        upstream.drop_block = said.drop_block;
        Ok(upstream)
    };
    all.iter().map(read).collect()
}

/// `NAME`, or `NAME=RULE,RULE`.
fn strict(upstreams: &mut [Upstream], text: &str) -> Result<(), Fail> {
    let fail = |why: String| Fail::about(Exit::Usage, "--strict", &why);
    let (name, rules) = match text.split_once('=') {
        Some((name, rules)) => (name, Some(rules)),
        None => (text, None),
    };
    let Some(upstream) = upstreams
        .iter_mut()
        .find(|upstream| *upstream.name == *name)
    else {
        return Err(fail(format!("no upstream is called {name:?}")));
    };
    let Some(rules) = rules else {
        upstream.strict = Strict::ALL;
        return Ok(());
    };
    for rule in rules.split(',') {
        let more = upstream.strict.with(rule.trim());
        let known = || {
            fail(format!(
                "{rule:?} is no rule; there are {}",
                STRICT.join(", ")
            ))
        };
        upstream.strict = more.ok_or_else(known)?;
    }
    Ok(())
}

/// The first of these variables that says something.
fn said(names: &[&str]) -> String {
    let of = |name: &&str| std::env::var_os(name)?.into_string().ok();
    let mut all = names.iter().filter_map(of);
    all.find(|value| !value.trim().is_empty())
        .unwrap_or_default()
}
