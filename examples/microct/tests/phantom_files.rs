//! `microct phantom` and `microct picture` from files to files.

use clap::Parser;
use microct::{phantom, picture, volume};
use ndarray::Array3;
use std::path::Path;

#[derive(Parser)]
enum Command {
    Phantom(phantom::Options),
    Picture(picture::Options),
}

fn microct(line: &str, directory: &Path) -> anyhow::Result<()> {
    let line = line.replace("DIR", &directory.display().to_string());
    match Command::try_parse_from(std::iter::once("microct").chain(line.split(' ')))? {
        Command::Phantom(options) => phantom::run(&options),
        Command::Picture(options) => picture::run(&options),
    }
}

#[test]
fn a_phantom_is_written_and_drawn() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("made/for/it");
    microct("phantom --out DIR --seed 4 --size 9,40,50", &directory).unwrap();
    let grey: Array3<u8> = volume::read(&directory.join("volume.npy"), "the volume").unwrap();
    let truth: Array3<u8> = volume::read(&directory.join("truth.npy"), "the truth").unwrap();
    let cells: Array3<u16> = volume::read(&directory.join("cells.npy"), "the cells").unwrap();
    assert_eq!((grey.dim(), truth.dim(), cells.dim()), ((9, 40, 50), (9, 40, 50), (9, 40, 50)));
    let text = std::fs::read_to_string(directory.join("phantom.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["seed"], 4);
    assert_eq!(json["size"], serde_json::json!([9, 40, 50]));
    assert_eq!(json["cells"], *cells.iter().max().unwrap());
    assert_eq!(json["statistics"][3]["region"], "zi");

    for (options, size) in [("--slice 8", (306, 120)), ("--slice 39 --axis y --scale 1", (102, 9))] {
        microct(&format!("picture --data DIR {options} --out DIR/a.png"), &directory).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(directory.join("a.png")).unwrap());
        let info = png::Decoder::new(file).read_info().unwrap().info().clone();
        assert_eq!((info.width, info.height), size);
    }
    let message =
        microct("picture --data DIR --slice 9 --out DIR/a.png", &directory).unwrap_err().to_string();
    assert!(message.contains("no slice 9") && message.contains("0 to 8"), "{message}");
}

#[test]
fn wrong_sizes_and_missing_volumes_are_explained() {
    let scratch = tempfile::tempdir().unwrap();
    for size in ["9,40", "9,40,x", "9,40,50,60", "-1,2,3"] {
        let message =
            microct(&format!("phantom --out DIR --size={size}"), scratch.path()).unwrap_err().to_string();
        assert!(message.contains("three whole numbers"), "{message}");
    }
    let message = microct("phantom --out DIR --size 0,4,4", scratch.path()).unwrap_err().to_string();
    assert!(message.contains("at least 1"), "{message}");
    let message = microct("picture --data DIR --out DIR/a.png", scratch.path()).unwrap_err().to_string();
    assert!(message.contains("volume.npy"), "{message}");
}
