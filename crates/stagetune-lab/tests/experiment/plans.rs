//! Plans that are refused say where, what and how to mend it.

use super::files::TOY;
use proptest::prelude::*;
use stagetune::strategy::Design;
use stagetune_lab::experiment::plan::Plan;
use stagetune_lab::experiment::start::{self, Start};
use stagetune_lab::experiment::switching;

fn complaint(text: &str) -> String {
    Plan::parse("experiments/toy/plan.toml", text).unwrap_err().to_string()
}

#[test]
fn every_mistake_is_shown_where_it_is() {
    let mistakes = [
        ("problem = \"hartmann3\"", "problem = \"hartman3\"", "2:11", "hartmann, ackley"),
        ("problem = \"hartmann3\"", "problem = \"gp3\"", "2:11", "gp3@7"),
        ("split = [1, 2]", "split = [1, 3]", "3:9", "3 in all"),
        ("split = [1, 2]", "split = [0, 3]", "3:9", "at least 1"),
        ("costs = [10, 1]", "costs = [10]", "4:9", "needs 2 numbers"),
        ("costs = [10, 1]", "costs = [10, -1]", "4:9", "none negative"),
        ("costs = [10, 1]", "costs = [0, 0]", "4:9", "not all 0"),
        ("budget = 5", "budget = 0", "5:10", "above 0"),
        ("budget = 5", "budget = \"much\"", "5:10", "--help"),
        ("budget = 5", "budgit = 5", "5:1", "unknown field `budgit`, expected one of"),
        ("budget = 5\n", "", "1:1", "or give `trials`"),
        ("sims = 3", "choices = [3, 0]", "7:11", "needs 3 numbers"),
        ("sims = 3", "choices = [1, 0, 0]", "7:11", "from 2 to 100"),
        ("sims = 3", "steps = 0", "7:9", "number of steps"),
        ("uniform = 4", "uniform = 0", "6:9", "at least one point"),
        ("uniform = 4", "unifrom = 4", "6:11", "unknown variant"),
        ("sims = 3", "sims = 0", "7:8", "at least 1"),
        ("sims = 3", "sims = 99999999999", "7:8", "at most"),
        ("sims = 3", "noise = nan", "7:9", "finite"),
        ("sims = 3", "cost_model = \"cash\"", "7:14", "`previous` or `cache`"),
        ("sims = 3", "sims =", "7:7", "--help"),
        ("\"random\", ", "\"rondom\", ", "8:15", "random, gp-ucb"),
        ("\"random\", ", "\"lambo\", ", "8:34", "competes twice"),
        ("strategies = [\"random\", \"gp-ucb\", \"lambo\"]", "strategies = []", "8:14", "nobody competes"),
    ];
    for (right, wrong, place, words) in mistakes {
        assert!(TOY.contains(right), "{right}");
        let text = complaint(&TOY.replacen(right, wrong, 1));
        assert!(text.starts_with(&format!("experiments/toy/plan.toml:{place}: ")), "{wrong}: {text}");
        assert!(text.contains(words), "{wrong}: {text}");
        assert!(text.contains('^'), "{wrong}: {text}");
    }
}

#[test]
fn choices_and_steps_change_the_space_and_the_value_and_trials_alone_are_a_limit() {
    let coarse = TOY.replace("budget = 5", "trials = 7\nchoices = [3, 0, 0]\nsteps = 4");
    let plan = Plan::parse("toy.toml", &coarse).unwrap();
    assert_eq!((plan.budget, plan.limits_cost, plan.trials), (7.0, false, Some(7)));
    let space = plan.pipeline.space().unwrap();
    let best = plan.pipeline.problem.minimiser().to_vec();
    let at = |choice: &str| {
        let values = [("x1", choice.into()), ("x2", best[1].into()), ("x3", best[2].into())];
        plan.pipeline.value(&space.point(values as [(&str, stagetune::space::Value); 3]).unwrap()).unwrap()
    };
    let values = ["c1", "c2", "c3"].map(at);
    assert_eq!(values[1], 0.0);
    assert!(values.iter().all(|value| (value * 4.0).fract() == 0.0), "{values:?}");
    // Runs, and what strategies are told, are those of another problem.
    let conditions = |text: &str| {
        let plan = Plan::parse("toy.toml", text).unwrap();
        plan.conditions(&plan.entries[0])
    };
    assert_ne!(conditions(&coarse), conditions(&coarse.replace("steps = 4", "")));
    assert_ne!(conditions(&coarse), conditions(&coarse.replace("trials = 7", "trials = 7\nbudget = 7")));
    let peers = format!("{coarse}[peers]\ngames = \"../peers\"\nnames = [\"optuna-tpe\"]\n");
    assert!(complaint(&peers).contains("peers play on plain functions"));
}

