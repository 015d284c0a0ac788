//! How studies end: by a space that is used up, by a budget that several workers share, and what is said of it.

use crate::harness::{Lab, THREE, text};
use std::collections::BTreeSet;

/// The three stages with two values for each parameter, or sixteen points, and this budget.
fn small(budget: &str) -> String {
    THREE.replace("[0, 20]", "[0, 1]").replace("[0, 50]", "[0, 1]").replace("{ trials = 40 }", budget)
}

/// How many trials there were, and of how many points.
fn points(lab: &Lab) -> (usize, usize) {
    let trials = lab.json(&["trials", "--json"]);
    let trials = trials["trials"].as_array().or(trials.as_array()).unwrap();
    let distinct: BTreeSet<String> = trials.iter().map(|trial| trial["point"].to_string()).collect();
    (trials.len(), distinct.len())
}

#[test]
fn a_space_of_which_every_point_was_tried_ends_the_study() {
    for strategy in ["auto", "lambo"] {
        for workers in ["1", "3"] {
            let lab = Lab::new(&small("{ cost = 100000 }").replace("\"lambo\"", &format!("\"{strategy}\"")));
            let shown = lab.done(&["run", "--workers", workers]);
            assert!(shown.contains("done: all 16 points of the space were tried"), "{strategy}: {shown}");
            let (trials, distinct) = points(&lab);
            assert_eq!(distinct, 16, "{strategy}");
            // Others may repeat a point before they have seen all.
            assert!(strategy != "auto" || trials == 16, "{trials}");
            let status = lab.json(&["status", "--json"]);
            assert_eq!(status["state"], "finished");
            assert_eq!(status["closed"], "all 16 points of the space were tried");
            assert!(lab.done(&["status"]).contains("all 16 points of the space were tried"));
            // It is over, whatever the budget.
            assert!(lab.done(&["run", "--dry-run"]).contains("nothing would run"));
            let again = lab.done(&["run", "--json"]);
            let last: serde_json::Value = serde_json::from_str(again.lines().last().unwrap()).unwrap();
            assert_eq!(last["reason"], "all 16 points of the space were tried");
            assert_eq!(
                (last["finished"].as_bool(), last["trials"].as_u64()),
                (Some(true), Some(trials as u64))
            );
        }
    }
}

#[test]
fn a_strategy_that_only_repeats_itself_ends_the_study_as_well() {
    let lab = Lab::new(&small("{ cost = 100000 }").replace("\"lambo\"", "\"random\""));
    let shown = lab.done(&["run"]);
    let ends = ["all 16 points of the space were tried", "the last 50 proposals had all been tried before"];
    assert!(ends.iter().any(|end| shown.contains(end)), "{shown}");
    assert_eq!(lab.json(&["status", "--json"])["state"], "finished");
}

#[test]
fn forbidden_points_are_not_waited_for_and_points_that_failed_were_tried() {
    // Of the eight points of two stages the last fails at two, and two are forbidden.
    let pipeline = small("{ trials = 200 }")
        .replace(
            "mode = { choice = [\"plain\", \"$(touch ../outside/hacked); `touch ../outside/hacked`\"] }\n",
            "forbid_me = { bool = true }\n",
        )
        .replace("\"{mode}\"", "\"{forbid_me}\"")
        .replace("name = \"third\"\n", "name = \"third\"\nforbid = [\"forbid_me and c == 1\"]\n")
        .replace(
            "read v < \"$3/v\"; echo \"third",
            "read v < \"$3/v\"; [ \"$4\" = true ] && exit 3; echo \"third",
        );
    let lab = Lab::new(&pipeline.replace("\"lambo\"", "\"auto\""));
    let shown = lab.done(&["run"]);
    assert!(shown.contains("all 12 points of the space were tried"), "{shown}");
    assert_eq!(points(&lab), (12, 12));
    assert_eq!(lab.json(&["status", "--json"])["failed"], 4);
}

