//! Wide spaces: what is bounded where there are hundreds of parameters, stages or values of a
//! choice, so that an ask stays quick.
//!
//! ```text
//! wide                 more than COORDINATES coordinates, more than STAGES stages with parameters, or a large choice
//! ways to keep values  at most WAYS: none, all but the last, and others evenly between, which change from trial to trial
//! prefixes             at most PREFIXES in all, or two for each way
//! maximiser            at most EFFORT beside each of them
//! fits                 at most EVALUATIONS, from one start
//! costs of stages      at most LEARNED are learnt, those that vary most; the others cost their mean
//! ```
//!
//! Everything else proposes what it proposed without these bounds, bit for bit. The figures are in
//! `experiments/engine/wide.md`.

use crate::acquisition::Maximiser;
use crate::space::{Axis, Space, StageSet};

/// Coordinates beyond which a space is wide. Without bounds an ask at 200 coordinates and 200
/// trials took 1.9 s, and a kernel that is a sum grows with their number. Where the boundary lies
/// was chosen, not measured: beyond what pipelines have, and beyond every space that was recorded.
const COORDINATES: usize = 64;

/// Stages with parameters beyond which a space is wide: With up to 9 prefixes of every depth an ask
/// over 100 stages, cached and measured, took 106 s. Chosen like the one above.
const STAGES: usize = 16;

/// Ways to keep values that are looked at.
const WAYS: usize = 8;

/// Prefixes that are looked at, where there are fewer ways than half of it.
const PREFIXES: usize = 12;

/// How hard to look beside each prefix, at most: in hundreds of dimensions chance finds little, and
/// points near the best ones and steps from them find the rest.
const EFFORT: Maximiser = Maximiser { raw: 48, near_hints: 64, starts: 3, max_evaluations: 24, seed: 0 };

/// Evaluations of the likelihood in a fit, at most, from one start: fits were most of what was left
/// of a forecast over 200 coordinates, and with this and a smaller EFFORT it fell from 0.68 to 0.24
/// s.
pub(crate) const EVALUATIONS: usize = 10;

/// The same from where the last fit ended, which goes on where it stopped.
pub(crate) const WARM_EVALUATIONS: usize = 4;

/// Stages whose costs are learnt.
pub(crate) const LEARNED: usize = 8;

/// Runs of each of these that are modelled.
pub(crate) const LEARNED_RUNS: usize = 64;

/// Whether it is.
pub(crate) fn is_wide(space: &Space) -> bool {
    let large = space.axes().iter().any(|axis| matches!(axis, Axis::Category { .. }));
    let tunable = (0..space.modules().len()).filter(|&m| !space.module_params(m).is_empty()).count();
    large || space.dim() > COORDINATES || tunable > STAGES
}

/// What is looked at beside each prefix.
pub(crate) fn effort(space: &Space, wanted: &Maximiser) -> Maximiser {
    if !is_wide(space) {
        return wanted.clone();
    }
    Maximiser {
        raw: wanted.raw.min(EFFORT.raw),
        near_hints: wanted.near_hints.min(EFFORT.near_hints),
        starts: wanted.starts.min(EFFORT.starts),
        max_evaluations: wanted.max_evaluations.min(EFFORT.max_evaluations),
        seed: wanted.seed,
    }
}

/// Of these ways to keep values those that are looked at after so many trials, and how many
/// different prefixes of each beside the first.
pub(crate) fn ways(
    space: &Space,
    mut ways: Vec<StageSet>,
    most: usize,
    trials: usize,
) -> (Vec<StageSet>, usize) {
    if !is_wide(space) {
        return (ways, most);
    }
    let count = ways.len();
    if count > WAYS {
        // The first and the last, and one of each of equal shares of the others: each has its turn.
        let shares = WAYS - 2;
        let inner = |share: usize| {
            let (from, to) = (1 + share * (count - 2) / shares, 1 + (share + 1) * (count - 2) / shares);
            from + trials % (to - from)
        };
        let kept: Vec<usize> = [0].into_iter().chain((0..shares).map(inner)).chain([count - 1]).collect();
        let mut number = 0..count;
        ways.retain(|_| number.next().is_some_and(|number| kept.contains(&number)));
    }
    let each = (PREFIXES / ways.len().max(1)).saturating_sub(1).max(1);
    (ways, most.min(each))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param};

    fn space(stages: usize, each: usize) -> Space {
        let stage = |m: usize| {
            let params = (0..each).map(|i| Param::float(&format!("x{m}-{i}"), 0.0, 1.0).unwrap());
            Module::new(&format!("m{m}"), params).unwrap()
        };
        Space::new((0..stages).map(stage)).unwrap()
    }

    #[test]
    fn many_coordinates_many_stages_and_large_choices_are_wide() {
        assert!(!is_wide(&space(16, 4)) && is_wide(&space(17, 1)) && is_wide(&space(5, 13)));
        let choice = |count: usize| {
            let param = Param::choice("c", (0..count).map(|k| format!("v{k}"))).unwrap();
            Space::new([Module::new("m", [param]).unwrap()]).unwrap()
        };
        assert!(!is_wide(&choice(crate::space::LARGE_CHOICE)));
        assert!(is_wide(&choice(crate::space::LARGE_CHOICE + 1)));
    }

    #[test]
    fn few_ways_are_looked_at_and_every_one_has_its_turn() {
        let space = space(100, 1);
        let all: Vec<StageSet> = (0..100).map(StageSet::first).collect();
        let mut seen = [false; 100];
        for trials in 0..40 {
            let (kept, each) = ways(&space, all.clone(), 8, trials);
            assert!(kept.len() == WAYS && each == 1, "{} ways, {each} beside the first", kept.len());
            assert_eq!([&kept[0], &kept[WAYS - 1]], [&all[0], &all[99]]);
            kept.iter().for_each(|way| seen[way.len()] = true);
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn nothing_is_bounded_elsewhere() {
        let space = space(4, 2);
        let all: Vec<StageSet> = (0..4).map(StageSet::first).collect();
        assert_eq!(ways(&space, all.clone(), 8, 3), (all, 8));
        let wanted = Maximiser::default();
        assert_eq!(effort(&space, &wanted), wanted);
    }
}
