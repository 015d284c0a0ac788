//! Finds studies and records in the raw bytes of a journal, whatever became of the tree that led to them.
//!
//! Every offset of every page, and of every page in the write-ahead log, is tried as the beginning of a row
//! ([the file format](https://www.sqlite.org/fileformat2.html), §2). What is found may be old, torn or nonsense:
//! the chain of checksums says what is a record of the study.
//!
//! ```text
//! record   payload length, header (its length, 5 types), study, position, at, body, sum
//! study    payload length, id, header (its length, 3 types), name, began
//! ```

use std::collections::BTreeMap;

use super::rows::Study;

/// What was found: studies, and the candidates for each record by the study's number and the position.
#[derive(Debug, Default)]
pub struct Found {
    pub studies: Vec<Study>,
    pub records: BTreeMap<(i64, u64), Vec<Row>>,
}

/// What may be a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub at: f64,
    pub body: String,
    pub sum: String,
}

impl Found {
    /// Adds what may be a study.
    pub fn add_study(&mut self, study: Study) {
        let is_known = |known: &Study| {
            (known.id, known.began.to_bits(), &known.name) == (study.id, study.began.to_bits(), &study.name)
        };
        if !self.studies.iter().any(is_known) {
            self.studies.push(study);
        }
    }

    /// Adds what may be a record.
    pub fn add_record(&mut self, study: i64, position: u64, row: Row) {
        let rows = self.records.entry((study, position)).or_default();
        if !rows.contains(&row) {
            rows.push(row);
        }
    }

    /// Adds what is in the bytes of a journal and of its write-ahead log.
    pub fn carve(&mut self, file: &[u8], log: &[u8]) {
        let pages = Pages::of(file, log);
        for page in pages.versions.values().flatten() {
            for at in 0..page.len() {
                if let Some(study) = study_at(page, at) {
                    self.add_study(study);
                }
                let Some(cell) = Cell::at(page, at) else { continue };
                // The pages that a long row goes on in may have been written more than once.
                for newest in [true, false] {
                    let payload = pages.payload(page, &cell, newest);
                    if let Some((study, position, row)) = payload.and_then(|payload| cell.read(&payload)) {
                        self.add_record(study, position, row);
                    }
                }
            }
        }
    }
}

/// The size of a page where neither file tells.
const USUAL_PAGE: usize = 4096;

/// Bytes before the first frame of a write-ahead log, and before the page of each.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A row longer than this is nonsense.
const LONGEST: u64 = 1 << 24;

/// All that was written of each page, the file's own first.
struct Pages<'a> {
    size: usize,
    versions: BTreeMap<usize, Vec<&'a [u8]>>,
}

impl<'a> Pages<'a> {
    fn of(file: &'a [u8], log: &'a [u8]) -> Self {
        let sizes = [be(file, 16, 2).map(|size| if size == 1 { 65_536 } else { size }), be(log, 8, 4)];
        let is_size = |size: &u64| (512..=65_536).contains(size) && size.is_power_of_two();
        let size = sizes.into_iter().flatten().find(is_size);
        let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(USUAL_PAGE);
        let mut versions: BTreeMap<usize, Vec<&[u8]>> = BTreeMap::new();
        for (number, page) in file.chunks(size).enumerate() {
            versions.entry(number + 1).or_default().push(page);
        }
        for frame in log.get(LOG_HEADER..).unwrap_or_default().chunks(FRAME_HEADER + size) {
            let number = be(frame, 0, 4).and_then(|number| usize::try_from(number).ok());
            if let (Some(number), Some(page)) = (number, frame.get(FRAME_HEADER..)) {
                versions.entry(number).or_default().push(page);
            }
        }
        Self { size, versions }
    }

    /// The bytes of a row: those on its page, and those on the pages that it goes on in.
    fn payload(&self, page: &[u8], cell: &Cell, newest: bool) -> Option<Vec<u8>> {
        let length = cell.length;
        let (most, least) = ((self.size - 12) * 64 / 255 - 23, (self.size - 12) * 32 / 255 - 23);
        if length <= most {
            return Some(page.get(cell.begin..cell.begin + length)?.to_vec());
        }
        let fitting = least + (length - least) % (self.size - 4);
        let local = if fitting <= most { fitting } else { least };
        let mut payload = page.get(cell.begin..cell.begin + local)?.to_vec();
        let mut next = usize::try_from(be(page, cell.begin + local, 4)?).ok()?;
        while payload.len() < length {
            let versions = self.versions.get(&next)?;
            let page = if newest { versions.last() } else { versions.first() }?;
            next = usize::try_from(be(page, 0, 4)?).ok()?;
            let rest = (length - payload.len()).min(self.size - 4);
            payload.extend_from_slice(page.get(4..4 + rest)?);
        }
        Some(payload)
    }
}

