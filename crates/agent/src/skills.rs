//! The skills that there are: folders with a `SKILL.md`, only ever read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::channel::skill::{FILE, Reads, front_matter, name_of};
use crate::workspace::within;

/// Skills that are listed.
const MAX_LISTED: usize = 100;
/// Folders below the root in which a skill may lie.
const MAX_DEPTH: usize = 4;
/// Bytes of a skill's file that are read for its front matter.
const MAX_FRONT: usize = 64 << 10;

/// A root of skills, and how paths in calls name it.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    root: Option<PathBuf>,
    reads: Reads,
}

/// A skill that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of its folder.
    pub name: Arc<str>,
    /// What it is for, on one line.
    pub description: Arc<str>,
    /// Its file, as calls name it.
    pub path: Arc<str>,
}

impl Skills {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// Those under a folder, which calls know as [`Reads::root`].
    pub fn under(root: impl Into<PathBuf>, reads: Reads) -> Self {
        Self {
            root: Some(root.into()),
            reads,
        }
    }

    /// What counts as loading one.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// The file that a path in a call names, if that lies under the root.
    ///
    /// # Errors
    /// When it leads out of the root.
    pub fn resolve(&self, path: &str) -> Option<Result<PathBuf, String>> {
        let root = self.root.as_ref()?;
        let mount = Reads::normal(&self.reads.root)?;
        let normal = Reads::normal(path.trim()).filter(|_| path.trim().starts_with('/'))?;
        let inside = match mount.as_str() {
            "/" => normal.as_str(),
            mount => match normal.strip_prefix(mount)? {
                "" => "",
                rest => rest.strip_prefix('/').map(|_| rest)?,
            },
        };
        Some(within(root, inside.trim_start_matches('/')))
    }

    /// Those that there are, by path. What cannot be read is left out.
    pub fn list(&self) -> Vec<Listed> {
        let Some(root) = &self.root else {
            return Vec::new();
        };
        let mut found = Vec::new();
        self.look(root, &mut Vec::new(), &mut found);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.truncate(MAX_LISTED);
        found
    }

    /// The skill of a name.
    pub fn named(&self, name: &str) -> Option<Listed> {
        self.list().into_iter().find(|skill| *skill.name == *name)
    }

    fn look(&self, folder: &Path, names: &mut Vec<String>, found: &mut Vec<Listed>) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if kind.is_dir() && names.len() < MAX_DEPTH && !name.starts_with('.') {
                names.push(name);
                self.look(&entry.path(), names, found);
                names.pop();
            } else if kind.is_file() && name == FILE && !names.is_empty() {
                let root = self.reads.root.trim_end_matches('/');
                let path = format!("{root}/{}/{FILE}", names.join("/"));
                found.push(Listed {
                    name: name_of(&path).into(),
                    description: describe(&entry.path()).into(),
                    path: path.into(),
                });
            }
        }
    }
}

/// What a skill's file says that it is for.
fn describe(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let front = &text[..text.len().min(MAX_FRONT)];
    let front = front_matter(&String::from_utf8_lossy(front));
    front
        .and_then(|front| front.description)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_listed_and_nothing_beside_them_can_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("skills");
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        fs::create_dir_all(&root).expect("made");
        fs::write(folder.path().join("secret"), "x").expect("written");
        write(
            "public/pdf/SKILL.md",
            "---\nname: PDF\ndescription: Fill forms\n---\nbody",
        );
        write("public/pdf/form.md", "more");
        write("doc/SKILL.md", "no front matter");
        write("SKILL.md", "none: it has no folder");
        write(".hidden/x/SKILL.md", "none");
        let skills = Skills::under(&root, Reads::default());
        let listed = skills.list();
        let names: Vec<(&str, &str)> = listed.iter().map(|s| (&*s.name, &*s.description)).collect();
        assert_eq!(names, [("doc", ""), ("pdf", "Fill forms")]);
        assert_eq!(&*listed[1].path, "/mnt/skills/public/pdf/SKILL.md");
        let resolve = |path: &str| skills.resolve(path).map(|r| r.is_ok());
        assert_eq!(resolve("/mnt/skills/public/pdf/form.md"), Some(true));
        assert_eq!(resolve("/mnt/skills/../secret"), None);
        assert_eq!(resolve("/mnt/skills/x/../../../secret"), None);
        assert_eq!(resolve("/mnt/skillsets"), None);
        assert_eq!(resolve("notes.md"), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path(), root.join("out")).expect("linked");
            assert_eq!(resolve("/mnt/skills/out/secret"), Some(false));
        }
        assert_eq!(Skills::none().resolve("/mnt/skills/a/SKILL.md"), None);
    }
}
