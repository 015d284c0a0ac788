//! Opening files that are ours. A pipe, a socket or a device in the place of one is refused: a pipe
//! would be waited for without end.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    // Without it, opening a pipe waits for somebody who writes to it. For files it means nothing.
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(without_waiting).open(path)?;
    check(&file)?;
    Ok(file)
}

/// Refuses what was opened and is no file.
pub fn check(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        return Ok(());
    }
    let problem = "it is a directory, pipe, socket or device, and not a file; move it away";
    Err(io::Error::new(io::ErrorKind::InvalidData, problem))
}

/// The content of a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_file_is_read_and_nothing_else_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let [file, pipe, socket] = ["file", "pipe", "socket"].map(|name| dir.path().join(name));
        std::fs::write(&file, "words").unwrap();
        assert_eq!(read(&file).unwrap(), b"words");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(made.success());
        assert_eq!(read(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(dir.path()).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(read(&socket).is_err() && read(&dir.path().join("none")).is_err());
    }
}
