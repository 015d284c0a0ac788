//! The commands as a user types them.

use super::files::{TOY, folder};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn stagetune_lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stagetune-lab")).args(arguments).current_dir(folder).output().unwrap()
}

fn facts(folder: &Path, arguments: &[&str]) -> Value {
    let output = stagetune_lab(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn run_compare_and_tournament_work_on_each_others_files() {
    let folder = folder("commands");
    std::fs::write(folder.join("plan.toml"), TOY).unwrap();
    let ran = stagetune_lab(&folder, &["run", "plan.toml", "--strategies", "random,lambo", "--out", "a"]);
    let progress = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{progress}");
    // Plain lines where there is no terminal.
    assert!(progress.contains("6 of 6 runs") && !progress.contains('\u{1b}'), "{progress}");
    assert!(
        stagetune_lab(&folder, &["run", "plan.toml", "--seed", "2", "--sims", "2", "--out", "b"])
            .status
            .success()
    );

    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.join("a/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["problem"], "hartmann3");
    assert_eq!(summary["command"], "stagetune-lab run plan.toml --strategies random,lambo --out a");
    let lambo = &summary["strategies"]["lambo"];
    assert_eq!(lambo["sims"], 3);
    for threshold in ["0.10", "0.05", "0.02"] {
        assert!(
            lambo["cost_to"][threshold]["median"].is_f64() && lambo["cost_to"][threshold]["reached"].is_f64()
        );
    }
    for measure in ["final_regret", "movement_regret", "first_module_changes"] {
        assert!(lambo[measure]["mean"].is_f64() && lambo[measure]["median"].is_f64(), "{measure}");
        let ends = lambo[measure]["ci95"].as_array().unwrap();
        assert!(
            ends[0].as_f64() <= lambo[measure]["mean"].as_f64()
                && lambo[measure]["mean"].as_f64() <= ends[1].as_f64()
        );
    }
    assert!(lambo["ask_seconds"]["median"].is_f64() && lambo["ask_seconds"]["p95"].is_f64());

    let same = facts(&folder, &["compare", "a", "a/summary.json", "--json"]);
    assert_eq!(same["paired"], true);
    assert!(
        same["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["difference"] == 0.0 && row["verdict"] == "unclear")
    );
    let other = facts(&folder, &["compare", "a", "b", "--json"]);
    assert_eq!((&other["paired"], &other["only_in_one"][0]), (&Value::from(false), &Value::from("gp-ucb")));

    let tournament = facts(&folder, &["tournament", "a", "b/summary.json", "--baseline", "random", "--json"]);
    assert_eq!(tournament["left_out"][0], "gp-ucb");
    let standings = tournament["strategies"].as_array().unwrap();
    let ranks: f64 = standings.iter().map(|row| row["average_rank"].as_f64().unwrap()).sum();
    assert!((ranks - 3.0).abs() < 1e-9, "two strategies share the places 1 and 2");
    let random = standings.iter().find(|row| row["strategy"] == "random").unwrap();
    assert_eq!(
        (&random["cost_ratio"], &random["cost_ratio_ci95"][1]),
        (&Value::from(1.0), &Value::from(1.0))
    );

    let versus = facts(&folder, &["compare", "a", "a", "--labels", "random,lambo", "--json"]);
    let row = &versus["rows"][0];
    assert_eq!((&row["strategy"], &versus["paired"]), (&Value::from("random → lambo"), &Value::from(true)));
    assert_eq!(row["a"], summary["strategies"]["random"]["final_regret"]["mean"]);
    assert_eq!(row["b"], summary["strategies"]["lambo"]["final_regret"]["mean"]);

    let halves = facts(&folder, &["tournament", "a", "--halves", "--json"]);
    assert_eq!((&halves["odd"]["sims"][0], &halves["even"]["sims"][0]), (&Value::from(2), &Value::from(1)));
    assert_eq!(halves["numbers"], 4);
    let chosen = facts(&folder, &["tournament", "a", "--strategies", "random", "--json"]);
    assert_eq!(chosen["strategies"].as_array().map(Vec::len), Some(1));

    let table = stagetune_lab(&folder, &["table", "a", "--strategies", "lambo"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    let numbers = table.lines().filter(|line| line.starts_with("| lambo | 3 |")).count();
    assert!(numbers == 1 && !table.contains("random"), "{table}");

    let table = stagetune_lab(&folder, &["tournament", "a", "--baseline", "random"]);
    assert!(String::from_utf8_lossy(&table.stdout).contains("average rank"));
}

#[test]
fn what_cannot_be_done_is_said_with_its_remedy() {
    let folder = folder("mistakes");
    let complaint = |arguments: &[&str]| {
        let output = stagetune_lab(&folder, arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    std::fs::write(folder.join("plan.toml"), TOY).unwrap();
    std::fs::write(folder.join("bad.toml"), TOY.replace("budget = 5", "budget = -1")).unwrap();
    assert!(complaint(&["run", "none.toml"]).contains("none.toml"));
    assert!(complaint(&["run", "bad.toml"]).contains("bad.toml:5:10: `budget` is -1"));
    assert!(complaint(&["run", "plan.toml", "--strategies", "rondom"]).contains("rondom"));
    assert!(complaint(&["run", "plan.toml", "bad.toml", "--out", "x"]).contains("one plan"));
    assert!(complaint(&["tournament", "plan.toml"]).contains("stagetune-lab run"));
    assert!(complaint(&["compare", "plan.toml", "plan.toml"]).contains("summary.json"));
    assert!(
        stagetune_lab(&folder, &["run", "plan.toml", "--strategies", "random", "--sims", "2"])
            .status
            .success()
    );
    assert!(complaint(&["compare", "plan.toml", "plan.toml", "--labels", "random"]).contains("two"));
    assert!(complaint(&["compare", ".", ".", "--labels", "random,lambo"]).contains("has no strategy lambo"));
    assert!(complaint(&["tournament", ".", "."]).contains("same experiment"));
    assert!(complaint(&["switching", "x", "--strategies", "nonsense"]).contains("nonsense"));
    let more = stagetune_lab(&folder, &["run", "plan.toml", "--strategies", "gp-ucb", "--sims", "1"]);
    assert!(String::from_utf8_lossy(&more.stderr).contains("no runs, or fewer, of random"));
    assert!(complaint(&["tournament", ".", "--strategies", "lambo"]).contains("no experiment has"));
    assert!(complaint(&["table", ".", "--strategies", "lambo"]).contains("has no strategy lambo"));
}

#[test]
fn the_switching_protocol_is_written_as_plans() {
    let folder = folder("switching");
    let output = stagetune_lab(&folder, &["switching", "plans"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 105);
    let run = ["run", "plans/levy2-sw7/plan.toml", "--sims", "1", "--strategies", "random"];
    assert!(stagetune_lab(&folder, &run).status.success());
    assert!(folder.join("plans/levy2-sw7/figure.png").is_file());
}
