//! Exactness of the vocabularies, and the estimator's bounds against them.

#[cfg(feature = "o200k")]
mod estimator;
#[cfg(feature = "o200k")]
mod samples;
#[cfg(all(feature = "o200k", feature = "cl100k"))]
mod vocabularies;
