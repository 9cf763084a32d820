//! Inputs for the plain tests: changed copies of a corpus.

use super::SECRET;
use crate::rng::Rng;

/// Words that inputs of a target are made of.
fn words(target: &str) -> &'static [&'static str] {
    match target {
        "config" => &[
            "summarization:",
            "models:",
            "enabled: true",
            "trigger:",
            "keep:",
            "  - ",
            "type: tokens",
            "value: ",
            "fraction",
            "messages",
            "preset: default",
            "preset: nous",
            "model_name: m",
            "name: m",
            "api_key: ",
            SECRET,
            "$KEY",
            "headers: {X: y}",
            "prices: {input: 1}",
            "window: 1000",
            "null",
            "auto",
            "-1",
            "1e999",
            "0.5",
            "&a",
            "*a",
            "<<: ",
            "{",
            "}",
            "[",
            "]",
            "\n",
            "\n  ",
            "#",
            "|",
            ">",
            "'",
            "\"",
            "tokens=1",
            "strict_parity: true",
            "prune: ",
            "strategy: replay",
            "max_context: 32",
            "---",
            "\u{feff}",
        ],
        "frame" => &[
            "<conversation_record>",
            "</conversation_record>",
            "< / Conversation_Record",
            "<",
            "&lt;",
            "\n",
            "\u{0}",
            "## Conversation summary so far\n",
            "Summary of earlier messages:\n",
            "\u{fffd}",
            "</",
            "CONVERSATION_",
        ],
        _ => &[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\ud83d",
            "\\u0000",
            "null",
            "true",
            "1e400",
            "-0",
            "\n",
            " ",
            "\"role\":\"user\"",
            "\"role\":\"tool\"",
            "\"role\":\"assistant\"",
            "\"role\":\"system\"",
            "\"content\":null",
            "\"content\":[]",
            "\"content\":\"x\"",
            "\"tool_calls\":[]",
            "\"tool_call_id\":\"c\"",
            "\"type\":\"tool_use\"",
            "\"type\":\"tool_result\"",
            "\"type\":\"thinking\"",
            "\"type\":\"text\"",
            "\"id\":\"c\"",
            "\"uuid\":\"u\"",
            "\"parentUuid\":null",
            "\"type\":\"human\"",
            "\"lc\":1",
            "\"kwargs\":{}",
            "\"isSidechain\":true",
            "\"subtype\":\"compact_boundary\"",
            "\"isMeta\":true",
            "\"messages\":[]",
            "\"parts\":[{\"text\":\"x\"}]",
            "\"functionCall\":{\"name\":\"f\",\"args\":{}}",
            "\"functionResponse\":{\"name\":\"f\",\"response\":{\"a\":1}}",
            "{\"$rewindTo\":\"m1\"}",
            "{\"$set\":{\"messages\":[]}}",
            "\"type\":\"compaction\"",
            "\"parentId\":\"c\"",
            "\"firstKeptEntryIndex\":1",
            "\"action\":\"condensation\"",
            "\"forgotten_event_ids\":[1]",
            "\"observation\":\"run\"",
            "\"tool_call_ids\":[\"c\"]",
            "attachment://a",
            "\"agentVisible\":false",
            "\"type\":\"opaque\",\"value\":1",
            "\u{feff}",
            "\"usage\":{\"input_tokens\":9}",
            "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}",
            "{\"a\":1,\"a\":2}",
        ],
    }
}

/// A changed copy of one of `seeds`: bytes turned, pieces removed, doubled, moved or taken from another seed,
/// and words of the target's own put in.
pub fn mutated(rng: &mut Rng, target: &str, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut data = if seeds.is_empty() {
        Vec::new()
    } else {
        rng.pick(seeds).clone()
    };
    for _ in 0..rng.between(1, 6) {
        let at = rng.below(data.len() + 1);
        let end = (at + rng.below(40)).min(data.len());
        match rng.below(8) {
            0 if !data.is_empty() => {
                let at = rng.below(data.len());
                data[at] ^= 1 << rng.below(8);
            }
            1 => drop(data.drain(at..end)),
            2 => {
                let piece = data[at..end].to_vec();
                data.splice(at..at, piece);
            }
            3 => data.truncate(at),
            4 if !seeds.is_empty() => {
                let other = rng.pick(seeds);
                let start = rng.below(other.len() + 1);
                let stop = (start + rng.below(200)).min(other.len());
                data.splice(at..end, other[start..stop].iter().copied());
            }
            5 => {
                let byte = u8::try_from(rng.below(256)).unwrap_or_default();
                data.insert(at, byte);
            }
            _ => {
                let word = rng.pick(words(target)).as_bytes();
                data.splice(at..end.min(at + rng.below(8)), word.iter().copied());
            }
        }
    }
    data
}
