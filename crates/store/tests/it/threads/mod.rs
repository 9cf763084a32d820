//! What can be done with stored threads, in every store.

mod compacting;
mod crashing;
mod earlier;
mod faulty;
mod journal;
mod keeping;
mod messages;
mod mirroring;
mod moving;
mod recalling;
mod world;
