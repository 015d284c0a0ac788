//! The write-ahead log as a file: whether what was written into it is still there.
//!
//! SQLite remembers in shared memory how many frames the log has, and does not look at them again.
//! Where somebody cuts the file, it goes on behind the gap, and a checkpoint would move the gap
//! into the journal.
//!
//! ```text
//! header, 32 bytes   magic · format · page size · checkpoint · salt 1 · salt 2 · checksum
//! frame, 24 bytes    page · size · salt 1 · salt 2 · checksum; then the page
//! ```
//!
//! Frames with the header's salts are those of today, and stand together at the beginning.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const HEADER: u64 = 32;
const FRAME: u64 = 24;

/// The first bytes of every log, but for the last bit.
const MAGIC: [u8; 4] = [0x37, 0x7f, 0x06, 0x82];

/// Whether the beginning of a log is there, which had so many bytes at least.
pub fn has_beginning(log: &File, longest: u64) -> io::Result<bool> {
    let length = log.metadata()?.len();
    if length < longest {
        return Ok(false);
    }
    if length == 0 {
        return Ok(true);
    }
    let mut magic = [0; 4];
    log.read_exact_at(&mut magic, 0)?;
    let [.., last] = &mut magic;
    *last &= 0xfe;
    Ok(magic == MAGIC)
}

/// Whether a log has no gap between its frames.
pub fn has_no_gap(log: &File) -> io::Result<bool> {
    let length = log.metadata()?.len();
    if length < HEADER {
        return Ok(length == 0);
    }
    let mut header = [0; HEADER as usize];
    log.read_exact_at(&mut header, 0)?;
    let [_, _, _, _, _, _, _, _, a, b, c, d, ..] = header;
    let page = u64::from(u32::from_be_bytes([a, b, c, d]));
    let salts = header.get(16..24);
    let (mut at, mut frame, mut has_ended) = (HEADER, [0; FRAME as usize], false);
    while at + FRAME + page <= length {
        log.read_exact_at(&mut frame, at)?;
        let is_of_today = frame.get(8..16) == salts;
        if is_of_today && has_ended {
            // Not if the log has begun anew meanwhile.
            let mut now = [0; HEADER as usize];
            log.read_exact_at(&mut now, 0)?;
            return Ok(now != header);
        }
        has_ended |= !is_of_today;
        at += FRAME + page;
    }
    Ok(true)
}
