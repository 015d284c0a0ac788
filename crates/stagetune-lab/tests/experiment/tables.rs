//! Experiments over tables: a small one that the tests make, with the answers that can be read off it.

use super::files::{by_run, folder, number, rows, run};
use serde_json::{Value, json};
use stagetune_lab::experiment::compare;
use stagetune_lab::experiment::outcome;
use stagetune_lab::experiment::plan::Plan;
use stagetune_lab::experiment::run::execute;
use stagetune_lab::experiment::store::Store;
use stagetune_lab::experiment::summary::{SECONDS_PER_HOUR, Summary, WITHIN};
use stagetune_lab::experiment::tournament;
use stagetune_lab::packed;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A table of modules of these lengths, with one hump and its best entry at the middle of every grid.
fn write_table(home: &Path, name: &str, modules: &[&[usize]]) {
    let lengths: Vec<usize> = modules.concat();
    let total: usize = lengths.iter().product();
    let entry = |row: usize| {
        let (mut rest, mut score) = (row, 1.0);
        for &length in lengths.iter().rev() {
            let (index, middle) = ((rest % length) as f64, (length / 2) as f64);
            rest /= length;
            score *= (-2.0 * ((index - middle) / length as f64).powi(2)).exp();
        }
        ((60_000.0 * score) as u16).to_le_bytes()
    };
    let mut first = 0;
    let module = |(m, lengths): (usize, &&[usize])| {
        let params = lengths.iter().map(|&length| {
            first += 1;
            // Backwards in the alphabet: nothing may rely on sorted names.
            let name = format!("{}{first}", (b'z' - first as u8) as char);
            json!({"name": name, "values": (0..length).collect::<Vec<_>>()})
        });
        let params = params.collect::<Vec<Value>>();
        json!({"name": format!("stage{m}"), "seconds": {"mean": 10.0 / (m + 1) as f64, "sd": 0.5}, "params": params})
    };
    let modules: Vec<Value> = modules.iter().enumerate().map(module).collect();
    let about = json!({"name": name, "metric": "f1", "unit": 65535, "modules": modules, "best": 60_000.0 / 65_535.0, "note": "a toy"});
    let folder = home.join("tables").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("table.json"), about.to_string()).unwrap();
    std::fs::write(folder.join("f1.u16"), (0..total).flat_map(entry).collect::<Vec<u8>>()).unwrap();
}

const TOY: &str = "table = 'tables/toy-2'\nbudget = 20\nstart = { uniform = 4 }\nsims = \
    3\nstrategies = ['random', 'gp-ei', 'lambo']\n";

fn plan(home: &Path, text: &str) -> Result<Plan, String> {
    let path = home.join("plan.toml");
    std::fs::write(&path, text).unwrap();
    Plan::read(&path).map_err(|error| error.to_string())
}

fn toy(name: &str) -> (PathBuf, Plan) {
    let home = folder(name);
    write_table(&home, "toy-2", &[&[7, 2], &[5, 3]]);
    let plan = plan(&home, TOY).unwrap();
    (home, plan)
}

#[test]
fn a_plan_over_a_table_has_its_modules_its_seconds_and_no_noise() {
    let (home, plain) = toy("table-plan");
    assert_eq!(
        (plain.pipeline.split.as_slice(), plain.pipeline.costs.as_slice()),
        (&[2, 2][..], &[10.0, 5.0][..])
    );
    assert_eq!(plain.pipeline.noise, 0.0);
    let space = plain.pipeline.space().unwrap();
    let names: Vec<&str> = space.params().iter().map(|param| &**param.name()).collect();
    assert_eq!((names, space.dim()), (vec!["y1", "x2", "w3", "v4"], 4));
    // Every setting decodes to its own indices, and the middle is best.
    let point = space.point([("y1", 3), ("x2", 1), ("w3", 2), ("v4", 1)]).unwrap();
    assert_eq!(space.decode(&space.encode(&point).unwrap()).unwrap(), point);
    assert_eq!(
        (plain.pipeline.value(&point).unwrap(), plain.pipeline.coordinates(&point)),
        (0.0, vec![3.0, 1.0, 2.0, 1.0])
    );

    let with = |more: &str| plan(&home, &format!("{more}\n{TOY}"));
    let given = with("costs = [325, 55]\nnoise = 0.1\nsplit = [2, 2]").unwrap();
    assert_eq!((given.pipeline.costs.as_slice(), given.pipeline.noise), (&[325.0, 55.0][..], 0.1));
    for (more, wanted) in [
        (
            "split = [1, 3]",
            "plan.toml:1:9: `split` is [1, 3], but the modules of toy-2 have [2, 2] parameters; leave it out",
        ),
        ("costs = [325]", "plan.toml:1:9: `costs` needs 2 numbers"),
        ("problem = 'ackley8'", "remove one"),
        ("cost_spread = -1", "at least 0"),
    ] {
        let said = with(more).unwrap_err();
        assert!(said.contains(wanted), "{said}");
    }
    let said = plan(&home, &TOY.replace("toy-2", "toy-9")).unwrap_err();
    assert!(said.contains("plan.toml:1:9: cannot read") && said.contains("toy-9/table.json"), "{said}");
    let said = plan(&home, &TOY.replace("table = 'tables/toy-2'\n", "")).unwrap_err();
    assert!(said.contains("missing field `problem`"), "{said}");
}

