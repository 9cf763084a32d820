//! Summaries that want to get out of their frame.

use conspectus_core::frame;
use conspectus_core::policy::Placement;

use super::MAX_BYTES;

/// The frame around a summary, and text that wants to get out of it.
pub fn frame_target(data: &[u8]) {
    if data.len() > MAX_BYTES {
        return;
    }
    let text = String::from_utf8_lossy(data);
    let defused = frame::defused(&text);
    assert_eq!(frame::defused(&defused), defused, "once is enough");
    assert_eq!(
        defused.replace("&lt;", "<"),
        text.replace("&lt;", "<"),
        "all else stays"
    );
    for tag in [frame::OPEN, frame::CLOSE] {
        assert!(!defused.to_lowercase().contains(tag), "{defused:?}");
    }
    for placement in [
        Placement::Frozen,
        Placement::Front,
        Placement::Message,
        Placement::System,
        Placement::SystemEnd,
    ] {
        let blocks = frame::blocks(&text, "", placement);
        for block in &blocks {
            assert!(
                frame::is_ours(&block.text),
                "{placement:?}: {:?}",
                block.text
            );
        }
        let shown = &blocks.last().expect("a block").text;
        for tag in [frame::OPEN, frame::CLOSE] {
            assert_eq!(shown.matches(tag).count(), 1, "{shown:?}");
        }
        let content = frame::content(shown).expect("ours");
        let heading = defused
            .trim_matches('\n')
            .starts_with("## Conversation summary so far");
        if !heading {
            let (content, text) = (content.trim_matches('\n'), defused.trim_matches('\n'));
            assert_eq!(content, text, "{placement:?}");
        }
        // What is kept beside the summary is as hostile, and each is read back as what it is.
        let kept = defused.trim_matches('\n');
        let beside = frame::blocks("plain", &text, placement);
        let shown = &beside.last().expect("a block").text;
        let tags = [
            frame::OPEN,
            frame::CLOSE,
            frame::OPEN_DURABLE,
            frame::CLOSE_DURABLE,
        ];
        if !text.is_empty() {
            for tag in tags {
                assert_eq!(shown.matches(tag).count(), 1, "{shown:?}");
            }
            assert_eq!(frame::content(shown), Some("plain"), "{placement:?}");
            assert_eq!(frame::durable(shown), Some(kept), "{placement:?}");
        }
    }
    let _ = frame::content(&text);
}
