//! An HTTP server on loopback that answers as scripted and keeps what it was asked. It ends with its value.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The target as it stands in the first line.
    pub target: String,
    /// The headers, names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Asked {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(n, _)| n == name);
        header.map(|(_, value)| value.as_str())
    }
}

/// What the server does, one after another. At the end it closes the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends bytes.
    Send(String),
    /// Sends the same bytes until the other side hangs up.
    Repeat(String),
    /// Does nothing until the other side hangs up.
    Stall,
}

impl Step {
    /// A whole answer.
    pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<Self> {
        let length = body.len().to_string();
        let headers = [headers, &[("content-length", length.as_str())]].concat();
        vec![Self::head(status, &headers), Self::Send(body.to_owned())]
    }

    /// The head of an answer. Without a length its body goes on until the connection is closed.
    pub fn head(status: u16, headers: &[(&str, &str)]) -> Self {
        let lines: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        Self::Send(format!(
            "HTTP/1.1 {status} Scripted\r\n{lines}connection: close\r\n\r\n"
        ))
    }
}

/// The server.
pub struct HttpServer {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    ended: AtomicBool,
    seen: Mutex<Seen>,
    changed: Condvar,
}

#[derive(Default)]
struct Seen {
    asked: Vec<Asked>,
    hung_up: usize,
    open: Vec<TcpStream>,
    serving: Vec<JoinHandle<()>>,
}

impl HttpServer {
    /// Answers each request as `script` says; its number counts from 0.
    ///
    /// # Panics
    /// When there is no free port on loopback.
    pub fn start(script: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State::default());
        let accepting = {
            let (state, script) = (state.clone(), Arc::new(script));
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    if state.ended.load(Ordering::SeqCst) {
                        return;
                    }
                    let Ok(copy) = stream.try_clone() else {
                        continue;
                    };
                    let (served, script) = (state.clone(), script.clone());
                    let serving = std::thread::spawn(move || {
                        served.serve(&stream, script.as_ref());
                        // The other copy would keep it open.
                        let _ = stream.shutdown(Shutdown::Both);
                    });
                    let mut seen = state.lock();
                    seen.open.push(copy);
                    seen.serving.push(serving);
                }
            })
        };
        Self {
            address,
            state,
            accepting: Some(accepting),
        }
    }

    /// Gives every request the same answer.
    pub fn always(steps: Vec<Step>) -> Self {
        Self::start(move |_, _| steps.clone())
    }

    /// `http://127.0.0.1:port`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.lock().asked.clone()
    }

    /// Waits until this many requests have come, ten seconds at most.
    pub fn wait_for_requests(&self, count: usize) -> bool {
        self.wait(|seen| seen.asked.len() >= count)
    }

    /// Waits until the other side has hung up on this many answers, ten seconds at most.
    pub fn wait_for_hang_ups(&self, count: usize) -> bool {
        self.wait(|seen| seen.hung_up >= count)
    }

    fn wait(&self, is_reached: impl Fn(&Seen) -> bool) -> bool {
        let seen = self.state.lock();
        let most = Duration::from_secs(10);
        let waited = self
            .state
            .changed
            .wait_timeout_while(seen, most, |seen| !is_reached(seen));
        waited.is_ok_and(|(_, timeout)| !timeout.timed_out())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
        // Wakes the one that accepts.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let (open, serving) = {
            let mut seen = self.state.lock();
            (
                std::mem::take(&mut seen.open),
                std::mem::take(&mut seen.serving),
            )
        };
        for stream in open {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in serving {
            let _ = thread.join();
        }
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: &TcpStream, script: &dyn Fn(usize, &Asked) -> Vec<Step>) {
        let Some(asked) = read(stream) else { return };
        let number = {
            let mut seen = self.lock();
            seen.asked.push(asked.clone());
            self.changed.notify_all();
            seen.asked.len() - 1
        };
        let mut out = stream;
        for step in script(number, &asked) {
            let is_gone = match step {
                Step::Send(bytes) => out.write_all(bytes.as_bytes()).is_err(),
                Step::Repeat(bytes) => {
                    while out.write_all(bytes.as_bytes()).is_ok() {}
                    true
                }
                Step::Stall => {
                    // Nothing more is sent by the other side: the read ends when it hangs up.
                    let _ = out.read(&mut [0]);
                    true
                }
            };
            if is_gone {
                self.lock().hung_up += 1;
                self.changed.notify_all();
                return;
            }
        }
    }
}

/// Reads one request with a body of known length.
fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ');
    let mut asked = Asked {
        method: words.next()?.to_owned(),
        target: words.next()?.to_owned(),
        ..Asked::default()
    };
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        asked.headers.push(header);
    }
    let length = asked.header("content-length").and_then(|l| l.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    Some(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_keeps_and_ends() {
        let server = HttpServer::start(|number, asked| {
            Step::answer(200, &[], &format!("{number} {}", asked.body))
        });
        let ask = |body: &str| {
            let mut stream = TcpStream::connect(server.address).expect("it listens");
            let length = body.len();
            write!(
                stream,
                "POST /a HTTP/1.1\r\nX-A: b\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .expect("it reads");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it answers");
            answer.lines().last().unwrap_or_default().to_owned()
        };
        assert_eq!((ask("one"), ask("two")), ("0 one".into(), "1 two".into()));
        let asked = server.asked();
        assert_eq!(
            (asked[1].target.as_str(), asked[1].header("x-a")),
            ("/a", Some("b"))
        );
        drop(TcpStream::connect(server.address).expect("it listens still"));
        drop(server);
    }
}
