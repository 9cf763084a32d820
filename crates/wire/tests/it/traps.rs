//! Files that want to trip a reader.
