//! A folder that tools may work in, and nothing beside it: no `..`, no absolute path, no symbolic link leads out.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// How the folder is named in paths that tools are given, besides paths relative to it.
pub const MOUNT: &str = "/mnt/user-data/workspace";

/// A folder with everything under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace(PathBuf);

impl Workspace {
    /// Opens the folder, and makes it if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self(folder.canonicalize()?))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a path leads, which need not exist.
    ///
    /// # Errors
    /// What is wrong with it, for the model.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let inside = path.strip_prefix(MOUNT);
        let inside = inside.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let inside = inside.map(|rest| rest.trim_start_matches('/'));
        within(&self.0, inside.unwrap_or(path))
    }

    /// The path as tools name it.
    pub fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.0).unwrap_or(path);
        inside.to_string_lossy().replace('\\', "/")
    }
}

/// Where a relative path leads under `root`.
///
/// # Errors
/// When it leads out of it, or through a symbolic link.
pub(crate) fn within(root: &Path, path: &str) -> Result<PathBuf, String> {
    let outside =
        || format!("{path:?} is outside the workspace; use a path relative to it, without `..`");
    if path.contains('\0') {
        return Err(outside());
    }
    let mut at = root.to_path_buf();
    for part in Path::new(path.trim()).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => {
                at.push(name);
                let is_link = fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_symlink());
                if is_link {
                    return Err(format!(
                        "{path:?} leads through a symbolic link, which is not followed"
                    ));
                }
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    Ok(at)
}

/// A name that is one part of a path, whatever is in it.
pub(crate) fn part_of_path(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let digest = crate::channel::delegation::sha256(name);
    format!("x{}", &digest[..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("secret"), "x").expect("written");
        let space = Workspace::open(&folder.path().join("w")).expect("made");
        fs::create_dir(space.path().join("a")).expect("made");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), space.path().join("link")).expect("linked");
            std::os::unix::fs::symlink("/etc/hostname", space.path().join("a/file"))
                .expect("linked");
            for path in ["link", "link/secret", "a/file", "a/../link/secret"] {
                assert!(space.resolve(path).is_err(), "{path}");
            }
        }
        for path in [
            "../x",
            "a/../../x",
            "/etc/passwd",
            "a/..",
            "/",
            "\0",
            "/mnt/user-data/workspace/../x",
            "/mnt/user-data/workspacex",
        ] {
            assert!(space.resolve(path).is_err(), "{path}");
        }
        let good = space.path().join("a/b.txt");
        for path in [
            "a/b.txt",
            "./a/./b.txt",
            "a//b.txt",
            "/mnt/user-data/workspace/a/b.txt",
        ] {
            assert_eq!(space.resolve(path), Ok(good.clone()), "{path}");
        }
        assert_eq!(space.resolve(""), Ok(space.path().to_path_buf()));
        assert_eq!(space.shown(&good), "a/b.txt");
    }

    #[test]
    fn any_name_is_one_part() {
        assert_eq!(part_of_path("thread-1"), "thread-1");
        for name in ["..", "", "a/b", "a.b", &"x".repeat(65)] {
            let part = part_of_path(name);
            assert!(
                part.starts_with('x') && !part.contains(['/', '.']),
                "{part}"
            );
        }
        assert_ne!(part_of_path("a/b"), part_of_path("a.b"));
    }
}
