//! What every provider makes of a good answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use conspectus::core::effect::{Failure, Finish, Reply};
use conspectus::core::view::Usage;
use conspectus_testkit::server::{HttpServer, Step};

use crate::api::{APIS, Api, Says, block_on, call, events, json_answer};

fn usage(api: Api) -> Usage {
    Usage {
        input: 1536,
        output: 24,
        cache_read: 1280,
        cache_write: 128,
        reported_total: (api.name == "openai").then_some(1560),
        provider: None,
    }
}

fn each(check: impl Fn(Api, bool)) {
    for api in APIS {
        for stream in [true, false] {
            check(api, stream);
        }
    }
}

#[test]
fn replies_are_text_an_end_and_figures() {
    each(|api, stream| {
        for (says, text, finish) in [
            (Says::Text, "Tea — done.", Finish::Stop),
            (Says::CutOff, "Tea — done.", Finish::Length),
            (Says::ToolCall, "", Finish::ToolCalls),
            (Says::ReasoningAndText, "Tea — done.", Finish::Stop),
            (Says::ReasoningOnly, "", Finish::Stop),
            (Says::Refusal, "Tea — done.", Finish::Refused),
        ] {
            let server = HttpServer::always(api.answer(says, stream));
            let mut endpoint = api.endpoint(&server);
            endpoint.stream = stream;
            let expect = Reply {
                text: text.into(),
                finish,
                usage: Some(usage(api)),
            };
            assert_eq!(
                api.ask(&endpoint),
                Ok(expect),
                "{} {stream} {says:?}",
                api.name
            );
            assert_eq!(server.asked().len(), 1, "one call asks once");
        }
    });
}

#[test]
fn a_server_may_stream_or_not_whatever_it_was_asked() {
    each(|api, stream| {
        let server = HttpServer::always(api.answer(Says::Text, !stream));
        let mut endpoint = api.endpoint(&server);
        endpoint.stream = stream;
        let reply = api.ask(&endpoint).unwrap();
        assert_eq!(
            (&*reply.text, reply.usage),
            ("Tea — done.", Some(usage(api)))
        );
    });
}

#[test]
fn a_stream_is_read_however_it_is_cut_and_labelled() {
    for api in APIS {
        let body = (api.stream)(Says::Text).concat();
        for (cut, label) in [
            (1, "text/event-stream"),
            (7, "text/event-stream"),
            (7, "text/plain"),
        ] {
            let mut steps = vec![Step::head(200, &[("content-type", label)])];
            let chars: Vec<char> = body.chars().collect();
            steps.extend(chars.chunks(cut).map(|c| Step::Send(c.iter().collect())));
            let server = HttpServer::always(steps);
            let reply = api.ask(&api.endpoint(&server)).unwrap();
            assert_eq!(
                (&*reply.text, reply.finish),
                ("Tea — done.", Finish::Stop),
                "{} {cut} {label}",
                api.name
            );
        }
    }
}

#[test]
fn a_stream_that_forgets_its_last_lines_is_whole_when_its_end_was_told() {
    for api in APIS {
        let mut said = (api.stream)(Says::Text);
        said.pop();
        let last = said.pop().unwrap();
        // Without the terminator, and the last event without its empty line.
        said.push(last.trim_end().to_owned());
        for stalls in [false, true] {
            let mut steps = vec![events()];
            steps.extend(said.iter().cloned().map(Step::Send));
            if stalls {
                steps.insert(steps.len() - 1, Step::Send("\n".into()));
                steps.push(Step::Stall);
            }
            let server = HttpServer::always(steps);
            let mut endpoint = api.endpoint(&server);
            endpoint.timeouts.idle_ms = 400;
            match (api.name, stalls) {
                // Anthropic's end stands in the event that was not ended.
                ("anthropic", true) => {
                    assert_eq!(api.ask(&endpoint), Err(Failure::TimedOut { after_ms: 400 }));
                }
                _ => assert_eq!(&*api.ask(&endpoint).unwrap().text, "Tea — done."),
            }
        }
    }
}

#[test]
fn bytes_are_signs_of_life() {
    each(|api, stream| {
        let server = HttpServer::always(api.answer(Says::Text, stream));
        let mut endpoint = api.endpoint(&server);
        endpoint.stream = stream;
        let model = (api.make)(&endpoint).unwrap();
        let signs = AtomicUsize::new(0);
        let alive = || {
            signs.fetch_add(1, Ordering::SeqCst);
        };
        block_on(async { model.call(call(), &alive).await }).unwrap();
        assert!(signs.load(Ordering::SeqCst) >= 2, "{} {stream}", api.name);
    });
}

#[test]
fn dropping_the_call_hangs_up() {
    for api in APIS {
        let more = (api.more)("Tea. ");
        let server = HttpServer::always(vec![events(), Step::Send(more), Step::Stall]);
        let model = (api.make)(&api.endpoint(&server)).unwrap();
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        block_on(async {
            let alive = move || said.send(()).unwrap();
            let mut running = std::pin::pin!(model.call(call(), &alive));
            // The head and the first event.
            for _ in 0..2 {
                let first = std::future::poll_fn(|cx| {
                    assert!(running.as_mut().poll(cx).is_pending(), "it stalls");
                    heard.poll_recv(cx)
                });
                first.await.unwrap();
            }
        });
        assert!(server.wait_for_hang_ups(1), "{}", api.name);
    }
}

#[test]
fn a_window_that_was_full_is_an_overflow() {
    let api = APIS[1];
    let mut whole = (api.whole)(Says::Text);
    whole["stop_reason"] = "model_context_window_exceeded".into();
    let server = HttpServer::always(json_answer(200, &whole.to_string()));
    let overflow = Failure::TOO_LARGE;
    assert_eq!(api.ask(&api.endpoint(&server)), Err(overflow));
}
