//! The figures of `docs/constraints.md`, as far as they are promises.

use conspectus_judge::constraints::{
    Survival, compint, is_found, labelled, measure, sessions, survive,
};
use conspectus_judge::sessions::shared;

#[test]
fn on_real_messages_at_most_one_find_in_ten_is_wrong() {
    let messages = labelled().expect("the sample is in the repository");
    for half in ["dev", "held_out", "fresh"] {
        let tally = measure(messages.iter().filter(|m| m.half == half));
        assert_eq!(tally.messages, 100, "{half}");
        assert!(tally.wrong_per_message(false) <= 0.05, "{half}: {tally:?}");
        assert!(
            tally.labelled == 0 || tally.recall() >= 0.8,
            "{half}: {tally:?}"
        );
    }
    let all = measure(messages.iter().filter(|m| m.half != "fresh"));
    assert!(all.wrong_per_message(true) <= 0.1, "{all:?}");
}

#[test]
fn every_constraint_that_is_found_is_there_after_ten_compactions() {
    let Some(shared) = shared() else {
        println!("shared data not found, 2 checks left out");
        return;
    };
    let constraints = compint(&shared).expect("COMPINT is readable");
    let found = constraints.iter().filter(|c| is_found(c)).count();
    assert!(
        found * 10 >= constraints.len() * 9,
        "{found} of {}",
        constraints.len()
    );
    let sessions = sessions(&shared, &constraints).expect("the sessions are readable");
    let first = |kind: &str| {
        let mut of = sessions.iter().filter(|s| s.name.starts_with(kind));
        of.next().expect("a session of each kind").clone()
    };
    for session in [first("tau-bench"), first("claude-code")] {
        for with_model in [true, false] {
            let mut survival = Survival::default();
            survive(&session, with_model, &mut survival).expect("a session is readable");
            assert!(survival.found * 10 >= survival.injected * 9, "{survival:?}");
            assert_eq!(survival.survived, survival.found, "{survival:?}");
            assert!(survival.compactions >= 10, "{survival:?}");
        }
    }
}
