//! Threads in one file, by SQLite.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use conspectus::store::{StoreError, Stores};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, TransactionBehavior};

use crate::schema::{MIGRATIONS, current};
use crate::sql::{Backend, Decided, Failpoint, Row, Statement, Value, pass};
use crate::threads::Database;
use crate::worker::Worker;

/// Threads in one file. Several processes may share it: one writes at a time, the others wait a little.
///
/// Writes are durable when they are acknowledged (WAL with `synchronous = FULL`). The file is made for its owner alone.
pub type SqliteStore = Database<Sqlite>;

/// How a file is opened.
#[derive(Clone)]
pub struct SqliteOptions {
    /// How long to wait for another process that writes.
    pub busy_ms: u64,
    /// The file is no larger than this; what does not fit is answered with [`StoreError::Full`]. The log beside it
    /// comes on top.
    pub max_bytes: Option<u64>,
    /// For tests.
    pub failpoint: Option<Failpoint>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            busy_ms: 5_000,
            max_bytes: None,
            failpoint: None,
        }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("busy_ms", &self.busy_ms)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a file, makes it if there is none, and brings its tables to this version.
    ///
    /// # Errors
    /// When it cannot be opened, is no store, is damaged, or a newer version wrote it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// [`SqliteStore::open`] with options.
    ///
    /// # Errors
    /// As there.
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let file = File::open(path.as_ref(), options)?;
        Ok(Self(Sqlite(Worker::new(file))))
    }
}

/// SQLite as a backend.
#[derive(Debug)]
pub struct Sqlite(Worker<File>);

struct File {
    connection: Connection,
    path: PathBuf,
    failpoint: Option<Failpoint>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.path).finish()
    }
}

impl File {
    fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        make(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sorry = |e| broken(path, &e);
        let connection = Connection::open_with_flags(path, flags).map_err(sorry)?;
        let mut file = Self {
            connection,
            path: path.to_owned(),
            failpoint: options.failpoint,
        };
        file.set_up(options.busy_ms, options.max_bytes)
            .map_err(sorry)?;
        file.migrate()?;
        Ok(file)
    }

    fn set_up(&self, busy_ms: u64, max_bytes: Option<u64>) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(Duration::from_millis(busy_ms))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        // What was deleted is not to be found in the file.
        connection.pragma_update(None, "secure_delete", true)?;
        if let Some(bytes) = max_bytes {
            let size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
            let pages = bytes / u64::from(size.max(1));
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        }
        connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    }

    fn migrate(&mut self) -> Result<(), StoreError> {
        let path = &self.path;
        let sorry = |e| broken(path, &e);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(sorry)?;
        let version = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
        let found = transaction
            .query_row("PRAGMA user_version", [], version)
            .map_err(sorry)?;
        if found > current() {
            return Err(StoreError::Newer {
                found,
                known: current(),
            });
        }
        let tables = "SELECT count(*) FROM sqlite_schema";
        let tables = transaction.query_row(tables, [], version).map_err(sorry)?;
        if found == 0 && tables > 0 {
            let what = format!("{} is a database of something else", path.display());
            return Err(StoreError::Damaged(what));
        }
        for migration in MIGRATIONS.iter().skip(found as usize) {
            for sql in [migration.both, migration.sqlite] {
                let sql = sql.replace("BYTES", "BLOB");
                transaction.execute_batch(&sql).map_err(sorry)?;
            }
        }
        if found < current() {
            transaction
                .pragma_update(None, "user_version", current())
                .map_err(sorry)?;
        }
        transaction.commit().map_err(sorry)
    }

    fn transact<T>(
        &mut self,
        reads: &[Statement],
        decide: impl FnOnce(Vec<Vec<Row>>) -> Decided<T>,
    ) -> Result<T, StoreError> {
        let path = &self.path;
        let sorry = |e| broken(path, &e);
        let passes = |step| pass(self.failpoint.as_ref(), step);
        passes(0);
        let behavior = match reads.iter().all(|read| !read.locks) && !reads.is_empty() {
            true => TransactionBehavior::Deferred,
            false => TransactionBehavior::Immediate,
        };
        let transaction = self
            .connection
            .transaction_with_behavior(behavior)
            .map_err(sorry)?;
        let mut rows = Vec::with_capacity(reads.len());
        for read in reads {
            rows.push(query(&transaction, read).map_err(sorry)?);
        }
        passes(1);
        let (writes, answer) = decide(rows)?;
        for write in &writes {
            passes(2);
            let mut prepared = transaction
                .prepare_cached(&dialect(write.sql))
                .map_err(sorry)?;
            prepared
                .execute(rusqlite::params_from_iter(&write.params))
                .map_err(sorry)?;
        }
        passes(3);
        transaction.commit().map_err(sorry)?;
        passes(4);
        Ok(answer)
    }
}

impl Backend for Sqlite {
    // The terms come first, since each is a query of the index.
    const SEARCH: &'static str = "SELECT s.seq, count(*) FROM json_each($4) AS asked \
         CROSS JOIN search_index CROSS JOIN search AS s ON s.row = search_index.rowid \
         WHERE search_index MATCH '\"' || $3 || '\" AND \"' || asked.value || '\"' \
         AND s.tenant = $1 AND s.thread = $2 \
         GROUP BY s.seq ORDER BY count(*) DESC, s.seq DESC LIMIT $5";

    fn clock(&self) -> Option<&'static str> {
        None
    }

    fn query(&self, statement: Statement) -> Stores<'_, Vec<Row>> {
        self.0.run(move |file| {
            let rows = query(&file.connection, &statement);
            rows.map_err(|e| broken(&file.path, &e))
        })
    }

    fn transact<T: Send + 'static>(
        &self,
        reads: Vec<Statement>,
        decide: impl FnOnce(Vec<Vec<Row>>) -> Decided<T> + Send + 'static,
    ) -> Stores<'_, T> {
        self.0.run(move |file| file.transact(&reads, decide))
    }

    /// The log beside the file has what was there before: it is brought into the file and made empty.
    fn scrub(&self) -> Stores<'_, ()> {
        self.0.run(|file| {
            let done = file
                .connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            done.map_err(|e| broken(&file.path, &e))
        })
    }
}

/// Makes the file for its owner alone, if there is none. What SQLite puts beside it gets the same mode.
fn make(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(StoreError::ReadOnly(path.display().to_string()))
        }
        Err(e) => Err(StoreError::Failed(format!("{}: {e}", path.display()))),
    }
}

fn dialect(sql: &str) -> String {
    sql.replace('$', "?")
}

fn query(connection: &Connection, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
    let mut prepared = connection.prepare_cached(&dialect(statement.sql))?;
    let columns = prepared.column_count();
    let mut rows = prepared.query(rusqlite::params_from_iter(&statement.params))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let value = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null | ValueRef::Real(_) => Value::Null,
                ValueRef::Integer(number) => Value::Int(number),
                ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
            })
        };
        all.push((0..columns).map(value).collect::<rusqlite::Result<Row>>()?);
    }
    Ok(all)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        let value = match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        };
        Ok(rusqlite::types::ToSqlOutput::Borrowed(value))
    }
}

fn broken(path: &Path, error: &rusqlite::Error) -> StoreError {
    let what = format!("{}: {error}", path.display());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            StoreError::ReadOnly(path.display().to_string())
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(what),
        _ => StoreError::Failed(what),
    }
}
