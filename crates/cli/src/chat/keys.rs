//! What comes from outside: lines of standard input, and Ctrl-C.

use std::io::BufRead as _;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc};

/// Lines and interrupts.
pub(super) struct Keys {
    lines: mpsc::Receiver<String>,
    interrupts: Arc<Notify>,
}

/// What came.
pub(super) enum Came {
    Line(String),
    /// There will be no more lines.
    End,
    Interrupt,
}

impl Keys {
    /// Listens from now on. To be made within the runtime.
    pub(super) fn listen() -> Self {
        let (sender, lines) = mpsc::channel(1);
        // Reading cannot be stopped, so it has a thread of its own, which the end of the program does not wait for.
        std::thread::spawn(move || {
            let mut whole = String::new();
            for line in std::io::stdin().lock().split(b'\n') {
                let Ok(line) = line else { return };
                let line = String::from_utf8_lossy(&line);
                let line = line.trim_end_matches('\r');
                if let Some(part) = line.strip_suffix('\\') {
                    whole.push_str(part);
                    whole.push('\n');
                    continue;
                }
                whole.push_str(line);
                if sender.blocking_send(std::mem::take(&mut whole)).is_err() {
                    return;
                }
            }
            if !whole.is_empty() {
                let _ = sender.blocking_send(whole);
            }
        });
        let interrupts = Arc::new(Notify::new());
        let pressed = interrupts.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                pressed.notify_one();
            }
        });
        Self { lines, interrupts }
    }

    /// Waits for the next of both.
    pub(super) async fn next(&mut self) -> Came {
        tokio::select! {
            line = self.lines.recv() => line.map_or(Came::End, Came::Line),
            () = self.interrupts.notified() => Came::Interrupt,
        }
    }

    /// Waits for Ctrl-C alone; lines wait.
    pub(super) async fn interrupted(&self) {
        self.interrupts.notified().await;
    }
}
