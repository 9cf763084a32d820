//! The list of nastinesses, how often each is met, and which ones a strict provider accepts.

use super::places::Draft;
use super::{Format, content, structure};
use crate::rng::Rng;

macro_rules! nasties {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $chance:literal [$($valid:ident)*] $apply:path;)+) => {
        /// One thing that makes conversations hard.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Nasty {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Nasty {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// How many of a hundred conversations have it done to them, unless the knobs say otherwise.
            pub fn default_chance(self) -> u8 {
                match self { $(Self::$variant => $chance,)+ }
            }

            /// Whether a strict server of that format still accepts the conversation.
            pub fn is_valid_in(self, format: Format) -> bool {
                let list: &[Only] = match self { $(Self::$variant => &[$(Only::$valid,)*],)+ };
                list.iter().any(|only| only.allows(format))
            }

            /// Whether it puts two messages of one role in a row.
            fn breaks_alternation(self) -> bool {
                let list: &[Only] = match self { $(Self::$variant => &[$(Only::$valid,)*],)+ };
                list.contains(&Only::InARow)
            }

            fn apply(self, draft: &mut Draft, rng: &mut Rng) {
                match self { $(Self::$variant => $apply(draft, rng),)+ }
            }
        }
    };
}

/// Where a nastiness is valid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    /// Everywhere.
    All,
    /// In OpenAI's format.
    O,
    /// In Anthropic's format.
    A,
    /// In LangChain's format.
    L,
    /// Where nobody asks for strict alternation.
    InARow,
}

impl Only {
    fn allows(self, format: Format) -> bool {
        match self {
            Self::All => true,
            Self::O => format == Format::OpenAi,
            Self::A => format == Format::Anthropic,
            Self::L => format == Format::LangChain,
            Self::InARow => false,
        }
    }
}

