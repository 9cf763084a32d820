//! What calls of an attempt cost is told, whatever became of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::cost::spent_micros;
use conspectus_core::effect::{CallNumber, Input};
use conspectus_core::outcome::Report;

use super::scene::{Checked, Scene};
use crate::simulate::Traced;

impl Scene<'_> {
    /// F14: a call is paid by the highest report of what it cost, whether it was answered, failed or was stopped.
    pub(super) fn paid(
        &mut self,
        trace: &[Traced<Input>],
        asked: &BTreeMap<CallNumber, Option<Arc<str>>>,
        report: &Report,
    ) -> Checked {
        let mut paid: BTreeMap<CallNumber, u64> = BTreeMap::new();
        for step in trace {
            let (call, usage) = match step {
                Traced::Fed(_, Input::Usage(call, usage)) => (call, Some(usage)),
                Traced::Fed(_, Input::Reply(call, reply)) => (call, reply.usage.as_ref()),
                _ => continue,
            };
            let policy = &self.thread.policy().cost;
            let model = asked.get(call);
            let prices = model.and_then(|model| policy.prices_of(model.as_deref()));
            if let (Some(usage), Some(prices)) = (usage, prices) {
                let highest = paid.entry(*call).or_default();
                *highest = spent_micros(usage, &prices).max(*highest);
            }
        }
        let (expect, told) = (paid.values().sum::<u64>(), report.measured.spent_micros);
        if told != expect {
            return Err(format!("F14: {told} micro-dollars told, {expect} reported"));
        }
        if expect > 0 {
            self.story.note("attempts that are paid");
        }
        Ok(())
    }
}
