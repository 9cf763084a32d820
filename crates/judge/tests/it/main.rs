//! What must hold over the whole workspace, and over the conversations that come with it.

mod catalog;
mod dependencies;
mod examples;
