//! Tools of MCP servers, for `chat` and in `conspectus mcp ls`.

use std::io::Write as _;
use std::process::Stdio;

use conspectus_mcp::{McpServers, McpSettings, Place as PlaceOf};
use conspectus_testkit::server::{HttpServer, Step};
use serde_json::{Value, json};

use crate::scripted::{body, called, is_agent, said};
use crate::support::{Place, Ran};

/// An MCP server over HTTP with one tool, which asks for a key.
fn tickets() -> HttpServer {
    HttpServer::start(|_, asked| {
        let json = [("content-type", "application/json")];
        if asked.header("x-key") != Some("k-17") {
            return Step::answer(401, &json, "{}");
        }
        let Ok(message) = serde_json::from_str::<Value>(&asked.body) else {
            return Step::answer(405, &json, "");
        };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "tickets", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "find", "description": "Finds a ticket.\nSlowly.", "inputSchema": {"type": "object"},
            }]}),
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": "ticket 17: the red valve leaks"}]})
            }
            _ => return Step::answer(202, &json, ""),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        Step::answer(200, &json, &answer.to_string())
    })
}

fn config(place: &Place, tickets: &HttpServer, more: &str) {
    let url = tickets.url();
    let text = format!(
        "mcp:\n  tickets:\n    url: {url}/mcp\n    headers: {{x-key: $TICKETS_KEY}}\n  gone: {{command: no-such-program}}\n{more}"
    );
    place.write("c.yaml", text.as_bytes());
}

#[test]
fn servers_and_their_tools_are_listed() {
    let (place, tickets) = (Place::new(), tickets());
    config(&place, &tickets, "");
    let mut command = place.command(&["mcp", "ls", "--config", "c.yaml"]);
    let ran = Ran::of(&command.env("TICKETS_KEY", "k-17").output().expect("runs"));
    let expect = "tickets: 1 tool\n  mcp__tickets__find  Finds a ticket.\ngone: the program no-such-program cannot be started: \
                  No such file or directory (os error 2)\n";
    assert_eq!((ran.code, ran.out.as_str()), (3, expect), "{}", ran.err);
    let ran = place.run(&["mcp", "ls", "--config", "c.yaml", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        report["servers"][0],
        json!({"name": "tickets", "tools": [], "error": "the environment variable TICKETS_KEY is not set"})
    );
    let mut command = place.command(&["mcp", "ls", "--config", "c.yaml"]);
    let ran = Ran::of(
        &command
            .env("TICKETS_KEY", "k-wrong")
            .output()
            .expect("runs"),
    );
    assert!(
        ran.out.contains("tickets: no answer as of an MCP server"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("k-wrong"), "{}", ran.out);
    place.write("none.yaml", b"models: []\n");
    let ran = place.run(&["mcp", "ls", "--config", "none.yaml"]);
    assert!(
        ran.code == 2 && ran.err.contains("there are no servers"),
        "{}",
        ran.err
    );
}

#[test]
fn an_agent_calls_a_servers_tool() {
    let (place, tickets) = (Place::new(), tickets());
    let model = HttpServer::start(|_, asked| match is_agent(asked) {
        false => said("A ticket was looked for."),
        true if asked.body.contains("red valve") => said("The red valve leaks."),
        true => called("", "c1", "mcp__tickets__find", &json!({"id": 17})),
    });
    config(
        &place,
        &tickets,
        "agents:\n  lead: {tools: [mcp__tickets, mcp__gone__look]}\n",
    );
    let url = format!("{}/v1", model.url());
    let args = [
        "chat",
        "--config",
        "c.yaml",
        "--model",
        "m",
        "--base-url",
        &url,
        "--store",
        "sqlite:chat.db",
    ];
    let mut command = place.command(&args);
    Place::without_keys(&mut command);
    let mut child = command
        .env("TICKETS_KEY", "k-17")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"What is ticket 17?\n").expect("it reads");
    drop(stdin);
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "The red valve leaks.\n"),
        "{}",
        ran.err
    );
    assert!(
        ran.err
            .contains("MCP server gone: the program no-such-program cannot be started"),
        "{}",
        ran.err
    );
    // Only what the agent may have, which is the server's tool and those that belong to its middleware.
    let tools = body(&model.asked()[0])["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert!(
        names.contains(&"mcp__tickets__find") && !names.contains(&"read_file"),
        "{names:?}"
    );
}

/// Threads offered to a client, which is the real one that agents have.
#[test]
fn a_client_lists_recalls_and_compacts_threads() {
    let place = Place::new();
    let said = |n: usize| {
        let role = ["user", "assistant"][n % 2];
        json!({"role": role, "content": format!("Step {n}: the valve with the number {} was turned. {}", n * 7, "Slowly. ".repeat(40))})
    };
    let messages: Vec<Value> = (0..60).map(said).collect();
    place.write(
        "talk.json",
        json!({ "messages": messages }).to_string().as_bytes(),
    );
    let at = ["--store", "sqlite:talk.db"];
    let import = [
        "thread",
        "import",
        "talk.json",
        "--id",
        "boiler",
        "--title",
        "The boiler",
    ];
    place.run(&[&import[..], &at].concat()).done();

    let program = place.command(&[]).get_program().to_owned();
    let folder = place.path("");
    let program = program.to_str().expect("a path").to_owned();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let serve = format!(
        "cd '{}' && exec '{program}' mcp serve --store sqlite:talk.db",
        folder.display()
    );
    let client = McpServers::new([McpSettings::new(
        "talk",
        PlaceOf::command("sh", ["-c", &serve]),
    )]);
    runtime.block_on(async {
        let listed = client.connect().await.pop().expect("one server");
        let tools = listed.tools.expect("it has tools");
        let call = async |name: &str, args: Value| {
            let tool = tools.iter().find(|tool| tool.name_there() == name);
            let args = args.as_object().cloned().unwrap_or_default();
            tool.expect("it is offered").perform(args).await
        };
        let names: Vec<&str> = tools.iter().map(|tool| tool.name_there()).collect();
        assert_eq!(names, ["compact", "recall", "threads"]);
        let threads = call("threads", json!({})).await.content;
        assert!(
            threads.contains("boiler") && threads.contains("The boiler"),
            "{threads}"
        );
        let done = call("compact", json!({"thread": "boiler"})).await;
        assert!(
            !done.is_error && done.content.contains("compacted"),
            "{done:?}"
        );
        let found = call("recall", json!({"thread": "boiler", "words": "number 21"}))
            .await
            .content;
        assert!(
            found.contains("Step 3: the valve with the number 21 was turned."),
            "{found}"
        );
        let which = call("recall", json!({"words": "valve"})).await;
        assert!(
            which.is_error && which.content.contains("Name one"),
            "{which:?}"
        );
        let nobody = call("recall", json!({"thread": "tea", "words": "x"})).await;
        assert!(
            nobody.is_error && nobody.content.contains("there is no such thread"),
            "{nobody:?}"
        );
        client.end().await;
    });
    let ran = place.run(&[&["mcp", "serve"][..], &at].concat());
    assert!(
        ran.code == 4 && ran.err.contains("no word as of an MCP client"),
        "{}",
        ran.err
    );
    // What a client did can be taken back.
    place
        .run(&[&["thread", "undo", "boiler"][..], &at].concat())
        .done();
}
