//! Where the data that tests read beside the project lies: cases, sessions, measurements.

use std::path::{Path, PathBuf};

/// The path of `name` in the shared data, when it is there: in the folder that `CONSPECTUS_SHARED` names, or in
/// `shared` beside the project. Tests that do not find it say what they left out and pass.
pub fn path(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("CONSPECTUS_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join(name);
    path.exists().then_some(path)
}
