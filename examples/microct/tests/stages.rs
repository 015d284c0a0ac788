//! The program from files to files: the whole chain at a small size, the same bytes again, and what it says about wrong input.
#![allow(clippy::unwrap_used)]

mod common;

use common::{fine, microct, number, refused, small_phantom};
use std::process::Command;

const UNET: [&str; 9] = ["unet", "--in", "data", "--truth", "data", "--crops", "24", "--lr", "0.01"];

#[test]
fn the_whole_chain_goes_from_a_phantom_to_a_score() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    small_phantom(at);
    fine(at, &["denoise", "--in", "data", "--strength", "4", "--contrast", "1.2", "--out", "clean"]);
    let said = fine(
        at,
        &[
            "unet", "--in", "clean", "--truth", "data", "--lr", "0.01", "--batch", "4", "--crops", "48",
            "--out", "maps",
        ],
    );
    assert!(said.starts_with("12 steps in "), "{said}");
    let training = at.join("maps/training.json");
    let losses: serde_json::Value = serde_json::from_slice(&std::fs::read(&training).unwrap()).unwrap();
    let first = losses["losses"][0].as_f64().unwrap();
    assert!(number(&training, "training_loss") < 0.8 * first, "nothing was learnt: {losses}");
    assert!(number(&training, "validation_loss") < first);

    fine(
        at,
        &[
            "reconstruct",
            "--in",
            "maps",
            "--truth",
            "data",
            "--purity",
            "0.51",
            "--opening",
            "0",
            "--extent",
            "0.3",
            "--out",
            "cells",
        ],
    );
    let f1 = number(&at.join("cells/result.json"), "f1");
    assert!((0.0..=1.0).contains(&f1));
    assert!(at.join("cells/cells.npy").is_file() && at.join("cells/cells.csv").is_file());
}

#[test]
fn the_truth_itself_scores_one() {
    let folder = tempfile::tempdir().unwrap();
    small_phantom(folder.path());
    let cells: ndarray::Array3<u16> =
        microct::volume::read(&folder.path().join("data/cells.npy"), "the cells").unwrap();
    let (z, y, x) = cells.dim();
    let certain = ndarray::Array4::from_shape_fn((2, z, y, x), |(map, z, y, x)| {
        if map == 0 && cells[(z, y, x)] > 0 { 255u8 } else { 0 }
    });
    std::fs::create_dir(folder.path().join("maps")).unwrap();
    microct::volume::write(&folder.path().join("maps/probability.npy"), &certain).unwrap();
    fine(
        folder.path(),
        &[
            "reconstruct",
            "--in",
            "maps",
            "--truth",
            "data",
            "--opening",
            "0",
            "--extent",
            "0",
            "--out",
            "cells",
        ],
    );
    // Cells that touch are one object to the components: a few may be lost.
    let f1 = number(&folder.path().join("cells/result.json"), "f1");
    assert!(f1 > 0.9, "{f1}");
}

#[test]
fn a_training_is_the_same_to_the_byte_for_a_seed_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    small_phantom(folder.path());
    let maps = |threads: &str, seed: &str, out: &str| {
        let done = Command::new(env!("CARGO_BIN_EXE_microct"))
            .args(UNET)
            .args(["--seed", seed, "--out", out])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success());
        std::fs::read(folder.path().join(out).join("probability.npy")).unwrap()
    };
    let once = maps("1", "5", "a");
    assert!(once == maps("2", "5", "b"));
    assert!(once != maps("2", "6", "c"));
}

#[test]
fn a_training_that_diverges_says_so_and_leaves_no_maps() {
    let folder = tempfile::tempdir().unwrap();
    small_phantom(folder.path());
    let arguments =
        ["unet", "--in", "data", "--truth", "data", "--crops", "24", "--lr", "1e30", "--out", "maps"];
    // Nor those of a training before it.
    std::fs::create_dir(folder.path().join("maps")).unwrap();
    std::fs::write(folder.path().join("maps/probability.npy"), "old").unwrap();
    refused(folder.path(), &arguments, &["diverged", "--lr 1e30", "smaller learning rate"]);
    assert!(!folder.path().join("maps/probability.npy").exists());
}

#[test]
fn wrong_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    small_phantom(at);
    let unet = |input: &str, words: &[&str]| {
        refused(at, &["unet", "--in", input, "--truth", "data", "--crops", "8", "--out", "maps"], words);
    };
    unet("nowhere", &["the volume", "nowhere/volume.npy", "microct phantom"]);

    let whole = std::fs::read(at.join("data/volume.npy")).unwrap();
    std::fs::create_dir(at.join("cut")).unwrap();
    std::fs::write(at.join("cut/volume.npy"), &whole[..whole.len() / 2]).unwrap();
    unet("cut", &["cut/volume.npy", "not a whole NumPy file"]);
    std::fs::write(at.join("cut/volume.npy"), "").unwrap();
    unet("cut", &["not a whole NumPy file"]);

    fine(at, &["phantom", "--out", "other", "--size", "16,48,48"]);
    unet("other", &["(16, 48, 48)", "(16, 48, 52)"]);
    refused(at, &["denoise", "--in", "nowhere", "--out", "clean"], &["nowhere/volume.npy"]);
    refused(
        at,
        &["reconstruct", "--in", "data", "--truth", "data", "--out", "x"],
        &["probability.npy", "microct unet"],
    );

    for (knob, value) in [("--lr", "0"), ("--lr", "nan"), ("--batch", "0"), ("--crops", "0")] {
        refused(at, &["unet", "--in", "data", "--truth", "data", knob, value, "--out", "maps"], &[knob]);
    }
    refused(at, &["denoise", "--in", "data", "--strength", "nan", "--out", "clean"], &["strength"]);
    refused(at, &["denoise", "--in", "data", "--strength", "-1", "--out", "clean"], &["strength is -1"]);
    refused(at, &["denoise", "--in", "data", "--out", "data"], &["overwrite"]);
    assert!(!at.join("maps/probability.npy").exists() && !at.join("clean").exists());
}

