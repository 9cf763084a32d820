-- A file as version 1 wrote it. Never changed: what it holds must be readable for ever.
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
    tenant TEXT NOT NULL, thread TEXT NOT NULL, hash BLOB NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, hash),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE node (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, seq BIGINT NOT NULL,
    native_id TEXT, hash BLOB NOT NULL, cumulative BIGINT NOT NULL, known TEXT NOT NULL, stored_ms BIGINT NOT NULL,
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
    tenant TEXT NOT NULL, thread TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, first BIGINT NOT NULL,
    ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, thread, key),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE chunk (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, part BLOB NOT NULL, text BLOB NOT NULL, ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, thread, part),
    FOREIGN KEY (tenant, thread) REFERENCES thread (tenant, id) ON DELETE CASCADE);
CREATE TABLE learnt (
    tenant TEXT NOT NULL, endpoint TEXT NOT NULL, model TEXT NOT NULL, tokens BIGINT, bytes BIGINT,
    PRIMARY KEY (tenant, endpoint, model));
INSERT INTO thread (tenant, id, revision, nodes, records, moves, events, version, meta, created_ms, written_ms)
    VALUES ('tenant', 'thread', 1, 1, 0, 0, 0, 0, 'title', 1, 2);
INSERT INTO lease (tenant, thread, fence, until_ms) VALUES ('tenant', 'thread', 0, 0);
INSERT INTO content VALUES ('tenant', 'thread', x'2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', x'68656c6c6f');
INSERT INTO node VALUES ('tenant', 'thread', 0, 'id-0', x'2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', 3, '{"parent":null,"prefix":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"view":{"ident":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"role":"user","parts":[],"form":"text","name":null,"flags":{"reminder":false,"hidden":false,"pinned":false,"partial":false,"summary":false},"reply":null,"usage":null,"handle":0},"weight":3,"report":null}', 2);
PRAGMA user_version = 1;
