//! The chain of checksums through a log: each record's sum covers the record and the sum before it.
//!
//! ```text
//! sum₋₁ = H(bits of `began`, name of the study)
//! sumₙ  = H(sumₙ₋₁, n, bits of `at`, body)
//! H: the first 16 bytes of BLAKE3; numbers are 8 bytes, little-endian
//! ```
//!
//! So a record that was changed, moved, swapped with another or taken from another study does not fit. The
//! chain guards against damage and careless edits, not against somebody who computes it anew. It is
//! independent of what keeps the log.

use std::fmt;

use super::LogError;

/// How many bytes of the hash are kept: two records with one sum need some 2⁶⁴ tries.
const BYTES: usize = 16;

/// The checksum of a record and of all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum([u8; BYTES]);

impl Sum {
    /// What the first record of a study chains from.
    pub fn begin(study: &str, began: f64) -> Self {
        Self::of(&[&bits(began), study.as_bytes()])
    }

    /// The sum of the record that follows.
    pub fn next(self, position: u64, at: f64, body: &str) -> Self {
        Self::of(&[&self.0, &position.to_le_bytes(), &bits(at), body.as_bytes()])
    }

    /// The sum with these hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 2 * BYTES || !text.is_ascii() {
            return None;
        }
        let mut sum = [0; BYTES];
        for (byte, digits) in sum.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        // `from_str_radix` takes a sign and capital letters.
        (Self(sum).to_string() == text).then_some(Self(sum))
    }

    /// The sum of some bytes.
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        let mut sum = [0; BYTES];
        hasher.finalize_xof().fill(&mut sum);
        Self(sum)
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Walks along a chain and checks every link.
#[derive(Clone, Debug)]
pub struct Chain {
    study: String,
    position: u64,
    sum: Sum,
}

impl Chain {
    /// Before the first record of a study.
    pub fn begin(study: &str, began: f64) -> Self {
        Self { study: study.to_owned(), position: 0, sum: Sum::begin(study, began) }
    }

    /// After the first `position` records, of which the last has this sum.
    pub fn after(study: &str, position: u64, sum: Sum) -> Self {
        Self { study: study.to_owned(), position, sum }
    }

    /// How many records were passed.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The sum of the last of them.
    pub fn sum(&self) -> Sum {
        self.sum
    }

    /// Takes the next record to be written, and returns its sum.
    pub fn add(&mut self, at: f64, body: &str) -> Sum {
        self.sum = self.sum.next(self.position, at, body);
        self.position += 1;
        self.sum
    }

    /// Takes the next record that was read; refused if its sum does not fit.
    pub fn check(&mut self, at: f64, body: &str, stored: &str) -> Result<(), LogError> {
        let wrong = |problem| LogError::Chain { study: self.study.clone(), position: self.position, problem };
        let Some(stored) = Sum::parse(stored) else {
            return Err(wrong(format!("its checksum `{stored}` is not one of 32 hexadecimal digits")));
        };
        let expected = self.sum.next(self.position, at, body);
        if stored != expected {
            let problem = format!("its time and content after the record before give checksum {expected}");
            return Err(wrong(format!("{problem}, but {stored} is stored")));
        }
        self.add(at, body);
        Ok(())
    }
}

/// Minus zero has the bits of zero: databases do not tell them apart.
fn bits(number: f64) -> [u8; 8] {
    (number + 0.0).to_bits().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_a_known_chain_never_change() {
        let mut chain = Chain::begin("microct", 1_750_000_000.25);
        assert_eq!(chain.sum().to_string(), BEGIN);
        assert_eq!(chain.add(0.5, "{}").to_string(), FIRST);
    }

    /// Worked out by another program from the same bytes.
    const BEGIN: &str = "884c8cfdb0b7c48e934ab3ff2d7af47c";
    const FIRST: &str = "272efa91bfe7bf0219920fb40c6ffac3";

    #[test]
    fn whatever_differs_the_chain_breaks_at_that_record() {
        let mut writer = Chain::begin("s", 1.0);
        let first = writer.add(2.0, "one").to_string();
        let second = writer.add(3.0, "two").to_string();
        let mut reader = Chain::begin("s", 1.0);
        for (at, body, sum) in [(2.0, "onE", &first), (2.5, "one", &first), (2.0, "one", &second)] {
            let error = reader.clone().check(at, body, sum).unwrap_err();
            assert!(matches!(error, LogError::Chain { position: 0, .. }), "{error}");
        }
        assert!(Chain::begin("t", 1.0).check(2.0, "one", &first).is_err(), "another study");
        assert!(Chain::begin("s", 1.5).check(2.0, "one", &first).is_err(), "an earlier study of that name");
        reader.check(2.0, "one", &first).unwrap();
        let error = reader.clone().check(3.0, "one", &second).unwrap_err();
        assert!(matches!(error, LogError::Chain { position: 1, .. }), "{error}");
        reader.check(3.0, "two", &second).unwrap();
        assert_eq!((reader.position(), reader.sum()), (2, writer.sum()));
    }

    #[test]
    fn a_chain_goes_on_from_a_stored_sum_and_a_text_that_is_none_is_named() {
        let mut writer = Chain::begin("s", 1.0);
        let first = writer.add(-0.0, "one");
        let second = writer.add(0.0, "two").to_string();
        Chain::after("s", 1, first).check(-0.0, "two", &second).unwrap();
        assert!(Chain::after("s", 2, first).check(0.0, "two", &second).is_err(), "another position");
        for text in ["", "00", &second.to_uppercase(), &format!("+{}", &second[1..]), &"é".repeat(16)] {
            assert_eq!(Sum::parse(text), None, "{text}");
        }
        assert_eq!(Sum::parse(&second), Some(writer.sum()));
    }
}
