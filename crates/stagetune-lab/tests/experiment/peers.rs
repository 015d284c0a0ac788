//! Games of optimisers from outside, with a player of one line of shell in place of Python.

use super::files::{TOY, by_run, folder, number, rows};
use stagetune_lab::packed;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Answers (0.25, 0.5, t/10) at turn t.
const PLAYER: &str =
    r#"t=0; while read line; do t=$((t+1)); echo "{\"x\":[0.25,0.5,0.$t],\"seconds\":1.5}"; done"#;

fn stagetune_lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stagetune-lab")).args(arguments).current_dir(folder).output().unwrap()
}

fn play(folder: &Path, player: &str, sims: &str) -> Output {
    let with = ["--sims", sims, "--out", "games", "--player", "sh", "-c", player, "player"];
    stagetune_lab(folder, &[&["peers", "plan.toml", "--peers", "smac3"][..], &with].concat())
}

fn toy(name: &str) -> PathBuf {
    let folder = folder(name);
    // The player's first point and a few more.
    let toy = TOY.replace("budget = 5", "budget = 6");
    let plan = format!("{toy}[peers]\ngames = \"games\"\nnames = [\"smac3\", \"optuna-tpe\"]\n");
    std::fs::write(folder.join("plan.toml"), &plan).unwrap();
    let others = plan.replace("[1, 2]", "[2, 1]").replace("[10, 1]", "[3, 2]");
    let longer = toy.replace("budget = 6", "budget = 9");
    std::fs::write(folder.join("longer.toml"), plan.replace(&toy, &longer)).unwrap();
    std::fs::write(folder.join("other.toml"), others).unwrap();
    folder
}

