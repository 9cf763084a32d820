//! Programs that measure Conspectus, and what they share. Not published.
//!
//! | program | what it answers | its results |
//! |---|---|---|
//! | `sessions` | does every real session come out valid and smaller? | `docs/sessions.md` |
//! | `constraints` | are standing rules found, and are they still there after ten compactions? | `docs/constraints.md` |
//! | `compact-parts` | the compactor that the retention evaluation calls: what does the digest keep? | `docs/retention.md` |
//! | `case-runner` | what does the engine do with the public bug reports? | `docs/cases.md` |
//! | `real-model` | what does a small real model write, and what of it is accepted? | `docs/real-models.md` |
//! | `rolling` | which way of carrying a summary along keeps more? | `docs/real-models.md` |
//! | `secrets` | what do the rules for secrets find in every real session? | `docs/configuration.md` |

pub mod cases;
pub mod compact;
pub mod constraints;
pub mod live;
pub mod parts;
pub mod sessions;
