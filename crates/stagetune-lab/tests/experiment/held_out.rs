//! `experiments/auto`: what was tuned on is not what is reported, and what is reported was run as
//! its plan says.

use stagetune_lab::experiment::plan::{Listed, Plan};
use stagetune_lab::experiment::raw::place;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn auto() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/auto")
}

/// The folders of what is reported.
fn reports() -> Vec<PathBuf> {
    let all = std::fs::read_dir(auto()).unwrap().map(|entry| entry.unwrap().path());
    let mut named: Vec<PathBuf> =
        all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("report-")).collect();
    named.sort();
    assert!(named.len() > 100);
    named
}

fn plan(folder: &Path) -> Plan {
    Plan::read(&folder.join("plan.toml")).unwrap()
}

#[test]
fn tuning_and_reporting_share_neither_seeds_nor_problems() {
    let sorts = |plans: &[Plan]| -> (BTreeSet<u64>, BTreeSet<String>) {
        let problems = plans.iter().map(|plan| plan.pipeline.problem.name().to_owned());
        (plans.iter().map(|plan| plan.seed).collect(), problems.collect())
    };
    let tuning = Listed::read(&auto().join("tune.toml"), None).unwrap();
    let tuning: Vec<Plan> = tuning.into_iter().map(|listed| listed.plan).collect();
    let reporting: Vec<Plan> = reports().iter().map(|folder| plan(folder)).collect();
    assert!(tuning.len() > 50);
    let ((tuned_seeds, tuned), (seeds, reported)) = (sorts(&tuning), sorts(&reporting));
    assert!(tuned_seeds.is_disjoint(&seeds));
    assert!(tuned.is_disjoint(&reported), "{:?}", tuned.intersection(&reported));
}

#[test]
fn what_is_reported_was_run_as_the_plan_says() {
    for folder in reports() {
        let plan = plan(&folder);
        let mut who: BTreeSet<String> = BTreeSet::new();
        for (path, results) in place::parts(std::slice::from_ref(&folder), None).unwrap() {
            let name = path.display();
            let parts = ["rivals", "small", "peers", "auto", "ablation", "ablation-trials", "whole"];
            assert!(parts.contains(&results.part.as_str()), "{name}");
            let summary = results.about;
            assert_eq!(summary.problem, plan.pipeline.problem.name(), "{name}");
            assert_eq!(
                (&summary.split, &summary.costs),
                (&plan.pipeline.split, &plan.pipeline.costs),
                "{name}"
            );
            assert_eq!((summary.budget, summary.seed), (plan.budget_cost(), plan.seed), "{name}");
            assert_eq!(summary.cost_model, plan.cost_model_name(), "{name}");
            let coarse = &plan.pipeline.coarse;
            assert_eq!((&summary.choices, summary.steps), (&coarse.choices, coarse.steps), "{name}");
            let rules = (plan.pipeline.noise, plan.pipeline.spread);
            assert_eq!((summary.noise, summary.cost_spread), rules, "{name}");
            assert_eq!((summary.until, summary.max_trials), (plan.until, plan.trials), "{name}");
            assert!(summary.optimised && summary.command.contains("stagetune-lab run"), "{name}");
            who.extend(results.competitors.into_iter().map(|competitor| competitor.label));
        }
        assert!(who.contains("auto"), "{}", folder.display());
    }
}
