//! Threads in PostgreSQL, for many instances of a service on one database.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use conspectus::store::{StoreError, Stores};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, IsolationLevel, NoTls};

use crate::schema::{MIGRATIONS, current};
use crate::sql::{Backend, Decided, Failpoint, Row, Statement, Value, pass};
use crate::threads::Database;

/// Threads in PostgreSQL. Made and used under a tokio runtime; leases go by the database's clock.
///
/// Connections are opened as they are needed and kept for the next call; when one breaks, what was under way on it
/// answers [`StoreError::Unreachable`]. They are not encrypted: use a socket or a private network.
pub type PostgresStore = Database<Postgres>;

impl PostgresStore {
    /// Connects and brings the tables in the first schema of the search path to this version.
    ///
    /// `config`: a connection string or URL as libpq takes them.
    ///
    /// # Errors
    /// When the string is none, the database cannot be reached, or a newer version wrote it.
    pub async fn connect(config: &str) -> Result<Self, StoreError> {
        Self::connect_with(config, PostgresOptions::default()).await
    }

    /// [`PostgresStore::connect`] with options.
    ///
    /// # Errors
    /// As there.
    pub async fn connect_with(config: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        // The string may hold a password: nothing of it goes into the error.
        let config = config.parse::<Config>().map_err(|_| {
            StoreError::Failed("the address of the database cannot be read".to_owned())
        })?;
        let postgres = Postgres {
            config,
            idle: Mutex::default(),
            options,
        };
        postgres.migrate().await?;
        Ok(Self(postgres))
    }
}

/// How a database is used.
#[derive(Clone, Default)]
pub struct PostgresOptions {
    /// For tests.
    pub failpoint: Option<Failpoint>,
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions").finish_non_exhaustive()
    }
}

/// PostgreSQL as a backend.
#[derive(Debug)]
pub struct Postgres {
    config: Config,
    options: PostgresOptions,
    /// Connections that nobody uses now.
    idle: Mutex<Vec<Session>>,
}

/// A connection with the statements that it has prepared: each is planned once.
struct Session {
    client: Client,
    prepared: Prepared,
}

type Prepared = BTreeMap<(&'static str, bool), tokio_postgres::Statement>;

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// More than this are closed after use.
const MAX_IDLE: usize = 8;
/// Two instances that start at once bring the tables up one after the other.
const MIGRATION_LOCK: i64 = 0x636f_6e73_7065_6374;

impl Postgres {
    async fn session(&self) -> Result<Session, StoreError> {
        while let Some(session) = self.take() {
            if !session.client.is_closed() {
                return Ok(session);
            }
        }
        let (client, connection) = self.config.connect(NoTls).await.map_err(|e| broken(&e))?;
        // It ends with its client.
        tokio::spawn(connection);
        Ok(Session {
            client,
            prepared: Prepared::new(),
        })
    }

    fn take(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn give_back(&self, session: Session) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE && !session.client.is_closed() {
            idle.push(session);
        }
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let sorry = |e| broken(&e);
        let mut session = self.session().await?;
        let transaction = session.client.transaction().await.map_err(sorry)?;
        transaction
            .execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK])
            .await
            .map_err(sorry)?;
        transaction
            .batch_execute("CREATE TABLE IF NOT EXISTS conspectus_schema (version BIGINT NOT NULL)")
            .await
            .map_err(sorry)?;
        let versions = "SELECT coalesce(max(version), 0) FROM conspectus_schema";
        let found: i64 = transaction
            .query_one(versions, &[])
            .await
            .map_err(sorry)?
            .get(0);
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        if found > current() {
            return Err(StoreError::Newer {
                found,
                known: current(),
            });
        }
        for migration in MIGRATIONS.iter().skip(found as usize) {
            for sql in [migration.both, migration.postgres] {
                let sql = sql
                    .replace("BYTES", "BYTEA")
                    .replace("TEXT", "TEXT COLLATE \"C\"");
                transaction.batch_execute(&sql).await.map_err(sorry)?;
            }
        }
        transaction
            .execute("DELETE FROM conspectus_schema", &[])
            .await
            .map_err(sorry)?;
        transaction
            .execute(
                "INSERT INTO conspectus_schema VALUES ($1)",
                &[&i64::from(current())],
            )
            .await
            .map_err(sorry)?;
        transaction.commit().await.map_err(sorry)?;
        self.give_back(session);
        Ok(())
    }
}

