//! Grey pictures with values from 0 to 1, as 8-bit PGM files that any viewer opens.

use crate::Failure;
use std::path::Path;

/// A grey picture; 0 is black and 1 is white.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The pixels, row by row.
    pub pixels: Vec<f32>,
}

/// The most pixels that a file may claim to have.
const MOST_PIXELS: usize = 1 << 24;

impl Picture {
    /// The same value everywhere.
    pub fn filled(width: usize, height: usize, value: f32) -> Self {
        Self { width, height, pixels: vec![value; width * height] }
    }

    /// The value at a place; beyond the edges the picture is mirrored.
    pub fn at(&self, x: isize, y: isize) -> f32 {
        self.pixels[mirrored(y, self.height) * self.width + mirrored(x, self.width)]
    }

    /// Another picture from a rule for each place.
    pub fn map(&self, rule: impl Fn(isize, isize) -> f32) -> Self {
        let place = |i: usize| rule((i % self.width) as isize, (i / self.width) as isize);
        Self { width: self.width, height: self.height, pixels: (0..self.pixels.len()).map(place).collect() }
    }

    /// The same picture with a mirrored border around it.
    pub fn padded(&self, border: usize) -> Self {
        let (width, height) = (self.width + 2 * border, self.height + 2 * border);
        let inner = |i: usize, side: usize| i as isize - side as isize;
        Self::filled(width, height, 0.0)
            .map(|x, y| self.at(inner(x as usize, border), inner(y as usize, border)))
    }

    /// The picture as it comes back from a file, with 256 greys.
    pub fn rounded(&self) -> Self {
        self.map(|x, y| f32::from(byte(self.at(x, y))) / 255.0)
    }

    /// Reads a binary PGM file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let bytes =
            std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Self::decode(&bytes)
            .ok_or_else(|| format!("{} is not an 8-bit binary PGM file", path.display()).into())
    }

    /// Writes a binary PGM file.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        std::fs::write(path, self.encode())
            .map_err(|error| format!("cannot write {}: {error}", path.display()).into())
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        bytes.extend(self.pixels.iter().map(|v| byte(*v)));
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        // Four words, each ended by one white character; behind the last come the pixels.
        let mut rest = bytes;
        let mut word = || -> Option<&str> {
            let end = rest.iter().position(u8::is_ascii_whitespace)?;
            let (word, behind) = rest.split_at(end);
            rest = behind.get(1..)?;
            std::str::from_utf8(word).ok()
        };
        let (magic, width, height, most) = (word()?, word()?, word()?, word()?);
        let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
        let count = width.checked_mul(height).filter(|count| (1..=MOST_PIXELS).contains(count))?;
        if magic != "P5" || most != "255" || rest.len() != count {
            return None;
        }
        Some(Self { width, height, pixels: rest.iter().map(|v| f32::from(*v) / 255.0).collect() })
    }
}

fn byte(value: f32) -> u8 {
    (value * 255.0).round().clamp(0.0, 255.0) as u8
}

/// A place beyond an edge as the one on this side of it: −1 is 0, −2 is 1.
fn mirrored(i: isize, size: usize) -> usize {
    let size = size.max(1) as isize;
    let place = i.rem_euclid(2 * size);
    (if place < size { place } else { 2 * size - 1 - place }) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_and_garbage_is_refused() {
        let pixels = (0..6).map(|i| i as f32 * 51.0 / 255.0).collect();
        let picture = Picture { width: 3, height: 2, pixels };
        let bytes = picture.encode();
        assert_eq!(Picture::decode(&bytes), Some(picture.rounded()));
        for garbage in [
            &b""[..],
            b"P5",
            b"P5\n3 2\n255\n",
            b"P2\n1 1\n255\n0",
            b"P5\n0 0\n255\n",
            &bytes[..bytes.len() - 1],
        ] {
            assert_eq!(Picture::decode(garbage), None);
        }
    }

    #[test]
    fn edges_are_mirrors() {
        let row = Picture { width: 3, height: 1, pixels: vec![0.0, 0.5, 1.0] };
        let seen: Vec<f32> = (-4..7).map(|x| row.at(x, 5)).collect();
        assert_eq!(seen, [1.0, 1.0, 0.5, 0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0]);
        assert_eq!(row.padded(1).pixels[..5], [0.0, 0.0, 0.5, 1.0, 1.0]);
    }
}
