//! `conspectus proxy`: flags and the configuration become a running proxy.

mod key;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use conspectus::Clock;
use conspectus_config::Config;
use conspectus_providers::TokioClock;
use conspectus_proxy::{Proxy, Settings, Summaries, Upstream};
use conspectus_server::{Log, Tokens};

use crate::Done;
use crate::args::ProxyArgs;
use crate::fail::{Exit, Fail, io_words};
use crate::job::{load, named_file};
use crate::models;
use crate::serving::signals;
use crate::threads::store::address;
use crate::ui;

/// Runs until it is told to stop.
pub(crate) fn run(args: &ProxyArgs) -> Done {
    let path = args.config.clone().or_else(named_file);
    let config = models::completed(load(path.as_deref())?);
    let model = models::run_model(&config, None).map_err(|why| Fail::new(Exit::Config, why))?;
    config
        .resolve(&model)
        .map_err(|why| Fail::new(Exit::Config, why))?;
    let settings = settings(&config, args)?;
    // A fault ends no request: it goes on as it came. Where it is is told, not what it says.
    std::panic::set_hook(Box::new(|info| {
        if let Some(at) = info.location() {
            line(&format!("fault at {at}; please report it"));
        }
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|why| Fail::about(Exit::Usage, "proxy", &io_words(&why)))?;
    runtime.block_on(serve(&config, args, settings))
}

fn settings(config: &Config, args: &ProxyArgs) -> Result<Settings, Fail> {
    let parse = |text: &String| {
        let upstream = Upstream::parse(text);
        upstream.map_err(|why| Fail::about(Exit::Usage, "--upstream", &why.to_string()))
    };
    let mut upstreams = args
        .upstream
        .iter()
        .map(parse)
        .collect::<Result<Vec<_>, _>>()?;
    for name in &args.strict {
        match upstreams
            .iter_mut()
            .find(|upstream| *upstream.name == **name)
        {
            Some(upstream) => upstream.strict = conspectus_proxy::Strict::ALL,
            None => {
                let why = format!("no upstream is called {name:?}");
                return Err(Fail::about(Exit::Usage, "--strict", &why));
            }
        }
    }
    let settings = Settings::new(&upstreams);
    let mut settings = settings.map_err(|why| Fail::new(Exit::Usage, why))?;
    if let Some(listen) = args.listen {
        settings.listen = listen;
    }
    if let Some(path) = &args.tokens {
        settings.tokens = tokens(path)?;
    }
    settings.hosts = config.server().hosts.clone();
    settings.origins = config.server().origins.clone();
    settings.options = config.options().clone();
    settings.observe = args.observe;
    settings.headers = !args.no_headers;
    settings.summaries = match (&args.summary_model, args.summarize) {
        (Some(model), _) => Summaries::Client {
            model: Some(model.as_str().into()),
        },
        (None, true) => Summaries::Client { model: None },
        (None, false) => Summaries::Digest,
    };
    Ok(settings)
}

fn tokens(path: &Path) -> Result<Tokens, Fail> {
    let name = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|why| Fail::about(Exit::Config, &name, &io_words(&why)))?;
    Tokens::parse(&text).map_err(|why| Fail::about(Exit::Config, name, &why.to_string()))
}

async fn serve(config: &Config, args: &ProxyArgs, mut settings: Settings) -> Done {
    let place = address(args.store.as_deref(), config.server().store.as_ref())?;
    let store = place.open().await?;
    if let Some(file) = place.file() {
        settings.capsule_key = key::beside(file)?;
    }
    let log = match args.log {
        true => Log::new(line),
        false => Log::none(),
    };
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
    let listen = settings.listen;
    let proxy = Proxy::bind(settings, store, clock, log).await;
    let proxy = proxy.map_err(|why| Fail::about(Exit::Usage, listen, &why.to_string()))?;
    ui::write_out(format!("listening on http://{}\n", proxy.address()).as_bytes())?;
    proxy.run(signals::stop()?).await;
    Ok(Exit::Done)
}

/// A line on standard error. A log that cannot be written is no reason to stop.
fn line(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
