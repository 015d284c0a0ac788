//! `experiments/auto`: what was tuned on is not what is reported, and what is reported was run as its plan says.

use stagetune_lab::experiment::plan::Plan;
use stagetune_lab::experiment::summary::Summary;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders whose names begin with this.
fn folders(prefix: &str) -> Vec<PathBuf> {
    let auto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/auto");
    let all = std::fs::read_dir(auto).unwrap().map(|entry| entry.unwrap().path());
    let mut named: Vec<PathBuf> =
        all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix)).collect();
    named.sort();
    assert!(!named.is_empty(), "{prefix}");
    named
}

fn plan(folder: &Path) -> Plan {
    Plan::read(&folder.join("plan.toml")).unwrap()
}

#[test]
fn tuning_and_reporting_share_neither_seeds_nor_problems() {
    let sorts = |prefix: &str| -> (BTreeSet<u64>, BTreeSet<String>) {
        let plans: Vec<Plan> = folders(prefix).iter().map(|folder| plan(folder)).collect();
        let problems = plans.iter().map(|plan| plan.pipeline.problem.name().to_owned());
        (plans.iter().map(|plan| plan.seed).collect(), problems.collect())
    };
    let ((tuned_seeds, tuned), (seeds, reported)) = (sorts("tune-"), sorts("report-"));
    assert!(tuned_seeds.is_disjoint(&seeds));
    assert!(tuned.is_disjoint(&reported), "{:?}", tuned.intersection(&reported));
}

#[test]
fn what_is_reported_was_run_as_the_plan_says() {
    for folder in folders("report-") {
        let plan = plan(&folder);
        let mut who: BTreeSet<String> = BTreeSet::new();
        let parts = ["rivals", "small", "peers", "auto", "ablation", "ablation-trials"];
        for part in parts.map(|part| folder.join(part)) {
            if !part.join("summary.json").exists() {
                continue;
            }
            let name = part.display();
            let summary = Summary::read(&part).unwrap();
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
            who.extend(summary.strategies.into_keys());
        }
        assert!(who.contains("auto"), "{}", folder.display());
    }
}