#[test]
fn a_study_of_a_part_of_its_space_goes_on_to_the_end_of_it() {
    let small = |budget: &str| small(budget).replace("\"lambo\"", "\"auto\"");
    let lab = Lab::new(&small("{ trials = 7 }"));
    assert!(lab.done(&["run"]).contains("all 7 trials were asked for"));
    lab.write(&small("{ trials = 1000 }"));
    assert!(lab.done(&["run"]).contains("all 16 points of the space were tried"));
    assert_eq!(points(&lab), (16, 16));
}

#[test]
fn several_workers_share_one_budget_and_the_end_tells_what_was_spent() {
    let limit = 60.0;
    for (workers, strategy) in [("1", "auto"), ("4", "auto"), ("4", "random")] {
        let pipeline = THREE.replace("{ trials = 40 }", "{ cost = 60 }");
        let lab = Lab::new(&pipeline.replace("\"lambo\"", &format!("\"{strategy}\"")));
        let shown = lab.done(&["run", "--workers", workers]);
        let spent = lab.json(&["status", "--json"])["spent"].as_f64().unwrap();
        assert!(shown.contains(&format!("done: {spent} of the budget of 60 is spent")), "{shown}");
        assert!(shown.contains(&format!("spent    {spent}\n")), "{shown}");
        let closed = lab.json(&["status", "--json"])["closed"].clone();
        assert_eq!(closed, format!("{spent} of the budget of 60 is spent"));
        // No more than the trial that spends the last of it, which is a full run at most.
        assert!((limit..limit + 14.0).contains(&spent), "{workers} workers spent {spent}");
        // It is over.
        lab.done(&["run", "--workers", workers]);
        assert_eq!(lab.json(&["status", "--json"])["spent"].as_f64(), Some(spent));
    }
}

#[test]
fn a_budget_of_cost_that_means_nothing_is_warned_of() {
    let costs = |text: &str, with: &str| {
        let with = if with.is_empty() { String::new() } else { format!("cost = {with}\n") };
        ["cost = 10\n", "cost = 3\n", "cost = 1\n"].iter().fold(text.to_owned(), |t, c| t.replace(c, &with))
    };
    let budget = |budget: &str| THREE.replace("{ trials = 40 }", budget);
    let warned = |pipeline: &str| text(&Lab::new(pipeline).stagetune(&["check"]).stdout);
    let time = "is a time while no stage is measured";
    let free = "is never reached: every stage costs 0";
    let said = warned(&budget("{ cost = \"90 min\", trials = 3 }"));
    assert!(said.contains(time) && said.contains("pipeline.toml:8:"), "{said}");
    let said = warned(&costs(&budget("{ cost = 10 }"), "0"));
    assert!(said.contains(free) && said.contains("`trials` or `wall`") && !said.contains(time), "{said}");
    for fine in [
        budget("{ cost = 90, trials = 3 }"),
        costs(&budget("{ cost = \"90 min\" }"), ""),
        costs(&budget("{ cost = \"90 min\" }"), "\"reported\""),
        costs(&budget("{ trials = 3 }"), "0"),
        costs(&budget("{ cost = 10 }"), "0").replacen("cost = 0\n", "cost = 0.5\n", 1),
    ] {
        let said = warned(&fine);
        assert!(!said.contains("budget of cost"), "{said}");
    }
    // The run says so as well, and goes on.
    let lab = Lab::new(&budget("{ cost = \"90 min\", trials = 3 }"));
    let output = lab.stagetune(&["run"]);
    assert!(output.status.success() && text(&output.stderr).contains(time), "{}", text(&output.stderr));
}

#[test]
fn a_price_without_measure_is_told_with_an_exponent() {
    let lab = Lab::new(&THREE.replace("{ trials = 40 }", "{ price = 1e300 }"));
    let shown = lab.done(&["run"]);
    assert!(shown.contains("e301 that such a cost is worth") || shown.contains("e300 that such"), "{shown}");
    assert!(!shown.contains("00000000"), "{shown}");
}
