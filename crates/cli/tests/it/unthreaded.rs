//! A program that was built without threads says so.

use crate::support::Place;

const BUILD: &str = "this program was built without threads; build it with: cargo install --path crates/cli --features threads";

#[test]
fn commands_on_threads_say_how_to_build_them() {
    let place = Place::new();
    let check = |args: &[&str], what: &str| {
        place
            .run(args)
            .failed(2, &format!("error: {what}: {BUILD}\n"));
    };
    check(&["thread", "ls"], "thread");
    check(&["chat"], "chat");
    check(&["mcp", "ls"], "mcp");
    check(&["compact", "--thread", "tea"], "--thread");
    check(&["recall", "--thread", "tea", "words"], "recall");
    assert!(place.files().is_empty());
}
