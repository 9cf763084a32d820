//! What the originals lose and ours does not, measured at the same settings, as the table in `docs/presets.md`:
//! `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-core losses` writes it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::weaknesses::{INTERLEAVED, shown_of_a_long_one};
use super::*;
use crate::validity::Invalid;

const BEGIN: &str =
    "<!-- made by: CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-core losses -->\n";
const END: &str = "<!-- end -->";

/// A conversation of messages with marks, and what its summariser was given of those that went.
struct Life {
    peer: Peer,
    said: usize,
    /// Messages that went, and how many of them the model was given before they did.
    gone: usize,
    given: usize,
    committed: usize,
    /// Committed summaries with another one before them, and how many of them were made with that one at hand.
    next: usize,
    took_in: usize,
}

impl Life {
    fn new(options: &Options) -> Self {
        Self {
            peer: Peer::new(options),
            said: 0,
            gone: 0,
            given: 0,
            committed: 0,
            next: 0,
            took_in: 0,
        }
    }

    /// `line` with a mark of its own where it says `M`.
    fn say(&mut self, line: &str) {
        let mark = format!("MARK{}-", self.said);
        self.peer.say(&[&line.replace('M', &mark)]);
        self.said += 1;
    }

    fn shown(&self) -> BTreeSet<usize> {
        let shown = self.peer.shown();
        let words = shown
            .split(' ')
            .map(|word| word.trim_end_matches('*').parse());
        words.filter_map(Result::ok).collect()
    }

    fn check(&mut self) {
        let (before, calls) = (self.shown(), self.peer.given.len());
        let had_summary = !self.peer.blocks().is_empty();
        if self.peer.check().outcome != Outcome::Compacted {
            return;
        }
        let given = self.peer.given[calls..].join(" ");
        let replayed: BTreeSet<&str> = match self.peer.thread.policy().preset {
            Preset::Nous => given.split(' ').map(|w| w.trim_end_matches('*')).collect(),
            _ => BTreeSet::new(),
        };
        let gone: Vec<usize> = before.difference(&self.shown()).copied().collect();
        let is_given = |at: &&usize| {
            given.contains(&format!("MARK{at}-")) || replayed.contains(at.to_string().as_str())
        };
        self.given += gone.iter().filter(is_given).count();
        self.gone += gone.len();
        self.committed += 1;
        if had_summary {
            self.next += 1;
            let takes_in = given.contains("the story so far") || replayed.contains("S");
            self.took_in += usize::from(takes_in);
        }
    }

    fn calls(&self) -> usize {
        self.peer.given.len()
    }