#[test]
fn a_game_is_played_once_and_charged_by_every_plan() {
    let folder = toy("peers");
    assert!(play(&folder, PLAYER, "1").status.success());
    let again = play(&folder, PLAYER, "2");
    assert!(String::from_utf8_lossy(&again.stderr).contains("2 games, 1 of them played now"));

    for (plan, out, costs) in [("plan.toml", "a", [11.0, 1.0]), ("other.toml", "b", [5.0, 2.0])] {
        let ran =
            stagetune_lab(&folder, &["run", plan, "--strategies", "random,smac3,optuna-tpe", "--out", out]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(
            ran.status.success() && said.contains("for want of games under these conditions: optuna-tpe"),
            "{said}"
        );
        let (curves, points) = (rows(&folder.join(out), "curves.csv"), rows(&folder.join(out), "points.csv"));
        let (curves, points) = (by_run(&curves), by_run(&points));
        // Three runs of random, two games.
        assert_eq!(curves.len(), 5);
        let start = |run: usize| points[run][..4].iter().map(|row| row[5..].to_vec()).collect::<Vec<_>>();
        assert_eq!((start(3), start(4)), (start(0), start(1)), "another start or other noise");
        // The first point of the player moves everything, the others the last variable alone.
        let cost = |row: usize| number(&curves[3][row], 4) - number(&curves[3][row - 1], 4);
        assert_eq!([cost(4), cost(5)], costs);
        assert_eq!(curves[3][5][10], "1.500000", "the peer's own time");
    }
}

#[test]
fn a_game_that_is_too_short_does_not_take_part_and_is_played_again() {
    let folder = toy("peers-short");
    assert!(play(&folder, PLAYER, "1").status.success());
    let run = ["run", "longer.toml", "--strategies", "random,smac3", "--sims", "1", "--out", "a"];
    assert!(
        String::from_utf8_lossy(&stagetune_lab(&folder, &run).stderr).contains("left out for want of games")
    );
    std::fs::rename(folder.join("longer.toml"), folder.join("plan.toml")).unwrap();
    let again = play(&folder, PLAYER, "1");
    assert!(String::from_utf8_lossy(&again.stderr).contains("1 games, 1 of them played now"));
    let run = ["run", "plan.toml", "--strategies", "random,smac3", "--sims", "1", "--out", "a"];
    assert!(!String::from_utf8_lossy(&stagetune_lab(&folder, &run).stderr).contains("left out"));
    // Nobody is left if the only one has no games.
    let run = ["run", "plan.toml", "--strategies", "optuna-tpe", "--out", "b"];
    let nobody = stagetune_lab(&folder, &run);
    assert!(
        nobody.status.code() == Some(2) && String::from_utf8_lossy(&nobody.stderr).contains("nobody is left")
    );
}

#[test]
fn games_of_other_conditions_do_not_take_part_and_a_player_that_ends_is_reported() {
    let folder = toy("peers-wrong");
    let ended = play(&folder, "echo out of order >&2; exit 3", "1");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2));
    assert!(said.contains("out of order") && said.contains("game 1 of smac3 on hartmann3"), "{said}");
    let outside = play(&folder, r#"while read line; do echo '{"x":[7,0,0.5],"seconds":1}'; done"#, "1");
    assert!(String::from_utf8_lossy(&outside.stderr).contains("no point of the unit cube"));
    let babble = play(&folder, "while read line; do echo hello; done", "1");
    assert!(String::from_utf8_lossy(&babble.stderr).contains("hello"));
    assert!(!folder.join("games/hartmann3.jsonl.zst").exists());

    assert!(play(&folder, PLAYER, "1").status.success());
    let other_seed = ["run", "plan.toml", "--strategies", "random,smac3", "--seed", "2", "--sims", "1"];
    let ran = stagetune_lab(&folder, &other_seed);
    assert!(String::from_utf8_lossy(&ran.stderr).contains("left out for want of games"));
    // A start that differs is noticed even if a file says otherwise.
    let games = folder.join("games/hartmann3.jsonl.zst");
    let text = String::from_utf8(packed::unpack(&games).unwrap()).unwrap();
    assert_eq!(text.lines().count(), 1);
    // As it lies there while games are played.
    let path = folder.join("games/hartmann3/smac3-0001.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text.replacen("\"start_values\":[", "\"start_values\":[7.0,", 1)).unwrap();
    let ran =
        stagetune_lab(&folder, &["run", "plan.toml", "--strategies", "smac3", "--sims", "1", "--out", "c"]);
    assert_eq!(ran.status.code(), Some(2));
    std::fs::write(&path, "{}").unwrap();
    let ran =
        stagetune_lab(&folder, &["run", "plan.toml", "--strategies", "smac3", "--sims", "1", "--out", "d"]);
    assert!(String::from_utf8_lossy(&ran.stderr).contains("delete it and play it again"));
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&games, &std::fs::read(&games).unwrap()[..40]).unwrap();
    let ran =
        stagetune_lab(&folder, &["run", "plan.toml", "--strategies", "smac3", "--sims", "1", "--out", "e"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.code() == Some(2) && said.contains("hartmann3.jsonl.zst is cut or damaged"), "{said}");
}

#[test]
fn games_that_were_played_before_and_after_an_interruption_come_into_one_file() {
    let folder = toy("peers-folded");
    assert!(play(&folder, PLAYER, "1").status.success());
    let games = folder.join("games/hartmann3.jsonl.zst");
    let first = String::from_utf8(packed::unpack(&games).unwrap()).unwrap();
    // The second game was played, and the process was killed before it could fold it.
    let own = folder.join("games/hartmann3/smac3-0002.json");
    assert!(play(&folder, PLAYER, "2").status.success());
    let both = String::from_utf8(packed::unpack(&games).unwrap()).unwrap();
    let lines: Vec<&str> = both.lines().collect();
    std::fs::write(&games, packed::pack(first.as_bytes()).unwrap()).unwrap();
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, lines[1]).unwrap();

    let again = play(&folder, PLAYER, "3");
    assert!(String::from_utf8_lossy(&again.stderr).contains("3 games, 1 of them played now"));
    let all = String::from_utf8(packed::unpack(&games).unwrap()).unwrap();
    assert_eq!(all.lines().take(2).collect::<Vec<_>>(), lines);
    assert!(all.lines().count() == 3 && !own.parent().unwrap().exists());
}
