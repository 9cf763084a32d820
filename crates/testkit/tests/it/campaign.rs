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
        .map(|(_, found)| smallest(found.seed()))
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

/// Lives in which something did not hold once, some of each kind of mistake: a call that a person spoke over in a
/// batch that a later message answers in part; a chunk of line ends, and thoughts alone, to summarise; the assistant
/// last where something stood behind it; shortening what is not sent; a system message as the only one that stays;
/// Nous's cut, which writes what its two ends share into the record; a size corrected by what reports taught; a
/// note that a model repeats; calls without an id in a thread that is opened in part; a reply that begins with a piece
/// that cannot be read.
const MENDED: [u64; 30] = [
    127480, 148559, 205721, 227458, 76775, 210110, 240468, 250795, 69289, 106345, 73346, 84772,
    140759, 221694, 265643, 104895, 185943, 226329, 902235, 927269, 959240, 4043, 112281, 125756,
    154198, 11614, 479473, 461974, 306652, 3027751,
];

#[test]
fn lives_that_did_not_hold_once_hold() {
    let mut tally = Tally::default();
    MENDED.into_iter().for_each(|seed| tally.add(seed));
    assert!(tally.faults.is_empty(), "{tally}");
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