    fn share(&self) -> String {
        format!("{} of {}", self.given, self.gone)
    }
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

/// One request and thirty rounds of a tool, 2 kB each.
fn tool_only_tail(options: &Options) -> Life {
    let mut life = Life::new(options);
    life.say("u M the task is to find the leak");
    for n in 0..30 {
        life.say(&format!("a M call c{n}"));
        life.say(&format!("t c{n} M{}", "x".repeat(2_000)));
    }
    life.check();
    life
}

/// Three compactions of a conversation of forty exchanges each.
fn three_times(options: &Options) -> Life {
    let mut life = Life::new(options);
    for _ in 0..3 {
        for _ in 0..40 {
            life.say("u M x300");
            life.say("a M x200");
        }
        life.check();
    }
    life
}

/// Sixty turns of one result of 20 kB each.
fn sixty_turns(options: &Options) -> Life {
    let mut life = Life::new(options);
    for n in 0..60 {
        life.say("u M");
        life.say(&format!("a M call c{n}"));
        life.say(&format!("t c{n} M{}", "x".repeat(20_000)));
        life.say("a M");
        life.check();
    }
    life
}

/// Exchanges of about 6,000 tokens together: more than deer-flow's 4,000.
fn untrimmed(options: &Options) -> Life {
    let mut life = Life::new(&Options {
        trim_tokens: Some(None),
        ..options.clone()
    });
    for _ in 0..30 {
        life.say("u M x55");
        life.say("a M x55");
    }
    life.check();
    life
}

/// Answers in the request whose call went, over two conversations.
fn orphans(options: &Options) -> usize {
    let count = |lines: &&[&str]| {
        let mut peer = Peer::with(options, lines);
        peer.command(false);
        let faults = peer.thread.checked().faults(|_| false);
        let is_orphan = |fault: &&Invalid| matches!(fault, Invalid::OrphanAnswer(_));
        faults.iter().filter(is_orphan).count()
    };
    INTERLEAVED.iter().map(count).sum()
}

/// Whether this becomes the summary of a short conversation.
fn is_taken(options: &Options, said: &str, finish: Finish) -> bool {
    let lines = ["u one x400", "a two x400", "u three x400", "a four"];
    let mut peer = Peer::with(options, &lines);
    peer.say(&["u five", "a six"]);
    let said: std::sync::Arc<str> = said.into();
    peer.model = Box::new(move |_| {
        Ok(Reply {
            finish,
            ..reply(&said)
        })
    });
    peer.check();
    peer.thread.active().is_some()
}

fn summaries_after_200_turns(options: &Options) -> usize {
    let mut life = Life::new(options);
    for _ in 0..200 {
        life.say("u M x20");
        life.say("a M x20");
        life.check();
    }
    life.peer.blocks().len()
}

/// Of five results, those that are longer than they were.
fn made_longer(options: &Options) -> usize {
    let grows = |chars: &usize| {
        let result = format!("t c1 {}", "x".repeat(*chars));
        let mut peer = Peer::with(options, &["u go", "a call c1", &result]);
        peer.say(&["a read it", "u on", "a ok"]);
        peer.check();
        let view = peer.thread.branch().view(2);
        let after = Bytes4.patched(view, &peer.said, peer.thread.patches_at(2));
        after > *chars as u64
    };
    let sizes = [4_001, 4_500, 5_000, 5_119, 9_000];
    sizes.iter().filter(|chars| grows(chars)).count()
}

/// What is measured of a conversation, and the figures.
type Measures = Vec<(&'static str, String)>;

/// Conversations at one setting, and what is measured of them.
struct Scene {
    settings: &'static str,
    trigger: u64,
    keep: u64,
    of: &'static [Preset],
    measure: fn(&Options) -> Measures,
}

const KEPT: &str = "the request is kept";
const GIVEN: &str = "messages that went, given to the summariser";
const CALLS: &str = "calls";
const ORPHANS: &str = "answers in the request without their call";
const SIXTY: &str = "60 turns of one 20 kB result; trigger 5,000, keep 10 (A9.5, B7.4)";

const PAIR: [Preset; 2] = [Preset::Langchain, Preset::Deerflow];

const SCENES: [Scene; 9] = [
    Scene {
        settings: "one request, 30 rounds of a tool with 2 kB results; trigger 5,000 tokens, keep 4 messages (A9.1, B7.1)",
        trigger: 5_000,
        keep: 4,
        of: &PEERS,
        measure: |options| {
            let life = tool_only_tail(options);
            vec![
                (KEPT, yes(life.peer.is_shown(0))),
                (GIVEN, life.share()),
                (CALLS, life.calls().to_string()),
            ]
        },
    },
    Scene {
        settings: "three compactions of 40 exchanges each; trigger 10,000, keep 4 (A9.2, B7.2, C2)",
        trigger: 10_000,
        keep: 4,
        of: &PEERS,
        measure: |options| {
            let life = three_times(options);
            vec![
                (GIVEN, life.share()),
                (
                    "earlier summaries given with them",
                    format!("{} of {}", life.took_in, life.next),
                ),
            ]
        },
    },
    Scene {
        settings: SIXTY,
        trigger: 5_000,
        keep: 10,
        of: &PEERS,
        measure: |options| {
            let life = sixty_turns(options);
            vec![(CALLS, life.calls().to_string()), (GIVEN, life.share())]
        },
    },
    Scene {
        settings: "two cuts between calls and their answers; keep 2 (A5, B7.3)",
        trigger: 90_000,
        keep: 2,
        of: &PEERS,
        measure: |options| vec![(ORPHANS, orphans(options).to_string())],
    },
    Scene {
        settings: "an answer of the model that becomes the summary (A7, A9.3, C2)",
        trigger: 500,
        keep: 2,
        of: &PEERS,
        measure: |options| {
            let long: String = (0..900).map(|n| format!("then thing {n}. ")).collect();
            let roomy = Options {
                max_summary_tokens: Some(20_000),
                ..options.clone()
            };
            vec![
                ("a blank one", yes(is_taken(options, " \n ", Finish::Stop))),
                (
                    "one that was cut off",
                    yes(is_taken(options, "half of a sent", Finish::Length)),
                ),
                (
                    "one longer than what it replaces",
                    yes(is_taken(&roomy, &long, Finish::Stop)),
                ),
            ]
        },
    },
    Scene {
        settings: "`trim_tokens_to_summarize: null`; trigger 5,000, keep 4 (B7.5)",
        trigger: 5_000,
        keep: 4,
        of: &PAIR,
        measure: |options| vec![(GIVEN, untrimmed(options).share())],
    },
    Scene {
        settings: "an accepted summary of 800 lines (B7.6)",
        trigger: 11_000,
        keep: 2,
        of: &PAIR,
        measure: |options| {
            let (_, lines) = shown_of_a_long_one(options.clone());
            vec![("lines shown", lines.to_string())]
        },
    },
    Scene {
        settings: "200 turns; trigger 2,000, keep 2 (C2)",
        trigger: 2_000,
        keep: 2,
        of: &PEERS,
        measure: |options| {
            let blocks = summaries_after_200_turns(options);
            vec![("summaries in the request", blocks.to_string())]
        },
    },
    Scene {
        settings: "five results over a limit of 4,000 characters (C2)",
        trigger: 100,
        keep: 10,
        of: &[Preset::Nous],
        measure: |options| {
            let prune = PruneOption {
                max_result_chars: Some(4_000),
                ..PruneOption::default()
            };
            let longer = made_longer(&Options {
                prune,
                ..options.clone()
            });
            vec![("made longer", longer.to_string())]
        },
    },
];

/// One line of the table: theirs and ours, by preset.
struct Row {
    settings: &'static str,
    what: &'static str,
    figures: Vec<(Preset, String, String)>,
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for scene in SCENES {
        let first = rows.len();
        for preset in scene.of {
            let options = asks(*preset, tokens(scene.trigger), scene.keep);
            let theirs = (scene.measure)(&strict(options.clone()));
            let both = theirs.into_iter().zip((scene.measure)(&options));
            for (at, ((what, theirs), (_, ours))) in both.enumerate() {
                if rows.len() == first + at {
                    let (settings, figures) = (scene.settings, Vec::new());
                    rows.push(Row {
                        settings,
                        what,
                        figures,
                    });
                }
                rows[first + at].figures.push((*preset, theirs, ours));
            }
        }
    }
    rows
}

fn table(rows: &[Row]) -> String {
    let mut out = "| at the same settings | | LangChain | ours | deer-flow | ours | Nous | ours |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    let mut last = "";
    for row in rows {
        let shown = if row.settings == last {
            ""
        } else {
            row.settings
        };
        last = row.settings;
        let _ = write!(out, "| {shown} | {} |", row.what);
        for preset in PEERS {
            let figures = row.figures.iter().find(|(of, ..)| *of == preset);
            let _ = match figures {
                Some((_, theirs, ours)) => write!(out, " {theirs} | **{ours}** |"),
                None => write!(out, " – | – |"),
            };
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_table_of_losses_in_the_document_is_real() {
    let rows = rows();
    for row in &rows {
        for (preset, theirs, ours) in &row.figures {
            let (settings, what) = (row.settings, row.what);
            let case = format!("{preset:?}, {settings}, {what}: theirs {theirs}, ours {ours}");
            if let Some((given, of)) = ours.split_once(" of ") {
                assert!(given == of && of != "0", "{case}");
            }
            let count = |of: &str| of.parse::<usize>().expect("a number");
            match what {
                KEPT => assert_eq!(ours, "yes", "{case}"),
                ORPHANS => assert_eq!(ours, "0", "{case}"),
                CALLS => {
                    assert!((1..=6).contains(&count(ours)), "{case}");
                    let thrashes = settings == SIXTY && *preset != Preset::Nous;
                    assert!(!thrashes || count(theirs) >= 55, "{case}");
                }
                _ if ours == "yes" || ours == "no" => assert_eq!(ours, "no", "{case}"),
                _ => {}
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/presets.md");
    let text = fs::read_to_string(&path).expect("the document");
    let (before, rest) = text.split_once(BEGIN).expect("the mark");
    let (_, after) = rest.split_once(END).expect("the mark");
    let table = table(&rows);
    let now = [before, BEGIN, &table, END, after].concat();
    if std::env::var_os("CONSPECTUS_UPDATE_DOCS").is_some() {
        fs::write(&path, now).expect("written");
        return;
    }
    assert!(
        text == now,
        "set CONSPECTUS_UPDATE_DOCS=1 to take over what it comes to now:\n{table}"
    );
}
