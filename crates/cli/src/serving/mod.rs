//! `conspectus serve`: the configuration's store, models and section `server:` become a running service.

#[cfg(feature = "otel")]
pub(crate) mod otel;
#[cfg(not(feature = "otel"))]
#[path = "unexported.rs"]
pub(crate) mod otel;
pub(crate) mod signals;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use conspectus::telemetry::Telemetry;
use conspectus::threads::{Settings as ThreadSettings, Threads};
use conspectus::{Clock, Compactor, Policy};
use conspectus_agent::Runs;
use conspectus_config::{Config, ResolvedConfig};
use conspectus_providers::TokioClock;
use conspectus_server::{Log, Metrics, Server, Settings, Tokens, instance};

use self::otel::Exporting;
use crate::Done;
use crate::agents;
use crate::args::{PlaceToRun, ServeArgs};
use crate::asking::served;
use crate::fail::{Exit, Fail, io_words};
use crate::job::{load, named_file};
use crate::mcp::Begun;
use crate::models;
use crate::proxying::Beside;
use crate::threads::store::address;
use crate::ui;

/// Runs until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Done {
    let config = completed(&args.at)?;
    // What cannot work is said now, not to the first who asks.
    let resolved = resolved(&config)?;
    for warning in &resolved.warnings {
        ui::warning(&warning.to_string());
    }
    let settings = settings(&config, args)?;
    let beside = Beside::of(&config)?;
    on_runtime(
        "serve",
        serve(&config, &resolved.policy, args, settings, beside),
    )
}

/// The configuration, with what is known of its models.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn completed(at: &PlaceToRun) -> Result<Config, Fail> {
    let path = at.config.clone().or_else(named_file);
    Ok(models::completed(load(path.as_deref())?))
}

/// What it comes to.
///
/// # Errors
/// When it cannot be.
pub(crate) fn resolved(config: &Config) -> Result<ResolvedConfig, Fail> {
    let model = models::run_model(config, None).map_err(|why| Fail::new(Exit::Config, why))?;
    config
        .resolve(&model)
        .map_err(|why| Fail::new(Exit::Config, why))
}

/// Runs it to its end, on a runtime of its own.
pub(crate) fn on_runtime(name: &str, work: impl Future<Output = Done>) -> Done {
    // A fault ends one request. Where it is is told, not what it says: that may be somebody's words.
    std::panic::set_hook(Box::new(|info| {
        if let Some(at) = info.location() {
            log(&format!("fault at {at}; please report it"));
        }
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|why| Fail::about(Exit::Usage, name, &io_words(&why)))?;
    runtime.block_on(work)
}

/// Where to listen and who may ask: the flags over the file.
fn settings(config: &Config, args: &ServeArgs) -> Result<Settings, Fail> {
    let mut section = config.server().clone();
    section.listen = args.at.listen.or(section.listen);
    let tokens = tokens(args.at.tokens.as_deref(), &[&section.tokens])?;
    Settings::new(&section, tokens).map_err(|why| Fail::new(Exit::Config, why))
}

/// Tokens of the file that the flag names, else of the first one that is said.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn tokens(flag: Option<&Path>, said: &[&Option<Arc<str>>]) -> Result<Tokens, Fail> {
    let said = said.iter().find_map(|said| said.as_deref());
    let Some(path) = flag.or(said.map(Path::new)) else {
        return Ok(Tokens::default());
    };
    let name = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|why| Fail::about(Exit::Config, &name, &io_words(&why)))?;
    Tokens::parse(&text).map_err(|why| Fail::about(Exit::Config, name, &why.to_string()))
}

async fn serve(
    config: &Config,
    policy: &Policy,
    args: &ServeArgs,
    settings: Settings,
    beside: Beside,
) -> Done {
    let place = address(args.at.store.as_deref(), config.server().store.as_ref())?;
    let store = place.open().await?;
    let made = served(config, policy.summary.call_timeout_ms);
    let runs_agents = !made.listed.is_empty();
    let metrics = Metrics::new();
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
    let telemetry = Telemetry::new().with(metrics.clone());
    let compactor = Compactor::new(made.models, clock).with_telemetry(telemetry);
    let mut with = ThreadSettings::new(instance());
    with.options = config.options().clone();
    with.models = made.listed;
    with.agents.clone_from(config.agents());
    with.lease_ms = config.server().lease_ms.unwrap_or(with.lease_ms);
    let threads = Arc::new(Threads::new(store.clone(), Arc::new(compactor), with));
    let servers = match runs_agents {
        true => Some(Begun::of(config).await),
        false => None,
    };
    let troubles = servers.iter().flat_map(Begun::troubles);
    troubles.for_each(|why| ui::warning(&why));
    let tools = servers.as_ref().map_or(Vec::new(), Begun::tools);
    let agents = agents::setup(config, threads.clone(), made.agents, &tools)?;
    let listen = settings.listen;
    let exporting = Exporting::begin(log);
    let settings = exporting.settle(settings);
    let server = Server::bind(settings, threads, metrics, Log::new(log)).await;
    let mut server = server.map_err(|why| Fail::about(Exit::Usage, listen, &io_words(&why)))?;
    if runs_agents {
        server = server.with_runs(Runs::new(agents));
    }
    let proxy = beside.bind(&place, store, Log::new(log)).await?;
    ui::write_out(format!("listening on http://{}\n", server.address()).as_bytes())?;
    proxy.announce()?;
    let stop = signals::stop()?;
    let (tell, told) = tokio::sync::watch::channel(());
    let until = || {
        let mut told = told.clone();
        async move {
            // Nothing is ever said: it ends.
            let _ = told.changed().await;
        }
    };
    let stopping = async {
        stop.await;
        drop(tell);
    };
    tokio::join!(stopping, server.run(until()), proxy.run(until()));
    if let Some(servers) = servers {
        servers.end().await;
    }
    exporting.end().await;
    Ok(Exit::Done)
}

/// A line on standard error. A log that cannot be written is no reason to stop.
pub(crate) fn log(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