#[test]
fn a_variant_needs_a_label_of_its_own_that_can_name_a_file() {
    let variant = |suffix: &str, name: &str| {
        format!("{TOY}[[variant]]\nsuffix = \"{suffix}\"\nstart = \"own\"\nstrategies = [\"{name}\"]\n")
    };
    let plan = Plan::parse("toy.toml", &variant("2", "lambo")).unwrap();
    assert_eq!(plan.entries[3].label, "lambo-2");
    for suffix in ["../lambo", "a,b", "a b"] {
        assert!(complaint(&variant(suffix, "lambo")).contains("label"), "{suffix}");
    }
    assert!(complaint(&variant("paper", "lambo")).contains("name of another strategy"));
    let twice = format!(
        "{}[[variant]]\nsuffix = \"2\"\nstart = \"own\"\nstrategies = [\"lambo\"]\n",
        variant("2", "lambo")
    );
    assert!(complaint(&twice).contains("competes twice"));
    assert!(complaint(&variant("2", "lamda")).contains("random, gp-ucb"));
}

#[test]
fn rows_show_those_who_compete_and_peers_are_known() {
    let row = |label: &str| format!("{TOY}[[row]]\ntitle = \"t\"\nshow = [\"{label}\"]\n");
    assert!(Plan::parse("toy.toml", &row("lambo")).is_ok());
    let text = complaint(&row("mes"));
    assert!(text.contains("plan.toml:11:9: `mes` does not compete"), "{text}");
    let peers = |name: &str| format!("{TOY}[peers]\ngames = \"g\"\nnames = [\"{name}\"]\n");
    let plan = Plan::parse("toy.toml", &peers("smac3")).unwrap();
    assert_eq!(plan.entries[3].label, "smac3");
    assert!(complaint(&peers("smack")).contains("optuna-tpe"));
    assert!(complaint(&TOY.replace("{ uniform = 4 }", "\"own\"")).contains("what all share"));
}

#[test]
fn versions_for_figures_compete_with_options_of_their_own() {
    let names = [
        "gp-ucb",
        "gp-ucb-modern",
        "gp-ei",
        "gp-ei-paper",
        "gp-ei-paper-ard",
        "gp-ei-matern",
        "gp-ei-se",
        "mes",
        "mes-paper",
        "eipu",
        "eipu-paper",
        "eipu-prefix",
        "eipu-prefix-careful",
        "carbo",
        "carbo-paper",
        "ca-mobo",
        "ca-mobo-paper",
    ];
    let space = Plan::parse("toy.toml", TOY).unwrap().pipeline.space().unwrap();
    let identity = |name: &&str| {
        let start = Start::Design(Design::Uniform(4));
        let strategy = start::build(name, &space, start, 1, 55.0).unwrap();
        serde_json::to_string(&strategy.identity()).unwrap()
    };
    let different: std::collections::BTreeSet<String> = names.iter().map(identity).collect();
    assert_eq!(different.len(), names.len());
}

#[test]
fn a_missing_key_is_named() {
    let text = complaint(&TOY.replace("split = [1, 2]\n", ""));
    assert!(text.contains("missing field `split`"), "{text}");
}

#[test]
fn all_plans_of_the_switching_cost_protocol_can_be_run() {
    let strategies = ["random".to_owned(), "lambo".to_owned()];
    let mut count = 0;
    for function in switching::FUNCTIONS {
        for dim in switching::DIMENSIONS {
            for cost in switching::SWITCHING_COSTS {
                let text = switching::plan(function, dim, cost, &strategies);
                let plan = Plan::parse("plan.toml", &text).unwrap();
                assert_eq!(plan.budget_cost(), 10.0 * dim as f64 * (f64::from(cost) + 1.0));
                assert_eq!(plan.pipeline.costs, [f64::from(cost), 1.0]);
                count += 1;
            }
        }
    }
    assert_eq!(count, 105);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(at in 0..TOY.len(), text in "\\PC{0,6}") {
        let mut plan = TOY.to_owned();
        plan.insert_str(at, &text);
        // A dimension of many digits is no plan of interest but takes long to set up.
        prop_assume!(plan.len() < TOY.len() + 12 && !text.contains(|c: char| c.is_ascii_digit()));
        let _ = Plan::parse("toy.toml", &plan);
    }
}