#[test]
fn a_table_goes_on_where_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    small_phantom(folder.path());
    let table =
        ["table", "--data", "data", "--rows", "rows", "--seconds", "s.json", "--out", "t", "--crops", "8"];
    refused(folder.path(), &table, &["s.json", "microct measure"]);
    // Before anything runs.
    refused(folder.path(), &["measure", "--data", "data", "--out", "data"], &["data is a directory"]);
    let stage = "{ \"mean\": 1.0, \"sd\": 0.1 }";
    let less =
        "{ \"unet\": { \"mean\": -1.0, \"sd\": 0.1 }, \"reconstruct\": { \"mean\": 1.0, \"sd\": 0.1 } }";
    std::fs::write(folder.path().join("s.json"), less).unwrap();
    refused(folder.path(), &table, &["s.json", "unet", "measure again"]);
    let seconds = format!("{{ \"unet\": {stage}, \"reconstruct\": {stage} }}");
    std::fs::write(folder.path().join("s.json"), seconds).unwrap();
    let table = |limit: &str| {
        let arguments = [
            "table",
            "--data",
            "data",
            "--rows",
            "rows",
            "--seconds",
            "s.json",
            "--out",
            "t",
            "--crops",
            "8",
            "--limit",
            limit,
        ];
        let output = microct(folder.path(), &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let rows = || std::fs::read_dir(folder.path().join("rows")).unwrap().count();
    assert!(table("1").contains("0 of 505 trainings are done"));
    assert_eq!(rows(), 2, "a row and the lock");
    let first = std::fs::read(folder.path().join("rows/00000.json")).unwrap();
    assert!(table("2").contains("1 of 505 trainings are done"));
    assert_eq!(rows(), 4);
    assert_eq!(std::fs::read(folder.path().join("rows/00000.json")).unwrap(), first);
    // Rows of other data are not overwritten.
    fine(folder.path(), &["phantom", "--out", "data", "--size", "16,48,52", "--seed", "4"]);
    let arguments =
        ["table", "--data", "data", "--rows", "rows", "--seconds", "s.json", "--out", "t", "--crops", "8"];
    refused(folder.path(), &arguments, &["00000.json", "other data or settings"]);
}

#[test]
fn what_would_make_a_score_meaningless_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    small_phantom(at);
    fine(at, &["unet", "--in", "data", "--truth", "data", "--crops", "8", "--out", "maps"]);
    // The truth is not overwritten by what was found.
    std::fs::create_dir(at.join("copy")).unwrap();
    std::fs::copy(at.join("data/cells.npy"), at.join("copy/cells.npy")).unwrap();
    refused(at, &["reconstruct", "--in", "maps", "--truth", "copy", "--out", "copy"], &["overwrite"]);
    assert_eq!(
        std::fs::read(at.join("copy/cells.npy")).unwrap(),
        std::fs::read(at.join("data/cells.npy")).unwrap()
    );

    let none = ndarray::Array3::<u16>::zeros((16, 48, 52));
    microct::volume::write(&at.join("none.npy"), &none).unwrap();
    refused(
        at,
        &["reconstruct", "--in", "maps", "--truth", "none.npy", "--out", "x"],
        &["none that is scored"],
    );
    let strange = ndarray::Array3::<u8>::from_elem((16, 48, 52), 255);
    microct::volume::write(&at.join("strange.npy"), &strange).unwrap();
    refused(
        at,
        &["unet", "--in", "data", "--truth", "strange.npy", "--out", "x"],
        &["class 255 at voxel (0, 0, 0)"],
    );
    let empty = ndarray::Array3::<u8>::zeros((16, 48, 52));
    microct::volume::write(&at.join("empty.npy"), &empty).unwrap();
    refused(
        at,
        &["unet", "--in", "data", "--truth", "empty.npy", "--out", "x"],
        &["no cell in slices 0 to 2"],
    );
    fine(at, &["phantom", "--out", "flat", "--size", "5,48,48"]);
    refused(at, &["unet", "--in", "flat", "--truth", "flat", "--out", "x"], &["5 slices", "at least 8"]);
}

#[test]
fn a_header_that_promises_too_much_is_refused_before_memory_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1048576, 1048576, 4194304), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len() + 1).unwrap().to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(b"\n12345");
    std::fs::write(folder.path().join("volume.npy"), bytes).unwrap();
    refused(
        folder.path(),
        &["denoise", "--in", "volume.npy", "--out", "x"],
        &["volume.npy", "not a whole NumPy file"],
    );
}
