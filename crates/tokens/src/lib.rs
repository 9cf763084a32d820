//! Exact tokenizers for Conspectus, vocabularies behind features.
