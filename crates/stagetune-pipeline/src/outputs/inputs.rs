//! The content of declared inputs, hashed once and again only where a file may have changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::hash::{self, Stat};

/// Remembers the hash of every file that it has read.
#[derive(Debug, Default)]
pub struct Inputs {
    known: Mutex<BTreeMap<PathBuf, (Stat, String)>>,
}

/// Links to directories that are followed one below the other; more are a circle.
const DEEPEST: usize = 6;

/// An input that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot read the input {}: {source}; restore it, or take it out of `inputs`", .path.display()
)]
pub struct InputError {
    /// As it stands in the file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl Inputs {
    /// The hash of a file, or of a directory with all that is below it.
    pub fn hash(&self, root: &Path, input: &Path) -> Result<String, InputError> {
        self.content(&root.join(input), 0).map_err(|source| InputError { path: input.to_owned(), source })
    }

    /// What the files of an input look like now, to tell later whether one of them was written to.
    pub(crate) fn look(&self, root: &Path, input: &Path) -> Result<Looks, InputError> {
        let mut looks = Looks::default();
        look(&root.join(input), 0, &mut looks)
            .map_err(|source| InputError { path: input.to_owned(), source })?;
        Ok(looks)
    }

    /// Of a link it is what it leads to that counts.
    fn content(&self, path: &Path, depth: usize) -> io::Result<String> {
        let wrong = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text.to_owned());
        let metadata = fs::metadata(path)?;
        if metadata.is_file() {
            return self.file(path);
        } else if !metadata.is_dir() {
            return Err(wrong("it is neither a file nor a directory"));
        } else if depth > DEEPEST {
            return Err(wrong("its links lead in a circle"));
        }
        let mut hasher = blake3::Hasher::new();
        for found in hash::walk(path)? {
            let below = path.join(&found.path);
            let target = fs::metadata(&below).ok();
            let content = if found.metadata.is_dir() {
                "empty directory".to_owned()
            } else if target.is_some_and(|target| target.is_file() || target.is_dir()) {
                self.content(&below, depth + usize::from(found.metadata.is_symlink()))?
            } else {
                // A link to nothing counts as the text of the link; pipes and sockets count by name.
                fs::read_link(&below).map_or_else(|_| "special".to_owned(), |to| format!("link {to:?}"))
            };
            // Lengths first, so that no two trees give the same sequence of bytes.
            for part in [found.path.as_bytes(), content.as_bytes()] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        let stat = Stat::of(&fs::metadata(path)?);
        if let Ok(known) = self.known.lock()
            && let Some((_, hash)) = known.get(path).filter(|(seen, _)| *seen == stat)
        {
            return Ok(hash.clone());
        }
        let hash = hash::file(path)?;
        // A file that is written to while it is read is not remembered.
        if Stat::of(&fs::metadata(path)?) == stat
            && let Ok(mut known) = self.known.lock()
        {
            known.insert(path.to_owned(), (stat, hash.clone()));
        }
        Ok(hash)
    }
}

/// What the files of an input looked like at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks(BTreeMap<PathBuf, Stat>);

impl Looks {
    /// A file that was written to, came or went between this look and a later one.
    pub(crate) fn written_since<'a>(&'a self, later: &'a Self) -> Option<&'a Path> {
        let moved = |(path, stat): &(&'a PathBuf, &'a Stat)| {
            later.0.get(*path).is_none_or(|now| stat.was_written_since(now))
        };
        let gone = self.0.iter().find(moved).map(|(path, _)| path.as_path());
        gone.or_else(|| later.0.keys().find(|path| !self.0.contains_key(*path)).map(PathBuf::as_path))
    }
}

fn look(path: &Path, depth: usize, looks: &mut Looks) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        looks.0.insert(path.to_owned(), Stat::of(&metadata));
        return Ok(());
    }
    if depth > DEEPEST {
        return Ok(());
    }
    for found in hash::walk(path)? {
        let below = path.join(&found.path);
        match fs::metadata(&below) {
            Ok(target) if target.is_dir() && found.metadata.is_symlink() => look(&below, depth + 1, looks)?,
            Ok(target) => drop(looks.0.insert(below, Stat::of(&target))),
            // A link to nothing counts as the link.
            Err(_) => drop(looks.0.insert(below, Stat::of(&found.metadata))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_counts_not_times() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = Inputs::default();
        let hash = |name: &str| inputs.hash(dir.path(), Path::new(name)).unwrap();
        fs::write(dir.path().join("a"), "one").unwrap();
        let first = hash("a");
        fs::write(dir.path().join("a"), "two").unwrap();
        assert_ne!(hash("a"), first);
        fs::write(dir.path().join("a"), "one").unwrap();
        assert_eq!(hash("a"), first);
    }

    #[test]
    fn a_directory_counts_with_names_and_depths() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = Inputs::default();
        let hash = || inputs.hash(dir.path(), Path::new("d")).unwrap();
        fs::create_dir_all(dir.path().join("d/sub")).unwrap();
        let empty = hash();
        fs::write(dir.path().join("d/sub/x"), "1").unwrap();
        let one = hash();
        fs::rename(dir.path().join("d/sub/x"), dir.path().join("d/x")).unwrap();
        let moved = hash();
        fs::remove_dir(dir.path().join("d/sub")).unwrap();
        let all = [empty, one, moved, hash()];
        for (i, a) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn a_missing_input_is_named() {
        let error = Inputs::default().hash(Path::new("/"), Path::new("no/such")).unwrap_err();
        assert!(error.to_string().contains("no/such"), "{error}");
    }

    #[test]
    fn a_change_that_was_undone_with_its_time_is_seen_and_other_rights_and_names_are_none() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (inputs, data) = (Inputs::default(), dir.path().join("data"));
        fs::write(&data, "data").unwrap();
        let look = || inputs.look(dir.path(), Path::new("data")).unwrap();
        let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
        let mut before = look();
        pause();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o400)).unwrap();
        assert_eq!(before.written_since(&look()), None, "other rights");
        before = look();
        pause();
        fs::hard_link(&data, dir.path().join("name")).unwrap();
        assert_eq!(before.written_since(&look()), None, "another name");
        fs::set_permissions(&data, fs::Permissions::from_mode(0o600)).unwrap();
        before = look();
        pause();
        let modified = fs::metadata(&data).unwrap().modified().unwrap();
        fs::write(&data, "else").unwrap();
        fs::write(&data, "data").unwrap();
        fs::File::options().write(true).open(&data).unwrap().set_modified(modified).unwrap();
        assert_eq!(before.written_since(&look()), Some(&*data), "the time was put back");
    }
}
