//! An HTTP client over a socket, so that a test can say anything to a server, also what no client would.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came back.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// By name in small letters; several of one name are joined.
    pub headers: BTreeMap<String, String>,
    /// As text.
    pub body: String,
}

impl Reply {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// A header, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// It is this problem, and well formed.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{self:?}"
        );
        let problem = self.json();
        assert_eq!(problem["status"], status, "{self:?}");
        assert_eq!(problem["code"], code, "{self:?}");
        assert!(
            problem["detail"]
                .as_str()
                .is_some_and(|detail| !detail.is_empty()),
            "{self:?}"
        );
        assert_eq!(problem["type"], format!("urn:conspectus:problem:{code}"));
        problem
    }

    /// It went well.
    #[track_caller]
    pub fn done(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }
}

/// Asks on a connection of its own.
pub fn ask(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> Reply {
    let mut stream = open(address, method, path, headers, body.map(<[u8]>::len));
    stream
        .get_mut()
        .write_all(body.unwrap_or_default())
        .expect("it is read");
    read(&mut stream)
}

/// Asks and reads what comes bit by bit.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Asks; the answer's body comes with [`Self::next`].
    pub fn open(address: &str, path: &str, headers: &[(&str, &str)]) -> (Reply, Self) {
        let mut stream = open(address, "GET", path, headers, None);
        let head = read_head(&mut stream);
        (head, Self(stream))
    }

    /// The same with a JSON body that is posted.
    pub fn post(address: &str, path: &str, body: &Value) -> (Reply, Self) {
        let body = body.to_string();
        let headers = [("content-type", "application/json")];
        let mut stream = open(address, "POST", path, &headers, Some(body.len()));
        let sent = stream.get_mut().write_all(body.as_bytes());
        sent.expect("it is read");
        let head = read_head(&mut stream);
        (head, Self(stream))
    }

    /// All events to the end: their names and data.
    pub fn all(&mut self) -> Vec<(String, Value)> {
        std::iter::from_fn(|| self.event())
            .map(|event| parts(&event))
            .collect()
    }

    /// The next event with its lines, or comment; `None`: it ended.
    #[expect(clippy::should_implement_trait, reason = "it waits, and panics")]
    pub fn next(&mut self) -> Option<String> {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("it is text") == 0 {
                return None;
            }
            // Chunks are whole events here; their sizes stand between them.
            let is_size = !line.trim().is_empty()
                && line.trim().bytes().all(|b| b.is_ascii_hexdigit())
                && event.is_empty();
            match line.trim_end() {
                "0" if event.is_empty() => return None,
                "" if event.is_empty() => {}
                "" => return Some(event),
                _ if is_size => {}
                line => {
                    event.push_str(line);
                    event.push('\n');
                }
            }
        }
    }

    /// The next event that is no comment.
    pub fn event(&mut self) -> Option<String> {
        loop {
            let next = self.next()?;
            if !next.starts_with(':') {
                return Some(next);
            }
        }
    }
}

/// Name and data of an event.
pub fn parts(event: &str) -> (String, Value) {
    let line = |key: &str| event.lines().find_map(|line| line.strip_prefix(key));
    let name = line("event: ").unwrap_or_default().to_owned();
    let data = line("data: ").unwrap_or("null");
    let data = serde_json::from_str(data).unwrap_or_else(|why| panic!("{why}: {event}"));
    (name, data)
}

/// Sends the head; a body of this length is to follow.
pub fn open(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    length: Option<usize>,
) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    let is_said = |name: &str| headers.iter().any(|(said, _)| *said == name);
    if !is_said("host") {
        head.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(length) = length.filter(|_| !is_said("content-length")) {
        head.push_str(&format!("content-length: {length}\r\n"));
    }
    head.push_str("connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is read");
    BufReader::new(stream)
}

/// Reads the whole answer.
pub fn read(stream: &mut BufReader<TcpStream>) -> Reply {
    let mut reply = read_head(stream);
    let mut body = Vec::new();
    if reply.header("transfer-encoding") == "chunked" {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).expect("a size");
            let size = usize::from_str_radix(size.trim(), 16).expect("a size");
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).expect("a chunk");
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        let length = reply.header("content-length").parse().unwrap_or(0);
        body = vec![0; length];
        stream.read_exact(&mut body).expect("a body");
    }
    reply.body = String::from_utf8(body).expect("UTF-8");
    reply
}

fn read_head(stream: &mut BufReader<TcpStream>) -> Reply {
    let mut line = String::new();
    stream.read_line(&mut line).expect("an answer");
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status in {line:?}"));
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim();
        let known = headers.entry(name.to_ascii_lowercase()).or_default();
        match known.is_empty() {
            true => known.push_str(value),
            false => known.push_str(&format!(", {value}")),
        }
    }
    Reply {
        status,
        headers,
        body: String::new(),
    }
}
