//! The key of capsules: in a file beside the store, which only its owner reads.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use conspectus_proxy::CapsuleKey;

use crate::fail::{Exit, Fail, io_words};

/// The key that belongs to a store's file; made with the first start.
///
/// # Errors
/// When it can be neither read nor made.
pub(super) fn beside(store: &Path) -> Result<CapsuleKey, Fail> {
    let path = store.with_extension("capsule-key");
    let fail = |why: &std::io::Error| Fail::about(Exit::Config, path.display(), &io_words(why));
    match std::fs::read(&path) {
        Ok(bytes) => match <[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(bytes) => Ok(CapsuleKey::new(bytes)),
            Err(_) => {
                let why = "it is no key; remove it, and capsules that were given out are forgotten";
                Err(Fail::about(Exit::Config, path.display(), why))
            }
        },
        Err(why) if why.kind() == ErrorKind::NotFound => {
            let key = CapsuleKey::random();
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&path).map_err(|why| fail(&why))?;
            file.write_all(key.bytes()).map_err(|why| fail(&why))?;
            Ok(key)
        }
        Err(why) => Err(fail(&why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("threads.db");
        let key = beside(&store).expect("it is made");
        assert_eq!(beside(&store).expect("it is read").bytes(), key.bytes());
        let other = folder.path().join("others.db");
        assert_ne!(beside(&other).expect("it is made").bytes(), key.bytes());
        std::fs::write(folder.path().join("threads.capsule-key"), "short").expect("written");
        assert!(beside(&store).is_err());
    }
}
