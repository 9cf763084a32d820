//! The tables, version by version. A version that was ever released is never changed: the next one is added.

/// What leads from each version to the next; version 0 is an empty database. `BYTES` stands for what the database calls
/// them.
pub(crate) const MIGRATIONS: &[&str] = &[FIRST, NATIVE_IDS];

/// The version that this code writes.
pub(crate) fn current() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

const FIRST: &str = "
CREATE TABLE thread (
    tenant TEXT NOT NULL, id TEXT NOT NULL,
    revision BIGINT NOT NULL, nodes BIGINT NOT NULL, records BIGINT NOT NULL, moves BIGINT NOT NULL,
    events BIGINT NOT NULL, version BIGINT NOT NULL, state TEXT, meta TEXT NOT NULL,
    created_ms BIGINT NOT NULL, written_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, id));
CREATE TABLE lease (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, holder TEXT, fence BIGINT NOT NULL, until_ms BIGINT NOT NULL, mark TEXT,
    PRIMARY KEY (tenant, thread),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE content (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, hash BYTES NOT NULL, bytes BYTES NOT NULL,
    PRIMARY KEY (tenant, thread, hash),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE node (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, seq BIGINT NOT NULL,
    native_id TEXT, hash BYTES NOT NULL, cumulative BIGINT NOT NULL, known TEXT NOT NULL, stored_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, thread, seq),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE record (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, id BIGINT NOT NULL, attempt BIGINT NOT NULL, format BIGINT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, id), UNIQUE (tenant, thread, attempt, id),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE head_log (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, seq BIGINT NOT NULL, payload TEXT NOT NULL, ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, thread, seq),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE event (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, seq BIGINT NOT NULL, ms BIGINT NOT NULL, event TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, seq),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE once (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, key TEXT NOT NULL, digest BYTES NOT NULL, first BIGINT NOT NULL,
    ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, thread, key),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE chunk (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, part BYTES NOT NULL, text BYTES NOT NULL, ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, thread, part),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE learnt (
    tenant TEXT NOT NULL, endpoint TEXT NOT NULL, model TEXT NOT NULL, tokens BIGINT, bytes BIGINT,
    PRIMARY KEY (tenant, endpoint, model));
";

const NATIVE_IDS: &str = "
CREATE INDEX node_native_id ON node (tenant, thread, native_id, seq) WHERE native_id IS NOT NULL;
";
