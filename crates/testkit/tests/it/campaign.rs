//! A short slice of the campaign, and the planted bugs.

use conspectus_testkit::campaign::{Tally, smallest};

#[test]
fn a_slice_of_the_campaign_holds() {
    let mut tally = Tally::default();
    (0..240).for_each(|seed| tally.add(seed));
    let small: Vec<String> = tally
        .faults
        .iter()
        .filter(|(kind, _)| kind.counts)
        .map(|(_, found)| smallest(found.seed))
        .collect();
    assert!(tally.broken() == 0, "{tally}\n{}", small.join("\n"));
    for what in [
        "compacted",
        "late messages",
        "undo",
        "append to a branch",
        "requests rendered and judged",
        "ends with a summary of a summary",
    ] {
        assert!(
            tally.lives_with(what) > 0,
            "{what} never happened:\n{tally}"
        );
    }
}

#[cfg(feature = "planted")]
#[test]
fn planted_bugs_are_caught() {
    use conspectus_core::planted::Bug;
    use conspectus_testkit::campaign::caught;
    std::panic::set_hook(Box::new(|_| {}));
    let missed: Vec<_> = Bug::ALL
        .iter()
        .filter(|bug| {
            let found = caught(**bug, 0, 10_000);
            println!("{:<36} {found:?}", bug.name());
            found.is_none()
        })
        .map(|bug| bug.name())
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}
