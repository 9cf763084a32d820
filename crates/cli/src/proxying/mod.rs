//! `conspectus proxy`: flags over the section `proxy:` of the configuration become a running proxy; and the proxy beside
//! `conspectus serve`.

mod key;
mod settings;

use std::sync::Arc;

use conspectus::Clock;
use conspectus::store::ThreadStore;
use conspectus_config::Config;
use conspectus_providers::TokioClock;
use conspectus_proxy::{Proxy, Settings};
use conspectus_server::Log;

use crate::Done;
use crate::args::ProxyArgs;
use crate::fail::{Exit, Fail};
use crate::serving::otel::Exporting;
use crate::serving::{completed, log, on_runtime, resolved, signals};
use crate::threads::store::{Address, address};
use crate::ui;

/// Runs until it is told to stop.
pub(crate) fn run(args: &ProxyArgs) -> Done {
    let config = completed(&args.at)?;
    resolved(&config)?;
    let settings = settings::of_flags(&config, args)?;
    on_runtime("proxy", serve(&config, args, settings))
}

async fn serve(config: &Config, args: &ProxyArgs, settings: Settings) -> Done {
    let place = address(args.at.store.as_deref(), config.server().store.as_ref())?;
    let store = place.open().await?;
    let exporting = Exporting::begin(log);
    let log = match args.log {
        true => Log::new(log),
        false => Log::none(),
    };
    let proxy = bound(settings, &place, store, log).await?;
    ui::write_out(format!("listening on http://{}\n", proxy.address()).as_bytes())?;
    proxy.run(signals::stop()?).await;
    exporting.end().await;
    Ok(Exit::Done)
}

async fn bound(
    mut settings: Settings,
    place: &Address,
    store: Arc<dyn ThreadStore>,
    log: Log,
) -> Result<Proxy, Fail> {
    if let Some(file) = place.file() {
        settings.capsule_key = key::beside(file)?;
    }
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
    let listen = settings.listen;
    let proxy = Proxy::bind(settings, store, clock, log).await;
    proxy.map_err(|why| Fail::about(Exit::Usage, listen, &why.to_string()))
}

/// The proxy beside a service, if the configuration names upstreams.
pub(crate) struct Beside(Option<Settings>);

/// The same, listening.
pub(crate) struct Bound(Option<Proxy>);

impl Beside {
    /// # Errors
    /// When it could not run so.
    pub(crate) fn of(config: &Config) -> Result<Self, Fail> {
        let is_wanted = !config.proxy().upstreams.is_empty();
        Ok(Self(match is_wanted {
            true => Some(settings::of_file(config)?),
            false => None,
        }))
    }

    /// Listens, on the service's store.
    ///
    /// # Errors
    /// When it cannot.
    pub(crate) async fn bind(
        self,
        place: &Address,
        store: Arc<dyn ThreadStore>,
        log: Log,
    ) -> Result<Bound, Fail> {
        Ok(Bound(match self.0 {
            Some(settings) => Some(bound(settings, place, store, log).await?),
            None => None,
        }))
    }
}

impl Bound {
    /// Says where it listens.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(crate) fn announce(&self) -> Result<(), Fail> {
        match &self.0 {
            Some(proxy) => {
                let line = format!("proxy on http://{}\n", proxy.address());
                Ok(ui::write_out(line.as_bytes())?)
            }
            None => Ok(()),
        }
    }

    /// Runs until `until` ends.
    pub(crate) async fn run(self, until: impl Future<Output = ()>) {
        if let Some(proxy) = self.0 {
            proxy.run(until).await;
        }
    }
}
