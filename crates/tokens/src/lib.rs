//! Exact tokenizers for Conspectus, vocabularies behind features.
//!
//! | feature | gives | models |
//! |---|---|---|
//! | `o200k` | `o200k()` | OpenAI's since GPT-4o |
//! | `cl100k` | `cl100k()` | GPT-4, GPT-3.5 |
//!
//! None is on by default. Nothing is fetched: a vocabulary is part of the binary and is unpacked on first
//! use, once a process (about a tenth of a second).
//!
//! # Which tokenizer, and why
//!
//! [`tiktoken`](https://docs.rs/tiktoken) 4.1 (the one in pure Rust). Measured on 9.5 MB of real sessions,
//! one thread: 115 MB/s and the same 3,058,208 and 3,035,342 tokens as the Python package; 4.2 MB of binary
//! with both vocabularies, four small dependencies and `regex`, no `unsafe`, one feature a vocabulary.
//! Texts made to be slow (a megabyte of one letter, of random letters, of blanks) take up to half a second:
//! no quadratic case. Looked at besides: `bpe-openai` 0.3 is linear whatever the text (14 to 136 ms on the
//! same ones) and slower on real text (25 MB/s), but adds some 35 MB and `unsafe`; `toktok-rs` 0.3 is
//! exact and free of dependencies but young; `splintr` and `riptoken` are not exact.
//!
//! # What a message costs
//!
//! After OpenAI's published recipe ("How to count tokens with tiktoken" in its cookbook): 3 tokens a message,
//! its role and its text, 1 more where there is a name. The 3 tokens that prime the reply belong to the
//! request: [`REPLY_TOKENS`]. The recipe says nothing about tool calls in a history: their name and
//! arguments are counted and 3 more. Pictures cost 765 (a million pixels in high detail, by OpenAI's rule);
//! other media a fixed amount.
#![cfg_attr(
    feature = "o200k",
    doc = r#"
```
use conspectus_core::count::TokenCounter;

let counter = conspectus_tokens::o200k();
assert_eq!(counter.tokens(counter.text("hello world")), 2);
```
"#
)]

#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod exact;

#[cfg(any(feature = "o200k", feature = "cl100k"))]
pub use exact::Exact;

/// Tokens that a request costs beside its messages: the start of the reply.
pub const REPLY_TOKENS: u64 = 3;

/// The exact counter with the vocabulary `o200k_base`.
#[cfg(feature = "o200k")]
pub fn o200k() -> Exact {
    static BPE: std::sync::OnceLock<tiktoken::CoreBpe> = std::sync::OnceLock::new();
    Exact::new(
        conspectus_core::count::CounterId::O200K,
        BPE.get_or_init(tiktoken::encoding::o200k_base),
    )
}

/// The exact counter with the vocabulary `cl100k_base`.
#[cfg(feature = "cl100k")]
pub fn cl100k() -> Exact {
    static BPE: std::sync::OnceLock<tiktoken::CoreBpe> = std::sync::OnceLock::new();
    Exact::new(
        conspectus_core::count::CounterId::CL100K,
        BPE.get_or_init(tiktoken::encoding::cl100k_base),
    )
}
