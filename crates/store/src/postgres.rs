//! Threads in PostgreSQL, for many instances of a service.
