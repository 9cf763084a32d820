//! The conversations that come with the project, at every trigger: valid for their provider, and smaller.

use std::path::Path;

use conspectus_judge::sessions;

#[test]
fn every_example_compacts_to_something_valid_and_smaller() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/conversations");
    let (tallies, unread) = sessions::all(&folder).expect("the examples read");
    assert_eq!(unread, Vec::<String>::new());
    assert!(tallies.len() >= 16, "{:?}", tallies.keys());
    for (format, tally) in &tallies {
        assert_eq!(tally.invalid, Vec::<String>::new(), "{format}");
        assert_eq!(tally.larger, Vec::<String>::new(), "{format}");
        if !format.ends_with(", default") {
            continue; // They keep 10 or 20 messages whatever these weigh.
        }
        let changed = tally.outcomes.get("compacted").unwrap_or(&0)
            + tally.outcomes.get("pruned").unwrap_or(&0);
        assert_eq!(changed, tally.tried, "{format}: {:?}", tally.outcomes);
    }
}
