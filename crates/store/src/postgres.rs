//! Threads in PostgreSQL, for many instances of a service on one database.

use std::sync::{Mutex, PoisonError};

use conspectus::store::{StoreError, Stores};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, NoTls};

use crate::schema::{MIGRATIONS, current};
use crate::sql::{Backend, Decided, Row, Statement, Value};
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
        // The string may hold a password: nothing of it goes into the error.
        let config = config.parse::<Config>().map_err(|_| {
            StoreError::Failed("the address of the database cannot be read".to_owned())
        })?;
        let postgres = Postgres {
            config,
            idle: Mutex::default(),
        };
        postgres.migrate().await?;
        Ok(Self(postgres))
    }
}

/// PostgreSQL as a backend.
#[derive(Debug)]
pub struct Postgres {
    config: Config,
    /// Connections that nobody uses now.
    idle: Mutex<Vec<Client>>,
}

/// More than this are closed after use.
const MAX_IDLE: usize = 8;
/// Two instances that start at once bring the tables up one after the other.
const MIGRATION_LOCK: i64 = 0x636f_6e73_7065_6374;

impl Postgres {
    async fn client(&self) -> Result<Client, StoreError> {
        while let Some(client) = self.take() {
            if !client.is_closed() {
                return Ok(client);
            }
        }
        let (client, connection) = self.config.connect(NoTls).await.map_err(|e| broken(&e))?;
        // It ends with its client.
        tokio::spawn(connection);
        Ok(client)
    }

    fn take(&self) -> Option<Client> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn give_back(&self, client: Client) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE && !client.is_closed() {
            idle.push(client);
        }
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let sorry = |e| broken(&e);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(sorry)?;
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
            let sql = migration
                .replace("BYTES", "BYTEA")
                .replace("TEXT", "TEXT COLLATE \"C\"");
            transaction.batch_execute(&sql).await.map_err(sorry)?;
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
        self.give_back(client);
        Ok(())
    }
}

impl Backend for Postgres {
    const CLOCK: Option<&'static str> =
        Some("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");

    fn query(&self, statement: Statement) -> Stores<'_, Vec<Row>> {
        Box::pin(async move {
            let client = self.client().await?;
            let rows = rows(&client, &statement).await?;
            self.give_back(client);
            Ok(rows)
        })
    }

    fn transact<T: Send + 'static>(
        &self,
        reads: Vec<Statement>,
        decide: impl FnOnce(Vec<Vec<Row>>) -> Decided<T> + Send + 'static,
    ) -> Stores<'_, T> {
        Box::pin(async move {
            let mut client = self.client().await?;
            // Dropping it rolls back.
            let transaction = client.transaction().await.map_err(|e| broken(&e))?;
            let mut all = Vec::with_capacity(reads.len());
            for read in &reads {
                all.push(rows(transaction.client(), read).await?);
            }
            let (writes, answer) = decide(all)?;
            for write in &writes {
                rows(transaction.client(), write).await?;
            }
            transaction.commit().await.map_err(|e| broken(&e))?;
            self.give_back(client);
            Ok(answer)
        })
    }
}

async fn rows(client: &Client, statement: &Statement) -> Result<Vec<Row>, StoreError> {
    let lock = if statement.locks { " FOR UPDATE" } else { "" };
    let sql = format!("{}{lock}", statement.sql);
    let params: Vec<&(dyn ToSql + Sync)> = statement
        .params
        .iter()
        .map(|param| param as &(dyn ToSql + Sync))
        .collect();
    let rows = client.query(&sql, &params).await.map_err(|e| broken(&e))?;
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
