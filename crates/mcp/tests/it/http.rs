//! A server over streamable HTTP on the loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conspectus_mcp::{McpServers, McpSettings, Place};
use serde_json::{Value, json};

use crate::answers::{Answer, answer};
use crate::{call, check, is_a_server, only};

/// Ends with its test.
struct Served {
    url: String,
    stop: Arc<AtomicBool>,
    keys: Arc<Mutex<Vec<Option<String>>>>,
}

impl Served {
    fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let served = Self {
            url: format!("http://{address}/mcp"),
            stop: Arc::default(),
            keys: Arc::default(),
        };
        let (stop, keys) = (served.stop.clone(), served.keys.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let keys = keys.clone();
                std::thread::spawn(move || serve(stream, &keys));
            }
        });
        served
    }

    fn settings(&self) -> McpSettings {
        let headers = vec![("x-ticket-key".to_owned(), "k-lantern".to_owned())];
        let url = self.url.clone();
        let mut settings = McpSettings::new("boiler", Place::Url { url, headers });
        settings.max_result_chars = 1_000;
        settings
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let address = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        // Wakes the listener, which sees that it is over.
        let _ = TcpStream::connect(address);
    }
}

/// One request a connection.
fn serve(mut stream: TcpStream, keys: &Mutex<Vec<Option<String>>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
    let header = |name: &str| {
        let line = head
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with(name));
        line.and_then(|line| line.split_once(": "))
            .map(|(_, value)| value.to_owned())
    };
    keys.lock().expect("whole").push(header("x-ticket-key"));
    let length = header("content-length").and_then(|value| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("the body");
    let message: Option<Value> = serde_json::from_slice(&body).ok();
    let (status, said) = match message.as_ref().map(answer) {
        Some(Answer::Say(said)) => ("200 OK", said.to_string()),
        Some(Answer::Nothing) => ("202 Accepted", String::new()),
        Some(Answer::Silence) => return std::thread::sleep(Duration::from_secs(5)),
        Some(Answer::Death) => return,
        // A stream of its own accord is not offered.
        None => ("405 Method Not Allowed", String::new()),
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{said}",
        said.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_a_server() {
    let served = Served::begin();
    is_a_server(served.settings()).await;
    let keys = served.keys.lock().expect("whole");
    assert!(
        keys.iter().all(|key| key.as_deref() == Some("k-lantern")),
        "{keys:?}"
    );
    assert!(!format!("{:?}", served.settings()).contains("k-lantern"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_is_a_result_and_the_next_call_goes_on() {
    let served = Served::begin();
    let servers = McpServers::new([served.settings()]);
    let tools = only(&servers).await;
    let broke = call(&tools, "dies", json!({})).await;
    assert!(
        broke.is_error && broke.content.starts_with("Error: MCP server boiler: "),
        "{broke:?}"
    );
    check(
        &call(&tools, "echo", json!({"text": "on"})).await,
        false,
        "on",
    );
    servers.end().await;
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!(
        "http://{}/mcp?key=secret-17",
        listener.local_addr().expect("one")
    );
    drop(listener);
    let listed = McpServers::new([McpSettings::new("x", Place::url(url))])
        .connect()
        .await;
    let why = listed[0]
        .tools
        .as_ref()
        .expect_err("nobody listens")
        .to_string();
    assert_eq!(
        why,
        "no answer as of an MCP server: Client error: error sending request"
    );
}
