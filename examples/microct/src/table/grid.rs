//! The grids of the two tables: which values every knob takes.

use serde::Serialize;

/// The values of a knob, in order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// The knob.
    pub name: &'static str,
    /// What it is set to.
    pub values: Vec<f64>,
}

/// A grid: for each stage its knobs, the earliest stage first.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The name of the table.
    pub name: &'static str,
    /// Stages and their knobs.
    pub stages: Vec<(&'static str, Vec<Axis>)>,
}

/// A training: what is done before it, and its own knobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Strength and contrast of the denoising, if there is any.
    pub denoise: Option<(f64, f64)>,
    /// Learning rate.
    pub lr: f64,
    /// Batch size.
    pub batch: usize,
}

impl Grid {
    /// The two-stage grid of the paper: 505 U-Nets × 1,200 reconstructions of the volume as it is.
    pub fn two() -> Self {
        let lr = std::iter::once(1e-7).chain((1..=100).map(|step| f64::from(step) / 1000.0)).collect();
        let unet = vec![axis("lr", lr), axis("batch", evenly(4.0, 12.0, 5))];
        Self { name: "microct-2", stages: vec![("unet", unet), ("reconstruct", reconstruct())] }
    }

    /// The three-stage grid: 12 ways to denoise × 40 U-Nets × 1,200 reconstructions, over the ranges of the paper.
    pub fn three() -> Self {
        let denoise =
            vec![axis("strength", vec![1.0, 5.0, 10.0, 15.0]), axis("contrast", vec![1.0, 1.5, 2.0])];
        // Seven equal steps in the logarithm.
        let lr = (0..8).map(|step| 1e-5 * 8192f64.powf(f64::from(step) / 7.0)).collect();
        let unet = vec![axis("lr", lr), axis("batch", evenly(2.0, 14.0, 5))];
        Self {
            name: "microct-3",
            stages: vec![("denoise", denoise), ("unet", unet), ("reconstruct", reconstruct())],
        }
    }

    /// All knobs in order.
    pub fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.stages.iter().flat_map(|(_, axes)| axes)
    }

    /// All trainings, in the order of the table's rows.
    pub fn trainings(&self) -> Vec<Training> {
        let values = |name: &str| {
            self.axes().find(|axis| axis.name == name).map_or(&[][..], |axis| axis.values.as_slice())
        };
        let mut before: Vec<Option<(f64, f64)>> = Vec::new();
        for &strength in values("strength") {
            before.extend(values("contrast").iter().map(|&contrast| Some((strength, contrast))));
        }
        if before.is_empty() {
            before.push(None);
        }
        let mut trainings = Vec::new();
        for denoise in before {
            for &lr in values("lr") {
                trainings.extend(values("batch").iter().map(|&batch| Training {
                    denoise,
                    lr,
                    batch: batch as usize,
                }));
            }
        }
        trainings
    }

    /// Purities, openings and extents.
    pub fn reconstructions(&self) -> (Vec<f64>, Vec<usize>, Vec<f64>) {
        let values = |name: &str| {
            self.axes().find(|axis| axis.name == name).map_or_else(Vec::new, |axis| axis.values.clone())
        };
        let openings = values("opening").iter().map(|&opening| opening as usize).collect();
        (values("purity"), openings, values("extent"))
    }
}

fn reconstruct() -> Vec<Axis> {
    vec![
        axis("purity", evenly(0.51, 0.8, 20)),
        axis("opening", vec![0.0, 1.0, 2.0]),
        axis("extent", evenly(0.3, 0.8, 20)),
    ]
}

fn axis(name: &'static str, values: Vec<f64>) -> Axis {
    Axis { name, values }
}

fn evenly(first: f64, last: f64, count: u32) -> Vec<f64> {
    let step = (last - first) / f64::from(count.max(2) - 1);
    (0..count).map(|k| first + step * f64::from(k)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grids_have_the_sizes_of_the_paper() {
        let entries = |grid: Grid| grid.axes().map(|axis| axis.values.len()).product::<usize>();
        assert_eq!((Grid::two().trainings().len(), entries(Grid::two())), (505, 606_000));
        assert_eq!((Grid::three().trainings().len(), entries(Grid::three())), (480, 576_000));
    }

    #[test]
    fn the_ranges_are_those_of_the_paper() {
        for (name, low, high) in
            [("strength", 1.0, 15.0), ("contrast", 1.0, 2.0), ("lr", 1e-5, 8.192e-2), ("batch", 2.0, 14.0)]
        {
            let grid = Grid::three();
            let axis = grid.axes().find(|axis| axis.name == name).unwrap();
            assert!((axis.values[0] - low).abs() < 1e-9, "{name}");
            assert!((axis.values[axis.values.len() - 1] - high).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn rows_are_in_the_order_of_the_axes() {
        let trainings = Grid::three().trainings();
        assert_eq!(trainings[0].denoise, Some((1.0, 1.0)));
        assert_eq!((trainings[1].lr, trainings[1].batch), (1e-5, 5));
        assert_eq!(trainings[40].denoise, Some((1.0, 1.5)));
    }
}