#[test]
fn a_panel_over_a_table_says_when_a_run_was_within_five_percent() {
    let (_, plan) = toy("table-home");
    let folder = run(&plan, "table-run", 2);
    let summary = Summary::read(&folder).unwrap();
    let table = summary.table.clone().unwrap();
    let best = 60_000.0 / 65_535.0;
    assert_eq!((table.best, table.settings, table.metric.as_str()), (best, 210, "f1"));
    assert!((table.within_5_percent / best - 0.95).abs() < 1e-4);
    assert_eq!(summary.thresholds()[3], (WITHIN, table.regret_within_5_percent));

    let (curves, points) = (rows(&folder, "curves.csv"), rows(&folder, "points.csv"));
    let header = std::fs::read_to_string(folder.join("points.csv")).unwrap();
    let curves_text = std::fs::read_to_string(folder.join("curves.csv")).unwrap();
    execute(&plan, &Store::open(&folder).unwrap(), 1).unwrap();
    let again = std::fs::read_to_string(folder.join("curves.csv")).unwrap();
    assert_eq!(curves_text, again, "runs that were read again are others");
    assert!(
        header.starts_with(
            "problem,strategy,sim,iteration,source,observed,y1_index,x2_index,w3_index,v4_index\n"
        )
    );
    for (curve, points) in by_run(&curves).iter().zip(by_run(&points)) {
        let problem = &plan.pipeline.problem;
        for (row, point) in curve.iter().zip(points) {
            let x: Vec<f64> = (6..10).map(|column| number(point, column)).collect();
            let score = problem.evaluate(&x).unwrap();
            assert_eq!(
                (number(row, 5), number(point, 5)),
                (problem.normalise(score), problem.normalise(score))
            );
        }
        let outcome = &summary.strategies[&curve[0][1]];
        let sim: usize = curve[0][2].parse().unwrap();
        let paid = curve.iter().filter(|row| number(row, 4) <= plan.budget_cost() + 1e-6);
        let cost = paid
            .clone()
            .find(|row| number(row, 7) <= table.regret_within_5_percent)
            .map(|row| number(row, 4));
        assert_eq!(outcome.per_sim.cost_to[WITHIN][sim - 1], cost);
    }
    for (label, outcome) in &summary.strategies {
        let hours = outcome.hours_to_within_5_percent.as_ref().unwrap();
        assert_eq!(hours.median, outcome.cost_to[WITHIN].median / SECONDS_PER_HOUR, "{label}");
        assert_eq!(
            hours.without_start,
            outcome.cost_to_without_start[WITHIN].median / SECONDS_PER_HOUR,
            "{label}"
        );
        assert!(
            hours.without_start <= hours.median
                && hours.ci95[0] <= hours.median
                && hours.median <= hours.ci95[1]
        );
    }
    // With a model 210 settings are few.
    assert!(summary.strategies["gp-ei"].final_regret.mean < 0.2);

    let text = outcome::markdown(&summary, None).unwrap();
    assert!(
        text.contains("| minutes to 5% | after the start |") && text.contains("210 settings, f1 best 0.9155"),
        "{text}"
    );
    let columns = |line: &str| line.matches('|').count();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
    let compared = compare::compare(&summary, &summary, None).unwrap();
    assert_eq!(compared.rows.iter().filter(|row| row.measure == "cost_to_5%").count(), 3);
    assert!(tournament::hold(std::slice::from_ref(&summary), None, "random", Some(WITHIN)).is_ok());
    assert!(tournament::hold(&[summary], None, "random", Some("7%")).is_err());
    let svg = std::fs::read_to_string(folder.join("figure.svg")).unwrap();
    assert!(svg.contains("minutes spent (a full run takes 15 s)") && svg.contains("within 5% of the best"));
}

#[test]
fn runs_over_a_table_that_was_computed_anew_are_refused() {
    let (home, plain) = toy("table-changed");
    let store = Store::open(&home.join("out")).unwrap();
    execute(&plain, &store, 2).unwrap();
    let path = home.join("tables/toy-2/f1.u16");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let said = format!("{:#}", execute(&plan(&home, TOY).unwrap(), &store, 2).unwrap_err());
    assert!(said.contains("table was"), "{said}");
}

/// Panel, table, lengths of the grids of each module, costs.
type Shape<'a> = (&'a str, &'a str, &'a [&'a [usize]], &'a [f64]);

