//! The conversations, as files.

/// How large a conversation is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Messages; rounded up to whole rounds of four.
    pub messages: usize,
    /// Bytes of text a message has on average.
    pub mean_bytes: usize,
}

const WORDS: [&str; 48] = [
    "the",
    "test",
    "in",
    "src/thread/mod.rs",
    "fails",
    "because",
    "branch",
    "returns",
    "an",
    "empty",
    "list",
    "when",
    "nothing",
    "was",
    "appended",
    "fn",
    "position(&self)",
    "->",
    "Option<usize>",
    "{",
    "}",
    "let",
    "mut",
    "count",
    "=",
    "0;",
    "error[E0308]:",
    "mismatched",
    "types",
    "expected",
    "found",
    "1024",
    "running",
    "ok.",
    "passed;",
    "\n",
    "\n    ",
    "please",
    "keep",
    "session",
    "token",
    "2026-11-30",
    "warning:",
    "unused",
    "/var/log/app.log",
    "GET",
    "200",
    "\\\"quoted\\\"",
];

/// A small generator of numbers: figures must not depend on a crate's version.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }

    /// Text of about `bytes` bytes, as it stands inside a JSON string.
    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let word = WORDS[self.below(WORDS.len())];
            text.push_str(&word.replace('\n', "\\n"));
            text.push(' ');
        }
        text
    }
}

/// One round of texts: request, argument, result, reply.
struct Round {
    number: usize,
    request: String,
    path: String,
    result: String,
    reply: String,
}

fn rounds(shape: Shape) -> impl Iterator<Item = Round> {
    let mut numbers = Numbers(1);
    let mean = shape.mean_bytes;
    let seen_before = numbers.text(mean * 3);
    (0..shape.messages.div_ceil(4)).map(move |number| {
        let result = match number {
            n if n % 50 == 49 => seen_before.clone(),
            n if n % 10 == 9 => numbers.text(mean * 12),
            _ => numbers.text(mean),
        };
        Round {
            number,
            request: numbers.text(mean / 2),
            path: format!(
                "src/part_{}/file_{}.rs",
                numbers.below(40),
                numbers.below(400)
            ),
            result,
            reply: numbers.text(mean + mean / 4),
        }
    })
}

/// A list of OpenAI's chat messages.
pub fn openai(shape: Shape) -> String {
    let mut out =
        String::from("[{\"role\":\"system\",\"content\":\"You are a careful engineer.\"}");
    for Round {
        number,
        request,
        path,
        result,
        reply,
    } in rounds(shape)
    {
        out.push_str(&format!(
            ",\n{{\"role\":\"user\",\"content\":\"{request}\"}},\n\
             {{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"call_{number}\",\"type\":\"function\",\
             \"function\":{{\"name\":\"read_file\",\"arguments\":\"{{\\\"path\\\":\\\"{path}\\\"}}\"}}}}]}},\n\
             {{\"role\":\"tool\",\"tool_call_id\":\"call_{number}\",\"content\":\"{result}\"}},\n\
             {{\"role\":\"assistant\",\"content\":\"{reply}\"}}"
        ));
    }
    out.push_str("]\n");
    out
}

/// A session file of Claude Code. Records repeat the result in a field of their own, as the client does.
pub fn claude_code(shape: Shape) -> String {
    let mut out = String::new();
    let mut last = String::from("null");
    let mut line = |kind: &str, body: &str| {
        let uuid = format!("\"00000000-0000-4000-8000-{:012x}\"", out.len());
        out.push_str(&format!(
            "{{\"parentUuid\":{last},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/code/app\",\
             \"sessionId\":\"6f1c\",\"version\":\"2.0.50\",\"gitBranch\":\"main\",\"type\":\"{kind}\",{body},\
             \"uuid\":{uuid},\"timestamp\":\"2026-11-30T08:00:00.000Z\"}}\n"
        ));
        last = uuid;
    };
    for Round {
        number,
        request,
        path,
        result,
        reply,
    } in rounds(shape)
    {
        line(
            "user",
            &format!("\"message\":{{\"role\":\"user\",\"content\":\"{request}\"}}"),
        );
        let assistant = |id: &str, block: &str| {
            format!(
                "\"message\":{{\"id\":\"{id}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{block}],\
                 \"usage\":{{\"input_tokens\":5,\"cache_read_input_tokens\":70,\"cache_creation_input_tokens\":25,\
                 \"output_tokens\":9}}}}"
            )
        };
        let call = format!(
            "{{\"type\":\"tool_use\",\"id\":\"toolu_{number}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"{path}\"}}}}"
        );
        line("assistant", &assistant(&format!("msg_{number}a"), &call));
        line(
            "user",
            &format!(
                "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{number}\",\"type\":\"tool_result\",\
                 \"content\":\"{result}\"}}]}},\"toolUseResult\":{{\"type\":\"text\",\"content\":\"{result}\"}}"
            ),
        );
        let text = format!("{{\"type\":\"text\",\"text\":\"{reply}\"}}");
        line("assistant", &assistant(&format!("msg_{number}b"), &text));
    }
    out
}
