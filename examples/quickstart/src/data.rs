//! `quickstart data`: a drawn picture of tissue, its noisy version, and the truth.
//!
//! Cells are dark discs with a brighter middle; they are what the pipeline has to find. Vessels are dark tubes, thinner than cells, and specks are
//! dark dots, smaller than cells: both fool a classifier that sees a few pixels at a time. Fibres are bright stripes, the light falls off to one side,
//! and each pixel has noise nearly half as strong as a cell is dark.

use crate::Failure;
use crate::arguments::Arguments;
use crate::features::gaussian_blur;
use crate::picture::Picture;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The side of the picture that comes with the example.
const SIDE: usize = 224;

/// Standard deviation of the noise; cells are 0.2 darker than what is around them.
const NOISE: f32 = 0.09;

/// A drawn picture.
#[derive(Debug)]
pub struct Phantom {
    /// As a perfect camera would see it.
    pub clean: Picture,
    /// As it was seen.
    pub noisy: Picture,
    /// 1 where there is a cell, 0 elsewhere.
    pub truth: Picture,
}

/// Draws the files.
pub fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let seed = arguments.take_or("seed", 1)?;
    let out = arguments.out()?;
    arguments.end()?;
    let phantom = draw(SIDE, seed);
    phantom.clean.write(&out.join("clean.pgm"))?;
    phantom.noisy.write(&out.join("noisy.pgm"))?;
    phantom.truth.write(&out.join("truth.pgm"))
}

/// A square picture from a seed.
pub fn draw(side: usize, seed: u64) -> Phantom {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let mut pen = Pen { clean: Picture::filled(side, side, 0.0), truth: Picture::filled(side, side, 0.0) };
    let s = side as f32;
    pen.clean = pen.clean.map(|x, y| 0.62 + 0.10 * (x as f32 / s - 0.5) - 0.06 * (2.2 * y as f32 / s).sin());
    let area = side * side;
    for _ in 0..2 + area / 25_000 {
        pen.fibres(
            uniform(&mut dice, 0.0, s),
            uniform(&mut dice, 0.0, s),
            uniform(&mut dice, 0.0, std::f32::consts::PI),
        );
    }
    for _ in 0..2 + area / 6_000 {
        pen.vessel(&mut dice);
    }
    for _ in 0..area / 600 {
        let (x, y) = (uniform(&mut dice, 0.0, s), uniform(&mut dice, 0.0, s));
        pen.fill(&Ellipse { x, y, r: uniform(&mut dice, 0.8, 1.7), stretch: 1.0 }, 0.40, 0.40);
    }
    pen.cells(&mut dice, area / 700);
    let clean = gaussian_blur(&pen.clean, 0.7);
    let texture = Picture::filled(side, side, 0.0);
    let texture = gaussian_blur(&Picture { pixels: normals(&mut dice, area), ..texture }, 2.0);
    let noise = normals(&mut dice, area);
    let mut noisy = clean.clone();
    for (i, pixel) in noisy.pixels.iter_mut().enumerate() {
        *pixel = (*pixel + 0.12 * texture.pixels[i] + NOISE * noise[i]).clamp(0.0, 1.0);
    }
    Phantom { clean, noisy, truth: pen.truth }
}

/// What is drawn on.
struct Pen {
    clean: Picture,
    truth: Picture,
}

/// A disc that is `stretch` times as narrow as it is high.
struct Ellipse {
    x: f32,
    y: f32,
    r: f32,
    stretch: f32,
}

impl Ellipse {
    /// 0 in the middle, 1 on the rim.
    fn distance(&self, x: f32, y: f32) -> f32 {
        ((x - self.x) * self.stretch).hypot((y - self.y) / self.stretch) / self.r
    }
}

impl Pen {
    /// Cells that do not touch each other.
    fn cells(&mut self, dice: &mut ChaCha8Rng, wanted: usize) {
        let side = self.clean.width as f32;
        let mut placed: Vec<(f32, f32, f32)> = Vec::new();
        for _ in 0..20 * wanted {
            let (x, y, r) = (uniform(dice, 0.0, side), uniform(dice, 0.0, side), uniform(dice, 3.2, 6.2));
            let free = |(a, b, q): &(f32, f32, f32)| (x - a).hypot(y - b) > r + q + 3.0;
            let stretch = uniform(dice, 0.8, 1.25);
            if placed.len() < wanted && placed.iter().all(free) {
                placed.push((x, y, r));
                self.cell(&Ellipse { x, y, r, stretch }, uniform(dice, 0.38, 0.46), 0.52);
            }
        }
    }

