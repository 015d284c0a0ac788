//! Compressed files: zstd with a checksum, so that a file that was cut or damaged cannot be read as
//! a shorter one.

use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// What the names of these files end with.
pub const EXTENSION: &str = "zst";

/// Files are written once and read often: the strongest level that needs no more memory to read.
const LEVEL: i32 = 19;

/// The content of a compressed file; the same bytes give the same file.
pub fn pack(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(content.len() as u64))?;
    encoder.write_all(content)?;
    encoder.finish()
}

/// What a compressed file holds; one that was cut, damaged or emptied is an error.
pub fn unpack(path: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    if bytes.is_empty() {
        return Err(Error::new(ErrorKind::InvalidData, "the file is empty"));
    }
    zstd::stream::decode_all(bytes.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_cut_or_damaged_anywhere_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zst");
        let content: Vec<u8> = (0..2_000_u32).flat_map(|i| format!("{} ", i * i % 97).into_bytes()).collect();
        let packed = pack(&content).unwrap();
        std::fs::write(&path, &packed).unwrap();
        assert_eq!(unpack(&path).unwrap(), content);
        assert!(packed.len() < content.len() / 2);
        for length in 0..packed.len() {
            std::fs::write(&path, &packed[..length]).unwrap();
            assert!(unpack(&path).is_err(), "{length} of {} bytes were read", packed.len());
        }
        for place in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[place] ^= 0x20;
            std::fs::write(&path, &damaged).unwrap();
            assert!(unpack(&path).is_err(), "byte {place} was changed");
        }
    }
}
