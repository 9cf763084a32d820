//! `compact --thread`, and what a compaction came to.

use conspectus::core::policy::Strategy;
use conspectus::threads::CompactThread;

use super::place::{Ask, Missing, Place, checked, open};
use super::{Told, runs, show, tell, told};
use crate::Done;
use crate::args::{CompactArgs, PolicyArgs, SummaryArgs};
use crate::fail::{Exit, Fail};
use crate::job;
use crate::ui;

/// `compact --thread`.
pub(crate) fn compact(args: CompactArgs) -> Done {
    let thread = args.thread.clone().unwrap_or_default();
    let json = args.json;
    tell("compact", json, || {
        let id = checked(&thread)?;
        let compact = CompactThread {
            force: args.force || (!args.if_due && args.policy.trigger.is_empty()),
            below_keep: args.policy.below_keep,
            keep: args.policy.keep,
            focus: args.summary.focus.as_deref().map(Into::into),
            model_name: args.summary.model.as_deref().map(Into::into),
            strategy: args.summary.strategy,
            dry_run: args.dry_run,
            ..CompactThread::default()
        };
        if args.place.server.is_some()
            && let Some(flag) = only_here(&args.summary, &args.policy)
        {
            let why =
                "a service compacts by its own configuration and the thread's policy; leave it out";
            return Err(Fail::about(Exit::Usage, flag, why));
        }
        let (summary, policy) = (args.summary, args.policy);
        let place = open(&args.place, Missing::Refuse, move || {
            let policy = job::policy(policy, summary.model.as_deref(), &summary)?;
            for warning in policy.warnings.borrow().iter() {
                ui::warning(warning);
            }
            let runs = runs(&policy, &summary)?;
            let options = policy.config().options();
            let first = runs.listed.first().map(|model| &*model.name);
            let run = summary.model.as_deref().or(first);
            let is_asked = |name: &str| run == Some(name) || options.model.as_deref() == Some(name);
            let writers = runs.listed.iter().filter(|model| is_asked(&model.name));
            let writers: Vec<String> = writers
                .map(|model| format!("{} at {}", model.name, model.endpoint))
                .collect();
            let is_digest = options.strategy == Some(Strategy::Digest);
            if !writers.is_empty() && !is_digest && !json {
                ui::note(&format!("may be asked: {}", writers.join(", ")));
            }
            Ok((policy, runs))
        })?;
        compaction(&*place, &id, &Ask::Compact(&compact), true)
    })
}

/// Compacts or applies, and looks up what came of it.
pub(super) fn compaction(
    place: &dyn Place,
    id: &str,
    ask: &Ask<'_>,
    may_be_preview: bool,
) -> Result<Told, Fail> {
    let shown = place.name().to_owned();
    let mut told = told(place, Some(id), ask, move |answer, style| {
        show::compacted(answer, &shown, style)
    })?;
    let is_preview = may_be_preview && told.result["preview"].is_string();
    let outcome = told.result["outcome"].as_str().unwrap_or_default();
    told.exit = match outcome {
        "compacted" | "pruned" | "skipped" | "nothing_to_compact" | "disabled" => Exit::Done,
        "cancelled" => Exit::Stopped,
        "config_error" => Exit::Config,
        _ => Exit::Compaction,
    };
    let is_change = ["compacted", "pruned"].contains(&outcome) && !is_preview;
    let entry = match is_change {
        // It is in force whether or not that can be looked up.
        true => place.ask(id, &Ask::Log { limit: 1 }).ok(),
        false => None,
    };
    let entry = entry.and_then(|mut log| Some(log.get_mut(0)?.take()));
    if let Some(result) = told.result.as_object_mut() {
        result.insert("entry".to_owned(), entry.unwrap_or_default());
    }
    Ok(told)
}

/// The first of the flags that a service has no word for.
fn only_here(summary: &SummaryArgs, policy: &PolicyArgs) -> Option<&'static str> {
    let said = [
        (policy.config.is_some(), "--config"),
        (policy.preset.is_some(), "--preset"),
        (!policy.trigger.is_empty(), "--trigger"),
        (policy.max_context.is_some(), "--max-context"),
        (policy.prune_over.is_some(), "--prune-over"),
        (policy.strict_parity, "--strict-parity"),
        (summary.summary_model.is_some(), "--summary-model"),
        (summary.on_failure.is_some(), "--on-failure"),
        (summary.base_url.is_some(), "--base-url"),
        (summary.provider.is_some(), "--provider"),
        (summary.api_key_env.is_some(), "--api-key-env"),
    ];
    said.into_iter()
        .find_map(|(said, flag)| said.then_some(flag))
}
