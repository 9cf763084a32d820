//! Formats of providers and session files, to and from the core's views.
