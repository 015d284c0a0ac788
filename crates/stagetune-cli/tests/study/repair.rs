//! `stagetune repair`: what was sound is kept, what was given up is said, and the study goes on.

use crate::harness::{Dice, Lab, THREE, has_lines, send, story, text, told, wait_until};
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

fn journal(lab: &Lab) -> PathBuf {
    lab.root().join(".stagetune/journal.db")
}

fn flip_record(lab: &Lab, position: usize) {
    let change = format!("UPDATE event SET body = replace(body, '0', '1') WHERE position = {position}");
    assert_eq!(Connection::open(journal(lab)).unwrap().execute(&change, []).unwrap(), 1);
}

#[test]
fn a_flipped_digit_costs_what_came_after_it_and_the_study_ends_as_it_would_have() {
    let lab = Lab::new(THREE);
    lab.done(&["run", "--quiet"]);
    let (all, runs) = (lab.records("three"), lab.runs());
    let ended = |position: &usize| all[*position].record.event.trial().is_some();
    let place = (100..all.len()).find(ended).unwrap();
    flip_record(&lab, place);
    assert_eq!(lab.stagetune(&["status"]).status.code(), Some(7));

    let before = fs::read(journal(&lab)).unwrap();
    let would = lab.json(&["repair", "--dry-run", "--json"]);
    assert_eq!(fs::read(journal(&lab)).unwrap(), before);
    assert_eq!((&would["sound"], &would["dry_run"]), (&false.into(), &true.into()));
    let study = &would["studies"][0];
    assert_eq!((&study["kept"], &study["given_up"]), (&place.into(), &(all.len() - place).into()));
    let known = told(&all[..place]).len();
    let open = study["trials"].as_u64().unwrap() as usize;
    let forgotten: Vec<u64> = serde_json::from_value(study["forgotten"].clone()).unwrap();
    assert_eq!(forgotten, (open as u64..40).collect::<Vec<u64>>());

    let said = lab.done(&["repair", "-f", "pipeline.toml"]);
    assert!(said.contains(&format!("kept: {place} records")), "{said}");
    assert!(said.contains(&format!("not known any more: trial {open}–39")), "{said}");
    assert!(said.contains("outputs in the cache, to be reused:"), "{said}");
    assert_eq!(lab.records("three"), all[..place]);
    assert_eq!(lab.json(&["status", "--json"])["observed"], known);
    let aside = fs::read_dir(lab.root().join(".stagetune")).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = aside.filter(|path| path.to_string_lossy().contains("damaged-")).collect();
    assert_eq!(fs::read(aside[0].join("journal.db")).unwrap(), before);

    lab.done(&["run", "--quiet"]);
    assert_eq!(told(&lab.records("three")), told(&all));
    let again = lab.runs().iter().filter(|(line, times)| runs.get(*line).is_some_and(|t| t < times)).count();
    assert_eq!(again, 0, "an output that was there was made again");
    assert!(lab.done(&["repair", "pipeline.toml"]).contains("nothing to repair"));
}

#[test]
fn a_sound_journal_is_left_alone_and_one_that_is_in_use_is_not_touched() {
    let lab = Lab::new(&THREE.replace("sleep 0.002", "echo >> ../outside/begun; sleep 0.1"));
    assert_eq!(lab.stagetune(&["repair"]).status.code(), Some(8));
    let mut child = lab.start(&["run", "--quiet"]);
    wait_until("a stage", || has_lines(&lab.outside().join("begun"), 2));
    let refused = lab.stagetune(&["repair"]);
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused.stderr));
    send(&child, "-KILL");
    child.wait().unwrap();
    let before = fs::read(journal(&lab)).unwrap();
    assert_eq!(lab.json(&["repair", "--json"])["sound"], true);
    assert_eq!(fs::read(journal(&lab)).unwrap(), before);
    assert!(lab.root().join(".stagetune/journal.db-wal").exists());
}

#[test]
fn whatever_byte_is_flipped_every_command_shows_the_truth_or_refuses_and_the_study_ends_after_a_repair() {
    let few = THREE.replace("trials = 40", "trials = 10");
    let whole = Lab::new(&few);
    whole.done(&["run", "--quiet"]);
    let reference = story(&whole.records("three"));
    let (truth, bytes) = (whole.done(&["trials", "--all", "--json"]), fs::read(journal(&whole)).unwrap());
    let mut dice = Dice(21);
    let mut refused = 0;
    for _ in 0..40 {
        let lab = Lab::new(&few);
        let both = [whole.root().join(".stagetune"), lab.root()];
        assert!(std::process::Command::new("cp").arg("-r").args(both).status().unwrap().success());
        let offset = dice.below(bytes.len() as u64) as usize;
        let mut broken = bytes.clone();
        // A digit becomes another one, anything else another byte.
        broken[offset] ^= if broken[offset].is_ascii_digit() { 1 } else { 1 << dice.below(8) };
        fs::write(journal(&lab), &broken).unwrap();
        let mut codes = Vec::new();
        for command in [&["trials", "--all", "--json"][..], &["status"], &["best"], &["export"]] {
            let output = lab.stagetune(command);
            codes.push(output.status.code());
            if codes[0] == Some(0) && codes.len() == 1 {
                assert_eq!(text(&output.stdout), truth, "byte {offset}");
            }
        }
        assert!(codes.iter().all(|code| *code == codes[0]), "byte {offset}: {codes:?}");
        if codes[0] == Some(0) {
            continue;
        }
        assert_eq!(codes[0], Some(7), "byte {offset}");
        refused += 1;
        lab.done(&["repair"]);
        let kept = story(&lab.records("three"));
        assert_eq!(kept, reference[..kept.len()], "byte {offset}");
        lab.done(&["run", "--quiet"]);
        assert_eq!(told(&lab.records("three")).len(), 10, "byte {offset}");
    }
    assert!(refused > 10, "{refused}");
}