/// Where a row may be, and how its columns are written.
struct Cell {
    begin: usize,
    length: usize,
    header: usize,
    types: [u64; 5],
}

impl Cell {
    /// A row of the table `event`, if there is one at this offset of a page.
    fn at(page: &[u8], at: usize) -> Option<Self> {
        let (length, size) = varint(page, at)?;
        let begin = at + size;
        let (header, mut next) = (usize::from(*page.get(begin)?), begin + 1);
        // A length, five types of which that of the body has up to four bytes.
        if !(6..=10).contains(&header) || length > LONGEST {
            return None;
        }
        let mut types = [0; 5];
        for one in &mut types {
            let (found, size) = varint(page, next)?;
            (*one, next) = (found, next + size);
        }
        let [study, position, moment, body, sum] = types;
        let fits = is_number(study) && is_number(position) && is_number(moment) && is_text(body);
        let columns = types.iter().map(|one| width(*one)).sum::<u64>();
        let is_row = fits && sum == SUM && next - begin == header && header as u64 + columns == length;
        is_row.then_some(Self { begin, length: usize::try_from(length).ok()?, header, types })
    }

    /// The study's number, the position and the record.
    fn read(&self, payload: &[u8]) -> Option<(i64, u64, Row)> {
        let mut columns = [&payload[..0]; 5];
        let mut begin = self.header;
        for (column, one) in columns.iter_mut().zip(self.types) {
            let end = begin + usize::try_from(width(one)).ok()?;
            (*column, begin) = (payload.get(begin..end)?, end);
        }
        let whole = |i: usize| integer(self.types[i], columns[i]);
        let text = |i: usize| std::str::from_utf8(columns[i]).ok().map(str::to_owned);
        let at = real(self.types[2], columns[2])?;
        let row = Row { at, body: text(3)?, sum: text(4)? };
        Some((whole(0)?, u64::try_from(whole(1)?).ok()?, row))
    }
}

/// A row of the table `study`, if there is one at this offset of a page.
fn study_at(page: &[u8], at: usize) -> Option<Study> {
    let (length, size) = varint(page, at)?;
    let (id, id_size) = varint(page, at + size)?;
    let begin = at + size + id_size;
    let header = usize::from(*page.get(begin)?);
    // The number stands before the row, and nothing in its place.
    if !(4..=5).contains(&header) || *page.get(begin + 1)? != 0 {
        return None;
    }
    let (name, name_size) = varint(page, begin + 2)?;
    let (began, began_size) = varint(page, begin + 2 + name_size)?;
    let fits = is_text(name) && is_number(began) && 2 + name_size + began_size == header;
    if !fits || header as u64 + width(name) + width(began) != length {
        return None;
    }
    let text = begin + header;
    let end = text + usize::try_from(width(name)).ok()?;
    let number = page.get(end..end + usize::try_from(width(began)).ok()?)?;
    let name = std::str::from_utf8(page.get(text..end)?).ok()?.to_owned();
    Some(Study { id: i64::try_from(id).ok()?, name, began: real(began, number)? })
}

/// The type of a text of 32 bytes.
const SUM: u64 = 13 + 2 * 32;

fn is_number(kind: u64) -> bool {
    (1..=9).contains(&kind)
}

fn is_text(kind: u64) -> bool {
    kind > 13 && kind % 2 == 1 && kind < LONGEST
}

/// How many bytes a column of this type takes.
fn width(kind: u64) -> u64 {
    match kind {
        0 | 8..=11 => 0,
        1..=4 => kind,
        5 => 6,
        6 | 7 => 8,
        _ => (kind - 12) / 2,
    }
}

fn integer(kind: u64, bytes: &[u8]) -> Option<i64> {
    match kind {
        8 => Some(0),
        9 => Some(1),
        1..=6 => {
            // The first byte has the sign.
            let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
            Some(bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte)))
        }
        _ => None,
    }
}

/// Numbers without a fraction are kept as whole ones.
fn real(kind: u64, bytes: &[u8]) -> Option<f64> {
    match kind {
        7 => Some(f64::from_bits(u64::from_be_bytes(bytes.try_into().ok()?))),
        _ => integer(kind, bytes).map(|number| number as f64),
    }
}

/// A number of up to nine bytes, seven bits in each, and how many it takes.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0;
    for size in 1..=9 {
        let byte = *bytes.get(at + size - 1)?;
        if size == 9 {
            return Some((number << 8 | u64::from(byte), 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, size));
        }
    }
    None
}

fn be(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
