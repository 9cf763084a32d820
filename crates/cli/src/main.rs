//! The command line of Conspectus.

fn main() {}
