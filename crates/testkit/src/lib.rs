//! Scripted models, generators and renderers for the tests of Conspectus.
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
pub mod clock;
pub mod faults;
pub mod model;
pub mod rng;
pub mod shape;
pub mod shared;
pub mod simulate;
pub mod transcript;
