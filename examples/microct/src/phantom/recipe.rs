//! What a phantom is made of: its size and difficulty, and the tissue of each region, calibrated on annotated microCT slices.

use crate::volume::Size;
use anyhow::{Result, ensure};
use serde::Serialize;

/// Size, seed and difficulty of a phantom.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// Voxels along z, y and x.
    pub size: Size,
    /// Noise amplitude as a multiple of the measured one.
    pub noise: f32,
    /// Standard deviation of the Gaussian, in voxels, that correlates the finer noise.
    pub correlation: f32,
    /// Standard deviation of the cells' contrast in units of its mean; pale cells drown in noise.
    pub contrast_spread: f32,
    /// Pale spots that no annotator calls a cell, per cell.
    pub ghosts: f32,
    /// Amplitude of the ring artefacts in grey levels.
    pub rings: f32,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            seed: 1,
            size: (64, 192, 192),
            noise: 0.9,
            // The autocorrelation of real slices falls to 0.70, 0.38 and 0.16 at 1, 2 and 3 voxels: a Gaussian of 1.0.
            correlation: 1.0,
            contrast_spread: 0.25,
            ghosts: 0.0,
            rings: 3.0,
        }
    }
}

/// Voxels of the largest phantom: making it takes 35 bytes for each, a good 2 GB.
const LARGEST: usize = 1 << 26;

impl Recipe {
    /// Refuses sizes and knobs that no phantom can be made with.
    pub fn check(&self) -> Result<()> {
        let (depth, height, width) = self.size;
        let voxels = depth.checked_mul(height).and_then(|area| area.checked_mul(width));
        ensure!(
            voxels.is_some_and(|voxels| (1..=LARGEST).contains(&voxels)),
            "a phantom of {depth} × {height} × {width} voxels cannot be made; each side must be at least 1, and all voxels together at most {LARGEST}"
        );
        for (name, value, low, high) in [
            ("noise", self.noise, 0.0, 10.0),
            ("correlation", self.correlation, 0.1, 8.0),
            ("contrast spread", self.contrast_spread, 0.0, 1.0),
            ("ghosts", self.ghosts, 0.0, 10.0),
            ("rings", self.rings, 0.0, 100.0),
        ] {
            ensure!(
                (low..=high).contains(&value),
                "the {name} of a phantom must lie in {low}..{high}, not {value}"
            );
        }
        Ok(())
    }
}

/// The make-up of one region.
pub(super) struct Tissue {
    pub name: &'static str,
    /// Grey level of the background.
    pub grey: f32,
    /// Standard deviation of the noise in grey levels.
    pub noise: f32,
    pub cells: Cells,
    pub vessels: Vessels,
    pub axons: Option<Axons>,
}

/// Cell bodies: ellipsoids.
pub(super) struct Cells {
    /// Cells per million voxels.
    pub density: f32,
    /// Mean radius in voxels.
    pub radius: f32,
    /// Standard deviation of the logarithm of the radius.
    pub spread: f32,
    /// Mean darkness below the background in grey levels.
    pub contrast: f32,
}

/// Blood vessels: a network of capillaries and a few trunks.
///
/// Lines in random directions cross a plane `length` / 2 times per unit area, and the median section of such
/// a tube of radius r is √2·π·r², which is how both numbers follow from the annotated sections.
pub(super) struct Vessels {
    /// Voxels of capillary length per thousand voxels of tissue.
    pub length: f32,
    /// Median radius of a capillary.
    pub radius: f32,
    /// Standard deviation of the logarithm of the radius.
    pub spread: f32,
    /// Trunks through every 96 × 96 voxels of a slice, rounded: the default volume has one, in the zona incerta.
    pub trunks: f32,
    /// Radius of a trunk.
    pub trunk_radius: f32,
}

/// Bundles of myelinated axons: where a smooth random field stretched along the fibres is high.
pub(super) struct Axons {
    /// Share of the region's voxels.
    pub fraction: f32,
    /// Grey levels above the background.
    pub contrast: f32,
    /// Largest swing of the stripes in grey levels.
    pub stripes: f32,
    /// Fibre direction (z, y, x), a unit vector roughly.
    pub direction: [f32; 3],
    /// Size of a bundle along and across its fibres, in voxels.
    pub along: f32,
    pub across: f32,
    /// Amplitude of the finer strands in units of the bundles' field.
    pub strands: f32,
    /// How strongly cells avoid bundles: the chance that a cell inside one is moved away.
    pub avoided: f32,
}

/// Cortex, striatum, thalamus (reticular nucleus and ventral posterior) and zona incerta.
pub(super) const TISSUES: [Tissue; 4] = [
    Tissue {
        name: "ctx",
        grey: 115.0,
        noise: 17.0,
        cells: Cells { density: 134.0, radius: 3.38, spread: 0.24, contrast: 74.0 },
        vessels: Vessels { length: 1.4, radius: 1.85, spread: 0.18, trunks: 0.3, trunk_radius: 4.0 },
        axons: None,
    },
    Tissue {
        name: "str",
        grey: 112.0,
        noise: 16.0,
        cells: Cells { density: 95.0, radius: 4.37, spread: 0.16, contrast: 66.0 },
        vessels: Vessels { length: 1.3, radius: 2.05, spread: 0.25, trunks: 0.3, trunk_radius: 4.5 },
        axons: Some(Axons {
            fraction: 0.176,
            contrast: 43.0,
            stripes: 25.0,
            direction: [0.1, 0.25, 0.96],
            along: 75.0,
            across: 21.0,
            strands: 0.05,
            avoided: 1.0,
        }),
    },
    Tissue {
        name: "trn",
        grey: 125.0,
        noise: 16.0,
        cells: Cells { density: 56.0, radius: 4.85, spread: 0.1, contrast: 84.0 },
        vessels: Vessels { length: 2.6, radius: 1.75, spread: 0.27, trunks: 0.4, trunk_radius: 6.0 },
        axons: Some(Axons {
            fraction: 0.6,
            contrast: 23.0,
            stripes: 42.0,
            direction: [0.15, -0.75, 0.65],
            along: 70.0,
            across: 22.0,
            strands: 0.25,
            avoided: 0.6,
        }),
    },
    Tissue {
        name: "zi",
        grey: 137.0,
        noise: 24.0,
        cells: Cells { density: 106.0, radius: 5.03, spread: 0.17, contrast: 63.0 },
        vessels: Vessels { length: 4.1, radius: 1.75, spread: 0.22, trunks: 1.0, trunk_radius: 6.5 },
        axons: None,
    },
];
