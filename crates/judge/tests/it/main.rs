//! What must hold over the whole workspace, and over the conversations that come with it.

mod architecture;
mod cases;
mod catalog;
mod constraints;
mod dependencies;
mod examples;
mod features;
mod lost;
