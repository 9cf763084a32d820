//! In place of [`proxying`](crate::proxying) in a program that was built without the proxy: says so.

use crate::Done;
use crate::args::ProxyArgs;
use crate::fail::{Exit, Fail};

/// How to build with it.
const BUILD: &str = "this program was built without the proxy; build it with: cargo install --path crates/cli --features proxy";

/// Passes nothing on.
pub(crate) fn run(_: &ProxyArgs) -> Done {
    Err(Fail::about(Exit::Usage, "proxy", BUILD))
}

#[cfg(feature = "serve")]
pub(crate) use nobody::Beside;

/// No proxy stands beside a service.
#[cfg(feature = "serve")]
mod nobody {
    use std::sync::Arc;

    use conspectus::store::ThreadStore;
    use conspectus_config::Config;
    use conspectus_server::Log;

    use super::BUILD;
    use crate::fail::{Exit, Fail};
    use crate::threads::store::Address;

    pub(crate) struct Beside;

    impl Beside {
        /// # Errors
        /// When the configuration wants one.
        pub(crate) fn of(config: &Config) -> Result<Self, Fail> {
            match config.proxy().upstreams.is_empty() {
                true => Ok(Self),
                false => Err(Fail::about(Exit::Config, "proxy", BUILD)),
            }
        }

        pub(crate) async fn bind(
            self,
            _: &Address,
            _: Arc<dyn ThreadStore>,
            _: Log,
        ) -> Result<Self, Fail> {
            Ok(self)
        }

        pub(crate) fn announce(&self) -> Result<(), Fail> {
            Ok(())
        }

        pub(crate) async fn run(self, _: impl Future<Output = ()>) {}
    }
}
