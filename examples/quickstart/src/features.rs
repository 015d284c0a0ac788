//! What the classifier sees of a pixel: how dark it is and how its surroundings vary.

use crate::picture::Picture;

/// Numbers per pixel.
pub const FEATURES: usize = 5;

/// Standard deviations of the blurs that surroundings are measured with: within a cell, a cell, and the light.
const SCALES: [f32; 3] = [1.5, 4.0, 14.0];

/// The features of every pixel: the grey value less the light, less two surroundings, how steep it is and how much it varies.
pub fn features(picture: &Picture) -> Vec<[f32; FEATURES]> {
    let [near, around, light] = SCALES.map(|sd| gaussian_blur(picture, sd));
    let squares = gaussian_blur(&picture.map(|x, y| picture.at(x, y).powi(2)), SCALES[0]);
    (0..picture.pixels.len())
        .map(|i| {
            let (x, y) = ((i % picture.width) as isize, (i / picture.width) as isize);
            let v = picture.pixels[i];
            let steepness = (picture.at(x + 1, y) - picture.at(x - 1, y))
                .hypot(picture.at(x, y + 1) - picture.at(x, y - 1));
            let variance = (squares.pixels[i] - near.pixels[i].powi(2)).max(0.0);
            [
                v - light.pixels[i],
                v - around.pixels[i],
                around.pixels[i] - light.pixels[i],
                steepness,
                variance.sqrt(),
            ]
        })
        .collect()
}

/// A Gaussian blur, along rows and then along columns.
pub fn gaussian_blur(picture: &Picture, sd: f32) -> Picture {
    let reach = (3.0 * sd).ceil() as isize;
    let mut kernel: Vec<f32> = (-reach..=reach).map(|o| (-0.5 * (o as f32 / sd).powi(2)).exp()).collect();
    let total: f32 = kernel.iter().sum();
    kernel.iter_mut().for_each(|k| *k /= total);
    let sum = |at: &dyn Fn(isize) -> f32| (-reach..=reach).zip(&kernel).map(|(o, k)| k * at(o)).sum::<f32>();
    let rows = picture.map(|x, y| sum(&|o| picture.at(x + o, y)));
    rows.map(|x, y| sum(&|o| rows.at(x, y + o)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blur_keeps_the_mean_and_spreads_a_dot() {
        let mut dot = Picture::filled(21, 21, 0.0);
        dot.pixels[10 * 21 + 10] = 1.0;
        let blurred = gaussian_blur(&dot, 1.5);
        assert!((blurred.pixels.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        // 1/(2π · 1.5²), but for the truncation.
        assert!((blurred.at(10, 10) - 0.0707).abs() < 2e-3);
        assert_eq!(blurred.at(9, 10), blurred.at(10, 11));
    }

    #[test]
    fn an_even_picture_has_nothing_to_see_and_an_edge_is_steep() {
        let even = features(&Picture::filled(9, 9, 0.5));
        assert!(even.iter().flatten().all(|f| f.abs() < 1e-3));
        let edge = Picture::filled(9, 9, 0.0).map(|x, _| if x < 4 { 0.0 } else { 1.0 });
        let seen = features(&edge);
        assert_eq!((seen[4 * 9 + 4][3], seen[4 * 9 + 8][3]), (1.0, 0.0));
    }
}
