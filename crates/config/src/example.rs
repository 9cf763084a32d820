//! A file to begin with, one a preset. The same files stand in `examples/config`, which a test compares.

use conspectus_core::policy::Preset;

/// A configuration file of this preset with its options explained. It loads as it is.
pub fn example(preset: Preset) -> &'static str {
    match preset {
        Preset::Default => include_str!("example/default.yaml"),
        Preset::Deerflow => include_str!("example/deerflow.yaml"),
        Preset::Langchain => include_str!("example/langchain.yaml"),
        Preset::Nous => include_str!("example/nous.yaml"),
    }
}
