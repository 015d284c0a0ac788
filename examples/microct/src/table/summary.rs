//! A finished table: what is written for others to read, and what it says about the knobs.

use super::{Axis, Grid, Row, Rows, UNIT};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::path::Path;

/// F1 of every setting of a grid, the first knob slowest.
#[derive(Debug)]
pub struct Table {
    grid: Grid,
    rows: Vec<Row>,
}

/// What a knob is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The knob.
    pub name: &'static str,
    /// The best F1 at each of its values, others free.
    pub best: Vec<f64>,
    /// The difference between the largest and the smallest of them.
    pub spread: f64,
}

/// Seconds of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct Seconds {
    /// On average.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

#[derive(Serialize)]
struct Stage<'a> {
    name: &'static str,
    seconds: Seconds,
    params: &'a [Axis],
}

impl Table {
    /// The table of a grid, if all rows are there.
    pub fn read(grid: Grid, rows: &Rows, keys: &[String]) -> Result<Self> {
        let length = super::row_length(&grid);
        let found: Vec<Row> =
            keys.iter().enumerate().filter_map(|(number, key)| rows.find(number, key, length)).collect();
        if found.len() < keys.len() {
            bail!(
                "{} of {} rows are missing; run the same command again to compute them",
                keys.len() - found.len(),
                keys.len()
            );
        }
        Ok(Self { grid, rows: found })
    }

    /// All entries, in units of 1/65535.
    pub fn entries(&self) -> impl Iterator<Item = u16> {
        self.rows.iter().flat_map(|row| row.f1.iter().copied())
    }

    /// The best F1.
    pub fn best(&self) -> f64 {
        unpacked(self.entries().max().unwrap_or(0))
    }

    /// The mean over all settings: what a random one is worth.
    pub fn mean(&self) -> f64 {
        let (sum, count) =
            self.entries().fold((0.0, 0.0), |(sum, count), f1| (sum + unpacked(f1), count + 1.0));
        sum / f64::max(count, 1.0)
    }

    /// What each knob is worth, in order.
    pub fn spreads(&self) -> Vec<Spread> {
        let sizes: Vec<usize> = self.grid.axes().map(|axis| axis.values.len()).collect();
        let spread = |(number, axis): (usize, &Axis)| {
            let after: usize = sizes[number + 1..].iter().product();
            let mut best = vec![0; sizes[number]];
            for (entry, f1) in self.entries().enumerate() {
                let best = &mut best[entry / after % sizes[number]];
                *best = f1.max(*best);
            }
            let (low, high) = (best.iter().min(), best.iter().max());
            let spread = unpacked(*high.unwrap_or(&0)) - unpacked(*low.unwrap_or(&0));
            Spread { name: axis.name, best: best.into_iter().map(unpacked).collect(), spread }
        };
        self.grid.axes().enumerate().map(spread).collect()
    }

    /// Writes `f1.u16` and `table.json` into a directory. `seconds` are those of the stages, as `microct measure` found them.
    pub fn write(
        &self,
        folder: &Path,
        seconds: &dyn Fn(&str) -> Result<Seconds>,
        made: &serde_json::Value,
    ) -> Result<()> {
        crate::volume::directory(folder)?;
        let bytes: Vec<u8> = self.entries().flat_map(u16::to_le_bytes).collect();
        let stages =
            self.grid.stages.iter().map(|(name, params)| Ok(Stage { name, seconds: seconds(name)?, params }));
        let failures: Vec<_> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(row, found)| Some((row, found.failure.clone()?)))
            .collect();
        let unet: Vec<f64> = self.rows.iter().map(|row| row.unet_seconds).collect();
        let table = serde_json::json!({
            "name": self.grid.name,
            "metric": "f1",
            "unit": UNIT,
            "modules": stages.collect::<Result<Vec<_>>>()?,
            "entries": bytes.len() / 2,
            "best": self.best(),
            "mean": self.mean(),
            "spreads": self.spreads(),
            "failed_trainings": failures,
            "unet_seconds_on_one_core": spread_of(&unet),
            "processor_hours": unet.iter().sum::<f64>() / 3600.0,
            "made": made,
        });
        let keep = |name: &str, content: &[u8]| {
            let file = folder.join(name);
            std::fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))
        };
        keep("f1.u16", &bytes)?;
        keep("table.json", (serde_json::to_string_pretty(&table)? + "\n").as_bytes())
    }
}

