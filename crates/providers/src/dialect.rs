//! What an API adds to HTTP: how a call is spelled, and how an answer is read.

use conspectus::core::effect::Failure;
use conspectus::wire::sse::SseEvent;
use conspectus::{ModelCall, TurnRequest};

use crate::draft::Draft;

/// One API. Values in, values out; the transport does the rest.
pub(crate) trait Dialect: Send + Sync {
    /// The request body of an agent's call.
    fn turn_body(&self, request: &TurnRequest) -> Result<Vec<u8>, Failure>;

    /// The request body.
    fn body(&self, call: &ModelCall) -> Result<Vec<u8>, Failure>;

    /// Reads an answer that came as one JSON document.
    fn whole(&self, json: &str, draft: &mut Draft) -> Result<(), Odd>;

    /// Reads one event of a stream.
    fn event(&self, event: &SseEvent, draft: &mut Draft) -> Result<(), Odd>;
}

/// Why an answer with a good status is no reply.
#[derive(Debug)]
pub(crate) enum Odd {
    /// It is an error after all: this JSON, which may quote the key.
    Stated(String),
    /// It is not what this API answers.
    Foreign,
}
