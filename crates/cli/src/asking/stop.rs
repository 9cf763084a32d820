//! Ctrl-C: it cancels the attempt under way, so that its calls are closed and nothing is written. At any other time
//! it ends the program, as it would without us.

use std::sync::{Arc, Mutex, PoisonError};

use conspectus::Control;

use crate::fail::Exit;

/// What Ctrl-C stops.
#[derive(Default)]
pub(crate) struct Stop(Mutex<Option<Control>>);

impl Stop {
    /// Until the answer is dropped, this attempt is what is stopped.
    pub(crate) fn while_running(&self, control: &Control) -> Running<'_> {
        self.set(Some(control.clone()));
        Running(self)
    }

    /// Listens for as long as the program lives.
    pub(crate) async fn listen(self: Arc<Self>) {
        while tokio::signal::ctrl_c().await.is_ok() {
            // A second one is meant for the program.
            match self.take() {
                Some(control) => control.cancel(),
                None => std::process::exit(i32::from(Exit::Stopped.code())),
            }
        }
    }

    fn take(&self) -> Option<Control> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, control: Option<Control>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = control;
    }
}

/// An attempt that can be stopped.
pub(crate) struct Running<'s>(&'s Stop);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}