    /// An ellipse with one grey value at its rim and another in its middle.
    fn fill(&mut self, ellipse: &Ellipse, rim: f32, middle: f32) {
        self.paint(|x, y| match ellipse.distance(x, y) {
            inner if inner < 0.45 => Some(middle),
            outer if outer <= 1.0 => Some(rim),
            _ => None,
        });
    }

    /// The same, and it is true.
    fn cell(&mut self, ellipse: &Ellipse, rim: f32, middle: f32) {
        self.fill(ellipse, rim, middle);
        let inside = |x: isize, y: isize| ellipse.distance(x as f32, y as f32) <= 1.0;
        self.truth = self.truth.map(|x, y| if inside(x, y) { 1.0 } else { self.truth.at(x, y) });
    }

    /// A tube that wanders through the picture.
    fn vessel(&mut self, dice: &mut ChaCha8Rng) {
        let side = self.clean.width as f32;
        let (mut x, mut y) = (uniform(dice, 0.0, side), uniform(dice, 0.0, side));
        let (mut heading, radius) = (uniform(dice, 0.0, std::f32::consts::TAU), uniform(dice, 1.1, 1.9));
        let mut path = Vec::new();
        for _ in 0..(0.4 * side) as usize {
            path.push((x, y));
            heading += uniform(dice, -0.25, 0.25);
            (x, y) = (x + heading.cos(), y + heading.sin());
        }
        self.paint(|px, py| {
            let near = path.iter().map(|(a, b)| (px - a).hypot(py - b)).fold(f32::INFINITY, f32::min);
            match near - radius {
                inside if inside <= 0.0 => Some(0.38),
                rim if rim <= 1.0 => Some(0.70),
                _ => None,
            }
        });
    }

    /// A bundle of bright stripes.
    fn fibres(&mut self, x: f32, y: f32, angle: f32) {
        let before = self.clean.clone();
        self.paint(|px, py| {
            let along = (px - x) * angle.cos() + (py - y) * angle.sin();
            let across = (py - y) * angle.cos() - (px - x) * angle.sin();
            let inside = (along / 45.0).hypot(across / 16.0) < 1.0;
            inside.then(|| before.at(px as isize, py as isize) + 0.08 + 0.05 * (1.2 * across).sin())
        });
    }

    fn paint(&mut self, rule: impl Fn(f32, f32) -> Option<f32>) {
        self.clean = self.clean.map(|x, y| rule(x as f32, y as f32).unwrap_or_else(|| self.clean.at(x, y)));
    }
}

fn uniform(dice: &mut ChaCha8Rng, low: f32, high: f32) -> f32 {
    low + (high - low) * dice.random::<f32>()
}

/// Standard normal numbers by Box and Muller's method.
fn normals(dice: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    let normal = |_| {
        let (u, v): (f64, f64) = (dice.random(), dice.random());
        ((-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
    };
    (0..count).map(normal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_one_picture_with_cells_that_are_darker_than_the_rest() {
        let (a, b) = (draw(96, 5), draw(96, 5));
        assert_eq!((&a.noisy, &a.truth), (&b.noisy, &b.truth));
        assert_ne!(a.noisy, draw(96, 6).noisy);
        let mean = |wanted: f32| {
            let pixels = a.clean.pixels.iter().zip(&a.truth.pixels).filter(|(_, t)| **t == wanted);
            let (count, sum) = pixels.fold((0, 0.0), |(n, sum), (v, _)| (n + 1, sum + v));
            assert!(count > 200);
            sum / count as f32
        };
        assert!(mean(1.0) < mean(0.0) - 0.1);
    }

    #[test]
    fn the_files_that_come_with_the_example_are_those_of_seed_1() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let truth = Picture::read(&folder.join("truth.pgm")).unwrap();
        assert_eq!(truth.pixels, draw(SIDE, 1).truth.pixels);
    }
}
