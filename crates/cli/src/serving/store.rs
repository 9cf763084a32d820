//! A store by its address: `sqlite:PATH`, `postgres://…`, `memory`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conspectus::store::ThreadStore;
use conspectus_config::Secret;
use conspectus_store::{MemoryStore, SqliteStore};

use crate::fail::{Exit, Fail, io_words};

/// The name of the file in the user's data directory.
const DEFAULT: &str = "conspectus/threads.db";

/// Opens the one of the flag, else the one of the file, else the user's own.
///
/// # Errors
/// When it is none, or cannot be opened. No address is repeated: it may hold a password.
pub(super) async fn open(
    flag: Option<&str>,
    said: Option<&Secret>,
) -> Result<Arc<dyn ThreadStore>, Fail> {
    let address = match (flag, said) {
        (Some(address), _) => address.to_owned(),
        (None, Some(secret)) => {
            let lookup = |name: &str| std::env::var_os(name)?.into_string().ok();
            secret.reveal(lookup).ok_or_else(|| {
                let why = format!("the environment variable of {secret} is not set");
                Fail::about(Exit::Config, "server.store", &why)
            })?
        }
        (None, None) => format!("sqlite:{}", own()?.display()),
    };
    if ["memory", "memory:"].contains(&address.as_str()) {
        return Ok(Arc::new(MemoryStore::default()));
    }
    if let Some(path) = address.strip_prefix("sqlite:") {
        return sqlite(Path::new(path.strip_prefix("//").unwrap_or(path)));
    }
    let is_postgres = ["postgres://", "postgresql://"];
    if is_postgres.iter().any(|start| address.starts_with(start)) {
        return postgres(&address).await;
    }
    let why = "expected sqlite:PATH, postgres://… or memory";
    Err(Fail::about(Exit::Config, "store", why))
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

/// The file of the user's own, whose directory is made if there is none.
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
    let path = data.join(DEFAULT);
    if let Some(dir) = path.parent() {
        let made = std::fs::create_dir_all(dir);
        made.map_err(|why| Fail::about(Exit::Config, dir.display(), &io_words(&why)))?;
    }
    Ok(path)
}
