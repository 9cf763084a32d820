//! What is known of a model: what the configuration says, and for the rest the catalog.

use conspectus::core::policy::{Prices, Rates};
use conspectus::{ModelProfile, catalog};
use conspectus_config::{Config, ConfigError, Model};

/// The configuration with its models completed from the catalog.
pub(crate) fn completed(config: Config) -> Config {
    config.complete_models(of_list)
}

/// The model that conversations run on: [`Config::run_model`], and where there is no list, what the catalog knows of
/// the name.
pub(crate) fn run_model(config: &Config, name: Option<&str>) -> Result<ModelProfile, ConfigError> {
    let model = config.run_model(name)?;
    match config.models().is_empty() {
        true => Ok(catalog::complete(model, None, None)),
        false => Ok(model),
    }
}

/// The model that a session names: the list's, by either of its names; without a list the catalog's. `None`: there is a
/// list, and it is not in it.
pub(crate) fn of_session(config: &Config, name: &str) -> Option<ModelProfile> {
    if config.models().is_empty() {
        return Some(catalog::profile(name, None));
    }
    let mut listed = config.models().iter();
    let found = listed.find(|m| *m.name == *name || *m.model == *name);
    found.map(Model::profile)
}

fn of_list(model: &Model) -> ModelProfile {
    let provider = model.provider.as_deref();
    let mut profile = catalog::complete(model.profile(), Some(&model.model), provider);
    let said = &model.prices;
    let is_said = [said.input, said.output, said.cache_read, said.cache_write];
    if is_said.iter().any(Option::is_some) {
        // What is said goes before; what is said of input and output alone has the usual prices of a cache.
        let known = catalog::look_up(&model.model, provider).and_then(|known| known.prices);
        let known = known.map(|prices| prices.rates);
        let micros = |dollars: Option<f64>| dollars.map(|d| (d * 1e6).round() as u64);
        let input = micros(said.input).or(known.map(|k| k.input));
        let output = micros(said.output).or(known.map(|k| k.output));
        let of_cache = |said: Option<f64>, known: Option<u64>| {
            micros(said).or(known.filter(|_| model.prices.input.is_none()))
        };
        let read = of_cache(said.cache_read, known.map(|k| k.cache_read));
        let write = of_cache(said.cache_write, known.map(|k| k.cache_write));
        let rates = |input, output| -> Rates {
            catalog::with_cache_prices(input, output, read, write, &model.model)
        };
        profile.prices = input.zip(output).map(|(i, o)| Prices::flat(rates(i, o)));
    }
    if profile.cache.is_none() {
        profile.cache = provider.and_then(catalog::prefix_cache);
    }
    profile
}
