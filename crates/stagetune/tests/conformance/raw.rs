//! The strategy alone, without the study that would refuse what is not allowed.

use super::contestants::{all, make, measured};
use super::{bowl, spaces};
use stagetune::space::{CostModel, RunHistory, Space};
use stagetune::strategy::{Memory, NAMES, Proposal, StrategyError, View, complete_options};
use stagetune::trial::{Proposed, Trial, TrialId};

/// Proposals of a strategy that is shown its own past; every fifth trial fails.
fn proposals(name: &str, space: &Space, trials: usize, costs: Option<&[f64]>) -> Vec<Proposal> {
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
        strategy.accept(&view.past(), &proposal).unwrap();
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
        let identity = make(name, &space, 98_765).identity();
        assert_eq!(identity.seed, 98_765, "{name}");
        assert_ne!(identity, make(name, &space, 1).identity(), "{name}");
        let complete = complete_options(&identity.name, &identity.options).unwrap();
        assert_eq!(complete, identity.options, "{name}");
        assert_eq!(NAMES.contains(&name), identity.name == name, "{name} calls itself {}", identity.name);
    }
}

/// A view of trials whose costs are one each.
fn view<'a>(space: &'a Space, trials: &'a [Trial], history: &'a RunHistory, costs: &'a [f64]) -> View<'a> {
    View {
        space,
        trials,
        costs: Some(costs),
        cost_model: CostModel::Previous,
        history,
        spent: trials.len() as f64,
        budget: Some(60.0),
        most_trials: Some(60),
    }
}

#[test]
fn what_is_told_between_a_proposal_and_its_acceptance_changes_nothing() {
    let space = spaces::mixed();
    let costs = vec![1.0; space.modules().len()];
    for name in all() {
        let mut strategy = make(name, &space, 12);
        let (mut past, mut history): (Vec<Trial>, RunHistory) = (Vec::new(), RunHistory::new());
        for number in 0..24_u64 {
            let proposal = strategy.propose(&view(&space, &past, &history, &costs)).unwrap();
            let mut early = strategy.clone();
            early.accept(&view(&space, &past, &history, &costs).past(), &proposal).unwrap();
            // The trial before is open while this one is proposed, and ends before it is accepted; every
            // third fails.
            if let Some(last) = past.pop() {
                let open = Proposed::new(last.id(), last.point().clone());
                past.push(match number % 3 {
                    0 => Trial::Failed(open.fail("no")),
                    _ => Trial::Observed(open.observe(bowl(&space, last.point())).unwrap()),
                });
            }
            strategy.accept(&view(&space, &past, &history, &costs).past(), &proposal).unwrap();
            history.record(&space, &proposal.point).unwrap();
            past.push(Trial::Proposed(Proposed::new(TrialId::new(number), proposal.point)));
            let (one, other) = (
                strategy.propose(&view(&space, &past, &history, &costs)),
                early.propose(&view(&space, &past, &history, &costs)),
            );
            assert_eq!(one.unwrap(), other.unwrap(), "{name}, trial {number}");
        }
    }
}

#[test]
fn garbage_in_a_memory_is_foreign() {
    let space = spaces::plain();
    let costs = vec![1.0; space.modules().len()];
    for name in all() {
        let made = proposals(name, &space, 24, Some(&costs));
        for (number, proposal) in made.iter().enumerate().filter(|(_, proposal)| proposal.memory.is_some()) {
            let mut strategy = make(name, &space, 12);
            let point = |proposal: &Proposal| proposal.point.clone();
            let past: Vec<Trial> = (0_u64..)
                .zip(&made[..number])
                .map(|(id, proposal)| Trial::Proposed(Proposed::new(TrialId::new(id), point(proposal))))
                .collect();
            for garbage in ["null", "7", "[[]]", "\"x\"", "{\"no such thing\":1}"] {
                let memory: Memory = serde_json::from_str(garbage).unwrap();
                let proposal = Proposal { memory: Some(memory), ..proposal.clone() };
                let refused = strategy.accept(&stagetune::strategy::Past::new(&space, &past), &proposal);
                assert!(matches!(refused, Err(StrategyError::Foreign { .. })), "{name}: {garbage}");
            }
        }
    }
}