impl Backend for Postgres {
    const SEARCH: &'static str = "SELECT s.seq, count(*) FROM json_array_elements_text($4::text::json) AS asked (value) \
         JOIN search AS s \
         ON s.lexemes @@ ('''' || $3::text || ''' & ''' || asked.value || '''')::tsquery \
         WHERE s.tenant = $1 AND s.thread = $2 \
         GROUP BY s.seq ORDER BY count(*) DESC, s.seq DESC LIMIT $5";

    fn clock(&self) -> Option<&'static str> {
        Some("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
    }

    fn query(&self, statement: Statement) -> Stores<'_, Vec<Row>> {
        Box::pin(async move {
            let mut session = self.session().await?;
            let rows = rows(&session.client, &mut session.prepared, &statement).await?;
            self.give_back(session);
            Ok(rows)
        })
    }

    fn transact<T: Send + 'static>(
        &self,
        reads: Vec<Statement>,
        decide: impl FnOnce(Vec<Vec<Row>>) -> Decided<T> + Send + 'static,
    ) -> Stores<'_, T> {
        Box::pin(async move {
            let passes = |step| pass(self.options.failpoint.as_ref(), step);
            passes(0);
            let mut session = self.session().await?;
            let prepared = &mut session.prepared;
            // Dropping it rolls back.
            let mut transaction = session.client.build_transaction();
            if reads.iter().all(|read| !read.locks) && !reads.is_empty() {
                transaction = transaction.isolation_level(IsolationLevel::RepeatableRead);
            }
            let transaction = transaction.start().await.map_err(|e| broken(&e))?;
            let mut all = Vec::with_capacity(reads.len());
            for read in &reads {
                all.push(rows(transaction.client(), prepared, read).await?);
            }
            passes(1);
            let (writes, answer) = decide(all)?;
            for write in &writes {
                passes(2);
                rows(transaction.client(), prepared, write).await?;
            }
            passes(3);
            transaction.commit().await.map_err(|e| broken(&e))?;
            passes(4);
            self.give_back(session);
            Ok(answer)
        })
    }

    /// What the rows were is wiped out by the server's own `VACUUM`, and is in no answer till then.
    fn scrub(&self) -> Stores<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

async fn rows(
    client: &Client,
    prepared: &mut Prepared,
    statement: &Statement,
) -> Result<Vec<Row>, StoreError> {
    let known = (statement.sql, statement.locks);
    let planned = match prepared.get(&known) {
        Some(planned) => planned.clone(),
        None => {
            let lock = if statement.locks { " FOR UPDATE" } else { "" };
            let sql = format!("{}{lock}", statement.sql);
            let planned = client.prepare(&sql).await.map_err(|e| broken(&e))?;
            prepared.insert(known, planned.clone());
            planned
        }
    };
    let params: Vec<&(dyn ToSql + Sync)> = statement
        .params
        .iter()
        .map(|param| param as &(dyn ToSql + Sync))
        .collect();
    let rows = client
        .query(&planned, &params)
        .await
        .map_err(|e| broken(&e))?;
    let value = |row: &tokio_postgres::Row, at| row.try_get::<_, Value>(at).map_err(|e| broken(&e));
    rows.iter()
        .map(|row| (0..row.len()).map(|at| value(row, at)).collect())
        .collect()
}

type Unread = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Unread> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Unread> {
        Ok(match *ty {
            Type::INT8 => Self::Int(i64::from_sql(ty, raw)?),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Unread> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn broken(error: &tokio_postgres::Error) -> StoreError {
    let Some(told) = error.as_db_error() else {
        return StoreError::Unreachable(error.to_string());
    };
    let code = told.code();
    // Details may quote rows; the message does not.
    let what = format!("{} ({})", told.message(), code.code());
    match code {
        &SqlState::DISK_FULL => StoreError::Full,
        &SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::INSUFFICIENT_PRIVILEGE => {
            StoreError::ReadOnly(what)
        }
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE
        | &SqlState::UNIQUE_VIOLATION => StoreError::Busy,
        &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => StoreError::Damaged(what),
        &SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::CANNOT_CONNECT_NOW => {
            StoreError::Unreachable(what)
        }
        _ => StoreError::Failed(what),
    }
}