/// Mean and standard deviation.
pub fn spread_of(numbers: &[f64]) -> Seconds {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let square = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
    Seconds { mean, sd: (square / (count - 1.0).max(1.0)).sqrt() }
}

fn unpacked(f1: u16) -> f64 {
    f64::from(f1) / f64::from(UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two learning rates × one batch × purities 2 × openings 1 × extents 2.
    fn small() -> (Grid, Rows, Vec<String>, tempfile::TempDir) {
        let axis = |name, values: &[f64]| Axis { name, values: values.to_vec() };
        let unet = vec![axis("lr", &[0.1, 0.2]), axis("batch", &[4.0])];
        let last = vec![axis("purity", &[0.5, 0.6]), axis("opening", &[0.0]), axis("extent", &[0.3, 0.4])];
        let grid = Grid { name: "small", stages: vec![("unet", unet), ("reconstruct", last)] };
        let folder = tempfile::tempdir().unwrap();
        let rows = Rows::open(folder.path()).unwrap();
        (grid, rows, vec!["first".to_owned(), "second".to_owned()], folder)
    }

    fn row(key: &str, f1: [f64; 4], failure: Option<&str>) -> Row {
        Row {
            key: key.to_owned(),
            unet_seconds: 2.0,
            reconstruct_seconds: 0.1,
            validation: None,
            failure: failure.map(str::to_owned),
            f1: f1.map(super::super::rows::packed).to_vec(),
        }
    }

    #[test]
    fn a_table_says_what_each_knob_is_worth() {
        let (grid, rows, keys, folder) = small();
        rows.keep(0, &row("first", [0.2, 0.4, 0.6, 0.1], None)).unwrap();
        let complaint = Table::read(grid.clone(), &rows, &keys).unwrap_err().to_string();
        assert!(complaint.starts_with("1 of 2 rows are missing"), "{complaint}");
        rows.keep(1, &row("second", [0.0; 4], Some("diverged"))).unwrap();
        let table = Table::read(grid, &rows, &keys).unwrap();
        assert!((table.best() - 0.6).abs() < 1e-4 && (table.mean() - 1.3 / 8.0).abs() < 1e-4);
        let spreads: Vec<f64> = table.spreads().iter().map(|spread| spread.spread).collect();
        let expected = [0.6, 0.0, 0.2, 0.0, 0.2];
        assert!(
            spreads.iter().zip(expected).all(|(found, right)| (found - right).abs() < 1e-4),
            "{spreads:?}"
        );

        let seconds = |stage: &str| Ok(Seconds { mean: if stage == "unet" { 8.0 } else { 0.1 }, sd: 0.5 });
        let out = folder.path().join("out");
        table.write(&out, &seconds, &serde_json::json!({ "date": "2026-11-16" })).unwrap();
        let bytes = std::fs::read(out.join("f1.u16")).unwrap();
        assert_eq!(bytes.len(), 16);
        assert_eq!(u16::from_le_bytes([bytes[4], bytes[5]]), 39321);
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("table.json")).unwrap()).unwrap();
        assert_eq!(json["modules"][0]["seconds"]["mean"], 8.0);
        assert_eq!(json["modules"][1]["params"][2]["values"], serde_json::json!([0.3, 0.4]));
        assert_eq!(json["failed_trainings"], serde_json::json!([[1, "diverged"]]));
    }
}
