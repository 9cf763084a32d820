//! Where threads are stored while it is measured; nothing of it is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use conspectus::store::ThreadStore;
use conspectus_store::{PostgresStore, SqliteStore};
use tempfile::TempDir;

/// A new store.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) store: Arc<dyn ThreadStore>,
    folder: Option<TempDir>,
    database: Option<Database>,
}

struct Database {
    server: String,
    name: String,
}

impl Place {
    /// An empty one of each kind that there is.
    pub(crate) async fn all() -> anyhow::Result<Vec<Self>> {
        let folder = tempfile::tempdir()?;
        let sqlite = Self {
            name: "SQLite",
            store: Arc::new(SqliteStore::open(folder.path().join("threads.db"))?),
            folder: Some(folder),
            database: None,
        };
        let Ok(server) = std::env::var("CONSPECTUS_POSTGRES") else {
            return Ok(vec![sqlite]);
        };
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("conspectus_load_{}_{number}", std::process::id());
        let database = Database { server, name };
        database
            .admin(&format!("CREATE DATABASE {}", database.name))
            .await?;
        let config = format!("{} dbname={}", database.server, database.name);
        let postgres = Self {
            name: "PostgreSQL",
            store: Arc::new(PostgresStore::connect(&config).await?),
            folder: None,
            database: Some(database),
        };
        Ok(vec![sqlite, postgres])
    }

    /// How many bytes the store has on the disk.
    pub(crate) async fn bytes(&self) -> anyhow::Result<u64> {
        match (&self.folder, &self.database) {
            (_, Some(database)) => {
                let size = format!("SELECT pg_database_size('{}')", database.name);
                let size: String = database.admin(&size).await?;
                Ok(size.parse()?)
            }
            (Some(folder), None) => {
                let files = std::fs::read_dir(folder.path())?;
                let sizes = files.map(|file| Ok(file?.metadata()?.len()));
                sizes
                    .sum::<std::io::Result<u64>>()
                    .context("sizes of files")
            }
            (None, None) => Ok(0),
        }
    }

    /// Removes it.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        drop(self.store);
        if let Some(database) = self.database {
            let sql = format!("DROP DATABASE {} WITH (FORCE)", database.name);
            database.admin(&sql).await?;
        }
        Ok(())
    }
}

impl Database {
    /// The first value that it gives, as text.
    async fn admin(&self, sql: &str) -> anyhow::Result<String> {
        let config = format!("{} dbname=postgres", self.server);
        let connected = tokio_postgres::connect(&config, tokio_postgres::NoTls).await;
        let (client, connection) = connected.context("CONSPECTUS_POSTGRES names no server")?;
        let connection = tokio::spawn(connection);
        let rows = client.simple_query(sql).await?;
        drop(client);
        connection.await??;
        let value = rows.iter().find_map(|row| match row {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        Ok(value.unwrap_or_default().to_owned())
    }
}