/// The plans of panels G and H in a folder whose tables are small.
#[test]
fn the_panels_over_tables_run_at_toy_size_with_the_papers_costs_and_with_measured_ones() {
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let shapes: [Shape<'_>; 2] = [
        ("g", "microct-2", &[&[6, 3], &[5, 3, 4]], &[325.0, 55.0]),
        ("h", "microct-3", &[&[2, 3], &[4, 3], &[5, 3, 4]], &[326.0, 325.0, 55.0]),
    ];
    for (panel, table, modules, costs) in shapes {
        let home = folder(&format!("panel-{panel}-home"));
        write_table(&home, table, modules);
        let mut plans = Vec::new();
        for part in ["", "measured"] {
            let path = format!("panel-{panel}/{part}");
            std::fs::create_dir_all(home.join(&path)).unwrap();
            let file = Path::new(&path).join("plan.toml");
            std::fs::copy(experiments.join(&file), home.join(&file)).unwrap();
            plans.push(Plan::read(&home.join(&file)).unwrap());
        }
        let [paper, measured] = &mut plans[..] else { panic!("two plans") };
        assert_eq!((paper.pipeline.costs.as_slice(), paper.sims, paper.rows.len()), (costs, 20, 4));
        assert_eq!(measured.pipeline.costs[0], 10.0);
        assert_eq!(
            (&paper.entries.len(), paper.budget, paper.seed),
            (&measured.entries.len(), measured.budget, measured.seed)
        );
        // Games depend on neither costs nor modules: both variants share them.
        assert_eq!(paper.game("smac3", 1), measured.game("smac3", 1));
        for plan in [paper, measured] {
            (plan.sims, plan.budget, plan.trials) = (1, 18.0, Some(18));
            plan.without_absent_peers().unwrap();
            let folder = run(plan, &format!("panel-{panel}-{}", plan.pipeline.costs[0]), 2);
            assert_eq!(Summary::read(&folder).unwrap().strategies.len(), plan.entries.len());
        }
    }
}

#[test]
fn a_table_is_the_same_when_it_is_packed_and_one_that_was_cut_is_named() {
    let (home, plain) = toy("table-packed");
    let lab = |arguments: &[&str]| {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_stagetune-lab"));
        lab.args(arguments).current_dir(&home).output().unwrap()
    };
    assert!(lab(&["pack", "tables/toy-2"]).status.success());
    let folder = home.join("tables/toy-2");
    assert!(folder.join("f1.u16.zst").is_file() && !folder.join("f1.u16").exists());
    let packed = plan(&home, TOY).unwrap();
    let fingerprint = |plan: &Plan| plan.pipeline.problem.table().unwrap().fingerprint().to_owned();
    assert_eq!(fingerprint(&packed), fingerprint(&plain));
    // Once more changes nothing.
    assert!(lab(&["pack", "tables/toy-2"]).status.success());
    let bytes = std::fs::read(folder.join("f1.u16.zst")).unwrap();
    std::fs::write(folder.join("f1.u16.zst"), &bytes[..bytes.len() - 3]).unwrap();
    let said = plan(&home, TOY).unwrap_err();
    assert!(said.contains("cannot read") && said.contains("f1.u16.zst"), "{said}");
    let said = String::from_utf8_lossy(&lab(&["pack", "tables/none"]).stderr).into_owned();
    assert!(said.contains("tables/none/table.json"), "{said}");
}

#[test]
fn a_peer_plays_on_a_table_through_the_unit_cube() {
    let (home, _) = toy("table-peers");
    let text = format!("{TOY}[peers]\ngames = \"games\"\nnames = [\"smac3\"]\n");
    plan(&home, &text).unwrap();
    let player = r#"while read line; do echo '{"x":[0.49,0.99,0.5,0.34],"seconds":1}'; done"#;
    let lab = |arguments: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_stagetune-lab"))
            .args(arguments)
            .current_dir(&home)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    lab(&[
        "peers",
        "plan.toml",
        "--peers",
        "smac3",
        "--sims",
        "1",
        "--out",
        "games",
        "--player",
        "sh",
        "-c",
        player,
        "player",
    ]);
    let game = packed::unpack(&home.join("games/toy-2.jsonl.zst")).unwrap();
    let game = String::from_utf8(game).unwrap();
    assert!(game.contains("\"problem\":\"toy-2\"") && game.contains("\"table\":\""), "{game}");
    lab(&["run", "plan.toml", "--strategies", "random,smac3", "--sims", "1", "--out", "out"]);
    let points = rows(&home.join("out"), "points.csv");
    let own: Vec<_> = points.iter().filter(|row| row[1] == "smac3").collect();
    assert_eq!(
        own[4][6..],
        ["3", "1", "2", "1"].map(str::to_owned),
        "the cells that hold the asked coordinates"
    );
}