// They are done in this order: what needs whole rounds first, what destroys them later, contents next,
// and what takes everything away last.
nasties! {
    /// Several calls in one message.
    ParallelCalls "parallel calls" 45 [All] structure::parallel_calls;
    /// The numbering of call ids starts anew in every turn.
    RepeatedCallIds "repeated call ids" 15 [] structure::repeated_ids;
    /// Two answers of tools hold the same text.
    DuplicateResult "duplicate results" 20 [All] content::duplicate_result;
    /// Two messages say the same.
    RepeatedText "equal messages" 12 [All] content::repeated_text;
    /// One reply of the model in several messages.
    SplitReply "split replies" 12 [All InARow] structure::split_reply;
    /// AI(c1) AI(c2) T(c1) T(c2).
    Interleaved "interleaved units" 12 [] structure::interleaved;
    /// A person speaks between the answers of one batch.
    UserBetweenResults "user between results" 12 [] structure::user_between_results;
    /// An answer that comes turns later.
    LateApproval "late approvals" 12 [] structure::late_approval;
    /// A call the host still waits for.
    PendingCall "pending calls" 12 [] structure::pending_call;
    /// Calls or answers without an id.
    MissingCallIds "missing call ids" 10 [] structure::missing_ids;
    /// A call that nobody will answer.
    MissingAnswer "missing answers" 15 [] structure::missing_answer;
    /// The conversation begins with an answer.
    OrphanFront "orphan result in front" 10 [] structure::orphan_front;
    /// An answer to no call, somewhere.
    OrphanMiddle "orphan result in the middle" 10 [] structure::orphan_middle;
    /// Two answers to one call.
    DuplicateAnswer "duplicate answers" 10 [] structure::duplicate_answer;
    /// The answer stands before its call.
    AnswerFirst "answer before its call" 6 [] structure::answer_first;
    /// Answers of one batch in another order than the calls.
    SwappedAnswers "swapped answers" 12 [All] structure::swapped_answers;
    /// A person speaks right behind the answers of a batch, before the model goes on.
    TextAfterResults "user text after results" 15 [All InARow] structure::text_after_results;
    /// Two messages of a person in a row.
    ConsecutiveUsers "consecutive users" 20 [All InARow] structure::consecutive_users;
    /// Two messages of the model in a row.
    ConsecutiveAssistants "consecutive assistants" 12 [All InARow] structure::consecutive_assistants;
    /// More than one message at the end that waits for an answer.
    TrailingUsers "trailing unanswered users" 12 [All InARow] structure::trailing_users;
    /// The end is an answer of a tool: the model will go on.
    OpenToolLoop "open tool loop at the end" 20 [All] structure::open_tool_loop;
    /// The end is a message of the model without calls.
    AssistantLast "assistant last" 20 [] structure::assistant_last;
    /// Nobody ever asked.
    NoUser "no user message" 3 [] structure::no_user;
    /// Several system messages at the start.
    ManySystems "several leading systems" 15 [All] structure::many_systems;
    /// System messages in the middle.
    MidSystem "mid-list system messages" 12 [] structure::mid_system;
    /// A message of the host that tells the date or what it remembers.
    Reminder "dynamic-context reminders" 15 [All InARow] structure::reminder;
    /// A message of the host that the user interface hides.
    Hidden "hidden messages" 15 [All InARow] structure::hidden;
    /// A summary of an earlier compaction in the list.
    EarlierSummary "earlier summaries" 15 [All InARow] structure::earlier_summary;
    /// A message to keep for good.
    Pin "pins" 20 [All] structure::pin;

    /// Chinese, Japanese, Korean.
    Cjk "CJK" 25 [All] content::cjk;
    /// Emoji with joiners; combining accents.
    Emoji "emoji and joiners" 20 [All] content::emoji;
    /// Right to left.
    Rtl "right to left" 12 [All] content::rtl;
    /// Half a character.
    LoneSurrogate "lone surrogates" 6 [] content::lone_surrogate;
    /// Control characters.
    Control "control characters" 10 [All] content::control;
    /// Texts that close our delimiters and give orders.
    Injection "injected markup" 12 [All] content::injection;
    /// Made-up secrets.
    Secret "secrets" 12 [All] content::secret;
    /// Very large messages of a person.
    Giant "giant messages" 6 [All] content::giant;
    /// Very long answers of tools.
    LongResult "very long results" 20 [All] content::long_result;
    /// Very long arguments.
    LongArguments "long arguments" 12 [All] content::long_arguments;
    /// Arguments that are no JSON object.
    BrokenArguments "broken arguments" 8 [] content::broken_arguments;
    /// A tool failed.
    ErrorResult "failed tools" 15 [All] content::error_result;
    /// Pictures.
    Image "images" 20 [All] content::image;
    /// Pictures in answers of tools.
    ImageInResult "images in results" 10 [A] content::image_in_result;
    /// Thoughts with a signature.
    ThinkingSigned "signed thinking" 15 [A L] content::thinking_signed;
    /// Thoughts without.
    ThinkingPlain "unsigned thinking" 12 [O L] content::thinking_plain;
    /// Encrypted thoughts.
    ThinkingRedacted "redacted thinking" 8 [A] content::thinking_redacted;
    /// A content of no characters.
    EmptyText "empty content" 12 [O L] content::empty_text;
    /// A content that is null or missing.
    NullContent "null content" 12 [O] content::null_content;
    /// A content of blanks.
    BlankText "blank content" 8 [] content::blank_text;
    /// Texts as lists of blocks.
    BlockContent "content as blocks" 25 [All] content::block_content;
    /// Blocks nobody knows.
    Opaque "opaque blocks" 10 [] content::opaque;
    /// Fields nobody knows.
    UnknownFields "unknown fields" 20 [O L] content::unknown_fields;
    /// Numbers that do not survive a parser: 1.50, 1e3, beyond 64 bits.
    OddNumbers "odd numbers" 20 [All] content::odd_numbers;
    /// A key twice in one object.
    DuplicateKeys "duplicate keys" 5 [] content::duplicate_keys;
    /// JSON nested deeper than parsers like.
    DeepNesting "deep nesting" 4 [] content::deep_nesting;
    /// Reported usage.
    Usage "usage figures" 25 [All] content::usage;
    /// Cache markers.
    CacheMarkers "cache markers" 20 [All] content::cache_markers;
    /// More cache markers than are allowed.
    TooManyMarkers "too many cache markers" 5 [] content::too_many_markers;
    /// LangChain messages without an id.
    NoMessageIds "missing message ids" 10 [L] content::no_message_ids;
    /// The last message is still streaming.
    Partial "partial message" 6 [] structure::partial;
    /// JSON with blanks.
    SpacedJson "spaced JSON" 20 [All] content::spaced_json;
    /// JSON in ASCII only.
    EscapedJson "escaped JSON" 20 [All] content::escaped_json;
    /// Nothing but system messages.
    OnlySystem "only system" 1 [] structure::only_system;
    /// Nothing at all.
    Empty "empty conversation" 1 [] structure::empty;
}

