//! `plan`.

use crate::support::{EXAMPLES, NO_PRUNING, Place};

#[test]
fn every_format() {
    for (name, format) in EXAMPLES {
        Place::with(&[name])
            .run(&["plan", name, NO_PRUNING[0], NO_PRUNING[1]])
            .done()
            .says(&format!("{name}  {format}\n"))
            .says("stays: current request ")
            .says("goes ")
            .says(" tokens go\n")
            .says(" tokens stay\n")
            .says(", of which the summary takes ");
    }
}

#[test]
fn the_plan_is_what_compact_does() {
    for (name, _) in EXAMPLES {
        let place = Place::with(&[name]);
        let plan = place.json(&["plan", name]).1;
        let done = place.json(&["compact", name]).1;
        let (plan, done) = (
            &plan["results"][0]["conversations"][0],
            &done["results"][0]["conversations"][0],
        );
        for key in ["outcome", "tokens_after", "messages_folded", "summary"] {
            assert_eq!(plan[key], done[key], "{name}: {key}");
        }
        assert_eq!(plan["now"], true);
        let units = plan["units"].as_array().expect("a list");
        let messages: u64 = units
            .iter()
            .filter(|unit| unit["fate"] == "goes")
            .map(|unit| unit["messages"].as_array().expect("a list").len() as u64)
            .sum();
        assert_eq!(done["messages_folded"], messages, "{name}");
    }
}

#[test]
fn what_is_shortened_is_told() {
    let place = Place::with(&["langchain.json"]);
    place
        .run(&["plan", "langchain.json"])
        .done()
        .says("stays: shortening is enough, shortened to ")
        .says("0 messages of 0 tokens go\n")
        .says(" by shortening alone\n");
}

#[test]
fn a_trigger_that_is_not_reached() {
    let place = Place::with(&["openai.json"]);
    place
        .run(&["plan", "openai.json", "--trigger", "tokens=90000"])
        .done()
        .says("goes ")
        .says("note: no trigger is reached: compact would do nothing now, and this once one is\n");
}

#[test]
fn nothing_is_written() {
    let place = Place::with(&["openai.json"]);
    place.run(&["plan", "openai.json"]).done();
    assert_eq!(place.files(), ["openai.json"]);
}
