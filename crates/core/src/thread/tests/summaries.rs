use super::*;
use crate::effect::Refusal;
use crate::policy::{Fidelity, Rolling, ToolResults};

/// What the last committed summary says.
fn summary(scene: &Scene) -> String {
    let record = scene.thread.active().expect("a record");
    record.summary.as_ref().expect("a summary").text.to_string()
}

/// Every call's instruction and document, as they were asked.
fn asked(scene: &mut Scene, answer: &'static str) -> Arc<std::sync::Mutex<Vec<(String, String)>>> {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = asked.clone();
    scene.model = Box::new(move |_, input| {
        if let SummaryInput::Transcript { system, document } = input {
            let mut log = log.lock().unwrap();
            log.push((system.to_string(), document.to_string()));
        }
        Ok(reply(answer))
    });
    asked
}

#[test]
fn fields_are_asked_where_the_model_takes_a_schema_and_rendered_by_code() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let asked = asked(&mut scene, r#"{"goal":"Port it","next_steps":["go on"]}"#);
    let routes = vec![Route {
        takes_schema: true,
        ..Scene::routes().remove(0)
    }];
    assert_eq!(scene.check(&routes).outcome, Outcome::Compacted);
    assert_eq!(summary(&scene), "## Goal\nPort it\n## Next steps\n- go on");
    assert!(asked.lock().unwrap()[0].0.contains("`open_questions`"));
    let mut plain = Scene::new(&options(tokens(300), 2), &LONG);
    let asked = self::asked(&mut plain, "## Goal\nPort it");
    assert_eq!(plain.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert!(!asked.lock().unwrap()[0].0.contains("`open_questions`"));
}

#[test]
fn half_a_form_is_repaired_once_and_then_given_up() {
    let mut options = options(tokens(300), 2);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    let mut scene = Scene::new(&options, &LONG);
    scene.model = Box::new(|_, _| Ok(reply(r#"{"goal":"Po"#)));
    let routes = vec![Route {
        takes_schema: true,
        ..Scene::routes().remove(0)
    }];
    let report = scene.check(&routes);
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(
        report.failure,
        Some(Failure::NotASummary(Refusal::NotTheForm))
    );
    assert_eq!(scene.calls, 2);
}

#[test]
fn what_the_messages_do_not_bear_out_is_flagged_cut_or_let_be() {
    let said = "## State\n- moved on\n- wrote src/made/up.rs";
    for (fidelity, expect, flagged) in [
        (
            None,
            "## State\n- moved on\n- wrote src/made/up.rs [not found in the messages: src/made/up.rs]",
            true,
        ),
        (Some(Fidelity::Cut), "## State\n- moved on", true),
        (Some(Fidelity::Off), said, false),
    ] {
        let mut options = options(tokens(300), 2);
        options.fidelity = fidelity;
        let mut scene = Scene::new(&options, &LONG);
        scene.model = Box::new(move |_, _| Ok(reply(said)));
        let report = scene.check(&Scene::routes());
        assert_eq!(report.outcome, Outcome::Compacted);
        assert_eq!(summary(&scene), expect);
        assert_eq!(report.reasons.contains(&Reason::Unfounded(1)), flagged);
    }
}

#[test]
fn segments_stay_as_they_are_until_they_grow_too_long() {
    let mut options = options(tokens(300), 2);
    options.rolling = Some(Rolling::Segments);
    options.max_summary_tokens = Some(24);
    let mut scene = Scene::new(&options, &LONG);
    let first = asked(&mut scene, "It began with the first part.");
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert!(!first.lock().unwrap()[0].0.contains("in front of your note"));
    scene.say(&LONG);
    let second = asked(&mut scene, "It went on for a while, to and fro.");
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert_eq!(
        summary(&scene),
        "It began with the first part.\n\nIt went on for a while, to and fro."
    );
    let (instruction, document) = second.lock().unwrap()[0].clone();
    assert!(
        instruction.contains("in front of your note") && instruction.contains("At most 16 tokens")
    );
    assert!(document.contains("earlier summary: It began"), "{document}");
    scene.say(&LONG);
    let third = asked(&mut scene, "All of it in one.");
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert_eq!(summary(&scene), "All of it in one.");
    assert!(
        third.lock().unwrap()[0]
            .1
            .contains("earlier summary: It began")
    );
}

#[test]
fn results_in_a_transcript_are_told_as_the_option_says() {
    let lines = [
        "u go",
        "a call c1",
        "t c1 RESULT x900",
        "u on x300",
        "a two x300",
        "u three",
        "a four",
    ];
    for (how, expect) in [
        (ToolResults::Include, true),
        (ToolResults::Excerpt, true),
        (ToolResults::Omit, false),
    ] {
        let mut options = options(tokens(300), 2);
        options.tool_results = Some(how);
        let mut scene = Scene::new(&options, &lines);
        let asked = asked(&mut scene, "Done so far.");
        assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
        let document = asked.lock().unwrap()[0].1.clone();
        assert_eq!(document.contains("RESULT"), expect, "{how:?}: {document}");
        assert_eq!(
            document.contains("characters left out"),
            how != ToolResults::Include,
            "{document}"
        );
    }
}

/// What a thin summary lost stands beside it, taken by code.
#[test]
fn what_a_thin_summary_lost_is_kept_beside_it() {
    let mut lines =
        vec!["u Please port parser_v7 and keep the file lib/old_parser.py as it is".to_owned()];
    for n in 0..6 {
        lines.push(format!(
            "a looked at module_{n} and wrote src/module_{n}.rs for it x14"
        ));
        lines.push(format!(
            "u fine, then step {n} of the plan please, with ticket TCK-88{n} x14"
        ));
    }
    lines.extend(["u And now?".to_owned(), "a Nearly done.".to_owned()]);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = |said: &'static str, fidelity, cap| {
        let mut options = options(tokens(1_500), 2);
        options.fidelity = fidelity;
        options.max_summary_tokens = Some(cap);
        let mut scene = Scene::new(&options, &lines);
        scene.model = Box::new(move |_, _| Ok(reply(said)));
        let report = scene.check(&Scene::routes());
        assert_eq!(report.outcome, Outcome::Compacted);
        assert_eq!(summary(&scene), said, "the summary itself stays as it is");
        let src = Sources {
            texts: &scene.said,
            counter: &QuarterBytes,
        };
        let size = scene.thread.size(src).request;
        assert_eq!(report.measured.tokens_after, Some(size));
        scene.thread.active().expect("a record").durable.to_string()
    };
    let thin = "Work on a parser is going on.";
    let kept = run(thin, None, 600);
    assert!(kept.contains("## Not in the summary"), "{kept}");
    assert!(kept.contains("U: Please port parser_v7"), "{kept}");
    assert!(kept.contains("lib/old_parser.py"), "{kept}");
    // What the summary says is not said again.
    assert!(
        kept.contains("TCK-883") && kept.contains("module_3"),
        "{kept}"
    );
    let told = "Ticket TCK-883 asks for src/module_3.rs, and step 3 of the plan is done.";
    let kept = run(told, None, 600);
    assert!(
        !kept.contains("TCK-883") && !kept.contains("module_3"),
        "{kept}"
    );
    assert!(
        kept.contains("TCK-884") && kept.contains("module_4"),
        "{kept}"
    );
    // Nothing where nothing is checked, and nothing where the cap is used up.
    assert!(!run(thin, Some(Fidelity::Off), 600).contains("## Not in"));
    assert!(!run(thin, None, 40).contains("## Not in"));
}
