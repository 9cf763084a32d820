//! Scripted models, generators and renderers for the tests of Conspectus. Not published.
//!
//! | to test | take |
//! |---|---|
//! | that something holds for any conversation | [`transcript`]: random ones from a seed, as nasty as the field makes them, in three formats |
//! | what a scenario does to a history | [`shape`]: one short line a message, before and after, for snapshots |
//! | what happens when a model misbehaves | [`model`]: a summariser that answers late, blank, cut off, or not at all, as told |
//! | what happens when a store or a process fails | [`faults`], and [`simulate`]: a crash between any two steps, in virtual time |
//! | an async driver | [`executor`]: one thread, virtual time; [`model::ScriptedChat`] is the scripted model behind the port |
//! | a model over HTTP | [`server`]: answers as scripted, stalls, drops and all, and keeps what it was asked |
//! | a server | [`client`]: says anything, also what no HTTP client would |
//! | against real data | [`shared`]: where it lies, if it is there |
//!
//! Nothing here has a clock or randomness of its own ([`clock`], [`rng`]): the same seed gives the same bytes.
//!
//! ```
//! use conspectus_testkit::transcript::{Format, Knobs, Transcript};
//!
//! let talk = Transcript::generate(7, &Knobs::default());
//! let bytes = talk.render(Format::OpenAi).body();
//! let again = Transcript::generate(7, &Knobs::default());
//! assert_eq!(bytes, again.render(Format::OpenAi).body());
//! ```

pub mod campaign;
pub mod client;
pub mod clock;
pub mod executor;
pub mod faults;
pub mod fuzz;
pub mod model;
pub mod rng;
pub mod server;
pub mod shape;
pub mod shared;
pub mod simulate;
pub mod transcript;
