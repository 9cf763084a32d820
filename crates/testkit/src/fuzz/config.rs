//! What people and environments configure.

use conspectus_config::{Config, Overrides, TriggerArg, parse_keep, parse_preset, parse_trigger};
use conspectus_core::policy::ModelProfile;

use super::{MAX_BYTES, SECRET};

/// The configuration file, the flags' values and the environment's.
pub fn config(data: &[u8]) {
    if data.len() > MAX_BYTES {
        return;
    }
    let text = String::from_utf8_lossy(data);
    let _ = parse_keep(&text).map_err(|e| short(&e.to_string()));
    let _ = parse_preset(&text).map_err(|e| short(&e.to_string()));
    let trigger: Result<TriggerArg, _> = parse_trigger(&text).map_err(|e| short(&e.to_string()));
    for option in ["TRIGGER", "KEEP", "PRUNE", "MAX_RETRIES", "SUMMARY_PROMPT"] {
        let name = format!("CONSPECTUS_SUMMARIZATION_{option}");
        if let Err(error) = Config::default().with_environment([(&name, &*text)]) {
            let error = error.to_string();
            assert!(error.starts_with(&name), "{error}");
            short(&error);
        }
    }
    let config = match Config::load("config.yaml", &text) {
        Ok(config) => config,
        Err(error) => return short(&error.to_string()),
    };
    config.warnings().iter().for_each(|w| short(&w.to_string()));
    assert!(!format!("{:?}", config.models()).contains(SECRET) || is_named(&config));
    let flags = Overrides {
        trigger: trigger.into_iter().collect(),
        ..Overrides::default()
    };
    let profile = ModelProfile {
        name: Some("m".into()),
        window: Some(100_000),
        max_output: Some(4_096),
        ..ModelProfile::default()
    };
    for profile in [profile, config.run_model(None).unwrap_or_default()] {
        match config
            .clone()
            .with_overrides(&flags)
            .and_then(|c| c.resolve(&profile))
        {
            Ok(resolved) => {
                for text in resolved.advice.iter().map(ToString::to_string) {
                    assert!(!text.is_empty());
                }
                let policy = resolved.policy;
                assert!(policy.output_reserve < policy.window);
                assert!(
                    policy
                        .triggers
                        .iter()
                        .all(|t| t.tokens.or(t.messages).is_some())
                );
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Whether the secret stands where a name belongs, which is shown.
fn is_named(config: &Config) -> bool {
    config.models().iter().any(|model| {
        let plain = [
            Some(&model.name),
            Some(&model.model),
            model.provider.as_ref(),
            model.base_url.as_ref(),
        ];
        let headers = model.headers.iter().map(|(name, _)| name);
        plain
            .into_iter()
            .flatten()
            .chain(headers)
            .any(|text| text.contains(SECRET))
            || model
                .api_key
                .as_ref()
                .is_some_and(|key| key.variable().is_some())
    })
}

fn short(message: &str) {
    assert!(!message.contains(SECRET), "{message}");
    assert!(
        message.chars().count() < 1_000,
        "a short message: {message}"
    );
}
