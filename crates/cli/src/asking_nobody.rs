//! In place of [`asking`](crate::asking) in a program that was built without models: says so when one is asked for.

use conspectus::core::policy::Strategy;
use conspectus::{CompactRequest, Compaction, Document, Embedded, compact};
use conspectus_config::Config;

use crate::args::SummaryArgs;
use crate::asked::Asked;
use crate::fail::{Exit, Fail};
use crate::ui::ProgressLine;

/// How to build with them.
const BUILD: &str = "this program was built without models; build it with: cargo install --path crates/cli --features models";

/// Asks nobody.
pub(crate) struct Asking {
    warning: Option<String>,
}

/// What would be said.
#[expect(dead_code, reason = "nobody is asked")]
pub(crate) struct Telling {
    pub(crate) progress: ProgressLine,
    pub(crate) is_told: bool,
    pub(crate) is_dry: bool,
}

impl Asking {
    /// # Errors
    /// Where a flag asks for a model.
    pub(crate) fn prepare(config: &Config, args: &SummaryArgs) -> Result<Self, Fail> {
        let options = config.options();
        let is_digest = options.strategy == Some(Strategy::Digest);
        let model = args.model.is_some() && !is_digest;
        if let Some(flag) = args.needs_model().or(model.then_some("--model")) {
            let why = match flag {
                "--model" => format!("{BUILD}; or add --strategy digest, which asks no model"),
                _ => BUILD.to_owned(),
            };
            return Err(Fail::about(Exit::Usage, flag, &why));
        }
        let is_named = options.model.is_some() || !config.models().is_empty();
        let warning = (is_named && !is_digest).then(|| {
            format!(
                "the configuration names models, but {BUILD}; summaries are extracts until then"
            )
        });
        Ok(Self { warning })
    }

    /// What is to be said before anything is done.
    pub(crate) fn warning(&self) -> Option<String> {
        self.warning.clone()
    }

    /// Leaves the request as it is.
    pub(crate) fn complete(&self, _: &Config, _: &mut CompactRequest) {}

    /// Compacts without a model.
    ///
    /// # Errors
    /// When the options cannot work.
    pub(crate) fn compact(
        &self,
        _: &Config,
        (document, index): (&Document, usize),
        request: &CompactRequest,
        _: &Telling,
    ) -> Result<(Compaction, Option<Asked>), Fail> {
        let conversation = &document.conversations()[index];
        let compaction = compact(conversation, request, &mut Embedded::default())
            .map_err(|error| Fail::new(Exit::Config, error))?;
        Ok((compaction, None))
    }
}
