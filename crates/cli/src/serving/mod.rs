//! `conspectus serve`: the configuration's store, models and section `server:` become a running service.

#[cfg(feature = "otel")]
mod otel;
#[cfg(not(feature = "otel"))]
#[path = "unexported.rs"]
mod otel;
pub(crate) mod signals;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use conspectus::telemetry::Telemetry;
use conspectus::threads::{Settings as ThreadSettings, Threads};
use conspectus::{Clock, Compactor, Policy};
use conspectus_config::Config;
use conspectus_providers::TokioClock;
use conspectus_server::{Log, Metrics, Server, Settings, Tokens, instance};

use self::otel::Exporting;
use crate::Done;
use crate::args::ServeArgs;
use crate::asking::served;
use crate::fail::{Exit, Fail, io_words};
use crate::job::{load, named_file};
use crate::models;
use crate::threads::store::address;
use crate::ui;

/// Runs until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Done {
    let path = args.config.clone().or_else(named_file);
    let config = models::completed(load(path.as_deref())?);
    // What cannot work is said now, not to the first who asks.
    let model = models::run_model(&config, None).map_err(|why| Fail::new(Exit::Config, why))?;
    let resolved = config
        .resolve(&model)
        .map_err(|why| Fail::new(Exit::Config, why))?;
    for warning in &resolved.warnings {
        ui::warning(&warning.to_string());
    }
    let settings = settings(&config, args)?;
    // A fault ends one request. Where it is is told, not what it says: that may be somebody's words.
    std::panic::set_hook(Box::new(|info| {
        if let Some(at) = info.location() {
            log(&format!("fault at {at}; please report it"));
        }
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|why| Fail::about(Exit::Usage, "serve", &io_words(&why)))?;
    runtime.block_on(serve(&config, &resolved.policy, args, settings))
}

/// Where to listen and who may ask: the flags over the file.
fn settings(config: &Config, args: &ServeArgs) -> Result<Settings, Fail> {
    let mut section = config.server().clone();
    section.listen = args.listen.or(section.listen);
    let tokens = match (&args.tokens, &section.tokens) {
        (Some(path), _) => tokens(path)?,
        (None, Some(path)) => tokens(Path::new(&**path))?,
        (None, None) => Tokens::default(),
    };
    Settings::new(&section, tokens).map_err(|why| Fail::new(Exit::Config, why))
}

fn tokens(path: &Path) -> Result<Tokens, Fail> {
    let name = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|why| Fail::about(Exit::Config, &name, &io_words(&why)))?;
    Tokens::parse(&text).map_err(|why| Fail::about(Exit::Config, name, &why.to_string()))
}

async fn serve(config: &Config, policy: &Policy, args: &ServeArgs, settings: Settings) -> Done {
    let store = address(args.store.as_deref(), config.server().store.as_ref())?
        .open()
        .await?;
    let (models, listed) = served(config, policy.summary.call_timeout_ms);
    let metrics = Metrics::new();
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
    let telemetry = Telemetry::new().with(metrics.clone());
    let compactor = Compactor::new(models, clock).with_telemetry(telemetry);
    let mut with = ThreadSettings::new(instance());
    with.options = config.options().clone();
    with.models = listed;
    with.agents.clone_from(config.agents());
    let threads = Threads::new(store, Arc::new(compactor), with);
    let listen = settings.listen;
    let exporting = Exporting::begin(log);
    let settings = exporting.settle(settings);
    let server = Server::bind(settings, Arc::new(threads), metrics, Log::new(log)).await;
    let server = server.map_err(|why| Fail::about(Exit::Usage, listen, &io_words(&why)))?;
    ui::write_out(format!("listening on http://{}\n", server.address()).as_bytes())?;
    server.run(signals::stop()?).await;
    exporting.end().await;
    Ok(Exit::Done)
}

/// A line on standard error. A log that cannot be written is no reason to stop.
fn log(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
