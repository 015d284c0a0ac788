//! The strategy alone, without the study that would refuse what is not allowed.

use super::contestants::{all, make, measured};
use super::{bowl, spaces};
use stagetune::space::{CostModel, RunHistory, Space};
use stagetune::strategy::View;
use stagetune::trial::{Proposed, Trial, TrialId};

/// Proposals of a strategy that is shown its own past; every fifth trial fails.
fn proposals(
    name: &str,
    space: &Space,
    trials: usize,
    costs: Option<&[f64]>,
) -> Vec<stagetune::strategy::Proposal> {
    let mut strategy = make(name, space, 12);
    let (mut past, mut history): (Vec<Trial>, RunHistory) = (Vec::new(), RunHistory::new());
    let mut proposals = Vec::new();
    for number in 0..trials {
        let view = View {
            space,
            trials: &past,
            costs,
            cost_model: CostModel::Previous,
            history: &history,
            spent: number as f64,
            budget: Some(trials as f64),
            most_trials: Some(trials),
        };
        let proposal = strategy.propose(&view).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(proposal, strategy.propose(&view).unwrap(), "{name}: the same view, the same answer");
        strategy.accept(&view, &proposal).unwrap();
        history.record(space, &proposal.point).unwrap();
        let trial = Proposed::new(TrialId::new(number as u64), proposal.point.clone());
        past.push(if number % 5 == 4 {
            Trial::Failed(trial.fail("no"))
        } else {
            let value = bowl(space, trial.point());
            Trial::Observed(trial.observe(value).unwrap())
        });
        proposals.push(proposal);
    }
    proposals
}

#[test]
fn proposals_are_allowed_without_anybody_checking() {
    let mut spaces = spaces::edges();
    spaces.push(("every kind of parameter", spaces::mixed()));
    for (what, space) in &spaces {
        let costs = vec![1.0; space.modules().len()];
        for name in all() {
            for proposal in proposals(name, space, 24, Some(&costs)) {
                assert!(space.allows(&proposal.point), "{name}: {what}");
            }
        }
    }
}

#[test]
fn costs_that_nobody_knows_are_no_reason_to_stop() {
    let space = measured(&spaces::plain());
    for name in all() {
        let proposals = proposals(name, &space, 24, None);
        assert!(proposals.iter().all(|proposal| proposal.why.expected_cost.is_none()), "{name}");
    }
}

#[test]
fn every_strategy_says_what_it_is() {
    let space = spaces::plain();
    for name in all() {
        let settings = make(name, &space, 98_765).settings();
        assert!(settings.contains("98765"), "{name} says `{settings}`");
        assert_ne!(settings, make(name, &space, 1).settings(), "{name}");
    }
}
