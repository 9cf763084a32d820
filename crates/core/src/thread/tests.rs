//! The two machines together, over conversations written as lines.

/// When automatic attempts stop, and when they go on.
mod breaker;
/// What reports teach about the counter.
mod calibration;
/// Failing calls: who waits, what is tried again, how often.
mod calls;
mod corners;
mod course;
/// What a cache, prices and caps do to decisions.
mod economics;
mod history;
mod paid;
/// What stays behind a change goes without reasoning that is bound to what was before.
mod reasoning;
/// What the first refusal teaches.
mod refusals;
/// How a model is asked, and what follows when it does not take that.
mod replaying;
mod scene;
mod shape;
mod shortening;
/// What models write, and what of it is committed.
mod summaries;

use std::sync::Arc;

use super::*;
use crate::attempt::{Attempt, Poll};
use crate::effect::{Effect, Event, Failure, Finish, Input, Reply, Route, SummaryInput};
use crate::lines::{Conversation, QuarterBytes};
use crate::outcome::{Outcome, Reason, Report};
use crate::policy::{Clause, KeepOption, ModelProfile, Options, TriggerOption};
use crate::projection::BlockKind;
use crate::record::Author;
use scene::{LONG, Scene, options, reply, tokens};
