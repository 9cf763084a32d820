//! A store by its address: `sqlite:PATH`, `postgres://…`, `memory`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conspectus::store::ThreadStore;
use conspectus_config::Secret;
use conspectus_store::{MemoryStore, SqliteStore};

use crate::fail::{Exit, Fail, io_words};

/// The name of the file in the user's data directory.
const DEFAULT: &str = "conspectus/threads.db";

/// Where a store is.
pub(crate) struct Address(Kind);

enum Kind {
    Memory,
    Sqlite {
        path: PathBuf,
        /// Nobody named it, so its directory is ours to make.
        is_own: bool,
    },
    /// It may hold a password.
    Postgres(String),
}

/// The address of the flag, else of the file, else of the user's own.
///
/// # Errors
/// When it is none. No address is repeated: it may hold a password.
pub(crate) fn address(flag: Option<&str>, said: Option<&Secret>) -> Result<Address, Fail> {
    let address = match (flag, said) {
        (Some(address), _) => address.to_owned(),
        (None, Some(secret)) => {
            let lookup = |name: &str| std::env::var_os(name)?.into_string().ok();
            secret.reveal(lookup).ok_or_else(|| {
                let why = format!("the environment variable of {secret} is not set");
                Fail::about(Exit::Config, "server.store", &why)
            })?
        }
        (None, None) => {
            let (path, is_own) = (own()?, true);
            return Ok(Address(Kind::Sqlite { path, is_own }));
        }
    };
    if ["memory", "memory:"].contains(&address.as_str()) {
        return Ok(Address(Kind::Memory));
    }
    if let Some(path) = address.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path).into();
        let is_own = false;
        return Ok(Address(Kind::Sqlite { path, is_own }));
    }
    let is_postgres = ["postgres://", "postgresql://"];
    if is_postgres.iter().any(|start| address.starts_with(start)) {
        return Ok(Address(Kind::Postgres(address)));
    }
    let why = "expected sqlite:PATH, postgres://… or memory";
    Err(Fail::about(Exit::Config, "store", why))
}

impl Address {
    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        match &self.0 {
            Kind::Memory => "memory".to_owned(),
            Kind::Sqlite { path, .. } => format!("sqlite:{}", path.display()),
            Kind::Postgres(_) => "PostgreSQL".to_owned(),
        }
    }

    /// Whether it is gone when the program ends.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self.0, Kind::Memory)
    }

    /// Whether there is a store, as far as that is known without opening it.
    pub(super) fn is_there(&self) -> bool {
        match &self.0 {
            Kind::Memory | Kind::Postgres(_) => true,
            Kind::Sqlite { path, .. } => path.exists(),
        }
    }

    /// Its file, if it is one.
    #[cfg(feature = "proxy")]
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Sqlite { path, .. } => Some(path),
            Kind::Memory | Kind::Postgres(_) => None,
        }
    }

    /// Opens it; a file that is not there is made.
    ///
    /// # Errors
    /// When that cannot be done.
    pub(crate) async fn open(&self) -> Result<Arc<dyn ThreadStore>, Fail> {
        match &self.0 {
            Kind::Memory => Ok(Arc::new(MemoryStore::default())),
            Kind::Sqlite { path, is_own } => {
                if let (Some(dir), true) = (path.parent(), is_own) {
                    let made = std::fs::create_dir_all(dir);
                    made.map_err(|why| Fail::about(Exit::Config, dir.display(), &io_words(&why)))?;
                }
                sqlite(path)
            }
            Kind::Postgres(address) => postgres(address).await,
        }
    }
}

fn sqlite(path: &Path) -> Result<Arc<dyn ThreadStore>, Fail> {
    let store = SqliteStore::open(path);
    let store = store.map_err(|why| Fail::about(Exit::Config, path.display(), &why.to_string()))?;
    Ok(Arc::new(store))
}

#[cfg(feature = "postgres")]
async fn postgres(address: &str) -> Result<Arc<dyn ThreadStore>, Fail> {
    let store = conspectus_store::PostgresStore::connect(address).await;
    let store = store.map_err(|why| Fail::about(Exit::Config, "store", &why.to_string()))?;
    Ok(Arc::new(store))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<Arc<dyn ThreadStore>, Fail> {
    let why = "this program was built without PostgreSQL; build it with: cargo install --path crates/cli --features postgres";
    Err(Fail::about(Exit::Config, "store", why))
}

/// The file of the user's own.
fn own() -> Result<PathBuf, Fail> {
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let data = said("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(said("HOME")?).join(".local/share"));
    let Some(data) = data.or_else(home) else {
        let why = "neither XDG_DATA_HOME nor HOME says where; name a store with --store";
        return Err(Fail::about(Exit::Config, "store", why));
    };
    Ok(data.join(DEFAULT))
}
