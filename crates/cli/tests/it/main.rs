//! Whole-binary tests.
