//! Rollouts that no client would write: any records in any order.

use conspectus_core::id::Ident;
use conspectus_core::projection::Piece;
use conspectus_wire::{Document, Format, OpenOptions, RenderContext};
use proptest::prelude::*;

use crate::support::{everything, keep, script, shape, summary};

fn item() -> impl Strategy<Value = String> {
    let said = ("user|assistant|developer|robot", "[a-z]{1,4}").prop_map(|(role, text)| {
        format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    });
    let call = (0..3u8).prop_map(|n| {
        format!(r#"{{"type":"function_call","id":"f{n}","call_id":"c{n}","name":"t","arguments":"{{}}"}}"#)
    });
    let output = (0..3u8).prop_map(|n| {
        format!(r#"{{"type":"function_call_output","call_id":"c{n}","output":"o"}}"#)
    });
    let odd = prop::sample::select(vec![
        r#"{"type":"reasoning","summary":[],"encrypted_content":"E"}"#,
        r#"{"type":"local_shell_call_output","id":"l","output":"o"}"#,
        r#"{"type":"web_search_call","status":"completed"}"#,
        r#"{"type":"additional_tools","role":"developer","tools":[]}"#,
        r#"{"type":"ghost_snapshot"}"#,
        r#"{"type":"compaction","encrypted_content":"E"}"#,
        r#"{"type":"message","role":"user","content":"<environment_context>"}"#,
        r#"{"type":"message","role":"user"}"#,
        r#"{"type":"message","role":"user","role":"user","content":"twice"}"#,
        r#"{"type":"never_seen","x":[1,{}]}"#,
        r#"{"role":"user","content":"easy"}"#,
        r#"{"x":1}"#,
        r#"{}"#,
    ]);
    prop_oneof![4 => said, 3 => call, 3 => output, 3 => odd.prop_map(str::to_owned)]
}

fn record() -> impl Strategy<Value = String> {
    let list = prop::collection::vec(prop_oneof![9 => item(), 1 => Just("7".to_owned())], 0..4);
    let compacted = (list, any::<bool>()).prop_map(|(list, has_list)| match has_list {
        true => format!(
            r#""type":"compacted","payload":{{"message":"m","replacement_history":[{}]}}"#,
            list.join(",")
        ),
        false => r#""type":"compacted","payload":{"message":"old summary"}"#.to_owned(),
    });
    let count = (0..4u8).prop_map(|n| {
        format!(r#""type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{n}}},"last_token_usage":{{"input_tokens":{n},"total_tokens":{n}}}}}}}"#)
    });
    let back = (0..4u8).prop_map(|n| {
        format!(r#""type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{n}}}"#)
    });
    let other = prop::sample::select(vec![
        r#""type":"event_msg","payload":{"type":"task_started"}"#,
        r#""type":"session_meta","payload":{"id":"s"}"#,
        r#""type":"turn_context","payload":{}"#,
        r#""type":"world_state","payload":{"full":true}"#,
        r#""type":"world_state","payload":{"full":false}"#,
        r#""type":"compacted","payload":{"message":7}"#,
        r#""type":"event_msg","payload":7"#,
        r#""type":"unheard_of","payload":{}"#,
    ]);
    let body = prop_oneof![
        12 => item().prop_map(|item| format!(r#""type":"response_item","payload":{item}"#)),
        2 => compacted,
        2 => count,
        2 => back,
        4 => other.prop_map(str::to_owned),
    ];
    let ordinal = prop_oneof![2 => Just(String::new()), 1 => (0..9u8).prop_map(|n| format!("\"ordinal\":{n},"))];
    let whole = (ordinal, body).prop_map(|(ordinal, body)| format!("{{{ordinal}{body}}}\n"));
    prop_oneof![
        20 => whole,
        2 => item().prop_map(|item| item + "\n"),
        1 => "[{\\[\"x][^\n]{0,20}\n",
    ]
}

fn open(text: &str) -> Document {
    let options = OpenOptions {
        format: Some(Format::Codex),
        lenient: true,
    };
    Document::open(text.as_bytes().to_vec(), &options).expect("lenient reading goes on")
}

proptest! {
    #[test]
    fn what_is_kept_is_what_is_read(
        records in prop::collection::vec(record(), 1..24),
        choice in prop::collection::vec(any::<bool>(), 24),
        with_summary in any::<bool>(),
    ) {
        let text = records.concat();
        let document = open(&text);
        let conversation = &document.conversations()[0];
        let whole = document.render(&[(0, &everything(conversation))], &RenderContext::default());
        prop_assert_eq!(whole.unwrap(), text.as_bytes());

        // That a message was the summary is told by its place, which it loses when it is kept.
        let shown = |conversation| -> Vec<String> {
            shape(conversation).iter().map(|row| row.replace("!summary", "")).collect()
        };
        let rows = shown(conversation);
        let mut pieces: Vec<Piece> = Vec::new();
        let mut expect: Vec<(String, Option<Ident>)> = Vec::new();
        if with_summary {
            pieces.push(summary("S"));
            expect.push(("user: text=S".to_owned(), None));
        }
        for (n, view) in conversation.views().iter().enumerate() {
            if choice[n % choice.len()] {
                pieces.push(keep(view.handle.0));
                expect.push((rows[n].clone(), Some(view.ident)));
            }
        }
        let is_all = expect.len() == rows.len() && !with_summary;
        let bytes = document.render(&[(0, &script(pieces))], &RenderContext::default()).unwrap();
        let after = String::from_utf8(bytes).unwrap();
        prop_assert!(after.starts_with(&text));
        prop_assert_eq!(is_all, after == text);
        let again = open(&after);
        let conversation = &again.conversations()[0];
        let found: Vec<_> = shown(conversation).into_iter().zip(conversation.views()).collect();
        prop_assert_eq!(found.len(), expect.len(), "{}", after);
        for ((row, view), (expected, ident)) in found.into_iter().zip(expect) {
            prop_assert_eq!(&row, &expected, "{}", after);
            prop_assert!(ident.is_none_or(|ident| ident == view.ident));
        }
    }
}
