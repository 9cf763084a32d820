//! Scripted models, generators and renderers for the tests of Conspectus.
