//! The configuration file of Conspectus.