/// What conversations are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Most turns of a person before anything nasty is added.
    pub max_turns: usize,
    /// Most rounds of tool calls in a turn.
    pub max_rounds: usize,
    /// Bytes of a giant message.
    pub giant_bytes: usize,
    /// Bytes of a very long tool result or argument.
    pub long_bytes: usize,
    /// Only conversations that a strict server of this format accepts.
    pub valid: Option<Format>,
    /// With `valid`: user and assistant strictly in turn.
    pub alternating: bool,
    /// The chance of each nastiness in percent, in the order of [`Nasty::ALL`].
    pub chances: Vec<u8>,
}

impl Default for Knobs {
    /// Everything, each at its default chance.
    fn default() -> Self {
        Self {
            max_turns: 6,
            max_rounds: 3,
            giant_bytes: 40_000,
            long_bytes: 6_000,
            valid: None,
            alternating: false,
            chances: Nasty::ALL.iter().map(|n| n.default_chance()).collect(),
        }
    }
}

impl Knobs {
    /// Nothing nasty at all.
    pub fn calm() -> Self {
        let chances = vec![0; Nasty::ALL.len()];
        Self {
            chances,
            ..Self::default()
        }
    }

    /// Everything that a strict server of `format` accepts.
    pub fn valid(format: Format) -> Self {
        Self {
            valid: Some(format),
            ..Self::default()
        }
    }

    /// These for certain, and nothing else.
    pub fn only(nasties: &[Nasty]) -> Self {
        nasties
            .iter()
            .fold(Self::calm(), |knobs, &nasty| knobs.with(nasty, 100))
    }

    /// The same with another chance, in percent, for one nastiness.
    pub fn with(mut self, nasty: Nasty, percent: u8) -> Self {
        self.chances[nasty as usize] = percent;
        self
    }

    /// The same without one nastiness.
    pub fn without(self, nasty: Nasty) -> Self {
        self.with(nasty, 0)
    }

    /// The chance of a nastiness, after what `valid` and `alternating` forbid.
    pub fn chance(&self, nasty: Nasty) -> u8 {
        let allowed = self.valid.is_none_or(|format| {
            nasty.is_valid_in(format) && !(self.alternating && nasty.breaks_alternation())
        });
        if allowed {
            self.chances[nasty as usize]
        } else {
            0
        }
    }
}

/// Does to a calm conversation what the knobs say. First it is settled what this conversation suffers
/// from, so that some suffer from one thing only and some from nearly all.
pub(super) fn spoil(draft: &mut Draft, rng: &mut Rng) {
    let level = *rng.pick(&[30u32, 60, 100, 100, 200]);
    for &nasty in Nasty::ALL {
        let base = draft.knobs.chance(nasty);
        let chance = if base >= 100 {
            100
        } else {
            u8::try_from(u32::from(base) * level / 100).unwrap_or(100)
        };
        let mut own = rng.fork();
        if !own.percent(chance) {
            continue;
        }
        for _ in 0..own.between(1, 3) {
            nasty.apply(draft, &mut own);
        }
    }
}
