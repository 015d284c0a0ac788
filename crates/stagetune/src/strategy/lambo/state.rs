//! What LaMBO remembers: the regions, the bandit on them, and the counters of its rules.
//!
//! Rules of the experiments, applied after each step of the bandit in this order:
//!
//! | rule | what happens |
//! | --- | --- |
//! | abandon | arms that were weak for too long are dropped, and a region of a module when all its arms are |
//! | refine | after a region was dropped, the remaining ones are bisected; children share their parent's probability |
//! | growth | if the first module moved too often, it sinks a level deeper |
//! | refresh | all arms are equally likely again |
//!
//! None of them moves the point: the arm that holds it is looked up in the new regions.

use super::options::{Depths, FirstPartition, LamboOptions};
use crate::bandit::{Partition, PartitionError, PriorScore, Regions, SlowlyMovingBandit, Tree, draw_signs};
use rand_chacha::ChaCha8Rng;

use crate::space::Space;
use crate::strategy::StrategyError;
use crate::strategy::parts::stream::{Purpose, stream};
use crate::surrogate::Hyper;

/// The regions, the bandit on them, and the counters of the rules.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) regions: Regions,
    pub(super) bandit: SlowlyMovingBandit,
    pub(super) scores: Vec<f64>,
    /// The first module that is never divided: it and those after it move freely.
    pub(super) free: usize,
    /// Steps of the bandit so far.
    pub(super) steps: usize,
    /// How often regions were dropped or bisected, after which arms are numbered anew.
    pub(super) partition: usize,
    /// Bisections of all regions so far.
    refinements: usize,
    /// Steps in a row for which each arm has been weak.
    weak: Vec<usize>,
    /// Steps since the last look in which the first module moved.
    first_moved: usize,
    /// The trial that the bandit placed last, and the regions that hold it.
    stands: Option<(usize, Vec<Option<usize>>)>,
}

/// How far a coordinate may move on its way through typed values: far more than a last digit, far less than a region.
pub(super) const ROUNDING: f64 = 1e-9;

/// What a step of the bandit is told.
pub(super) struct Told<'a> {
    pub(super) losses: &'a [f64],
    /// The number of the new trial.
    pub(super) trial: usize,
    /// The new point in the unit cube.
    pub(super) u: &'a [f64],
    /// Whether it came out of the arm drawn.
    pub(super) from_arm: bool,
    pub(super) first_moved: bool,
}

impl State {
    /// The first regions and a uniform bandit; `None` where nothing is divided. Partitions may depend on the fitted kernel, depths on the costs.
    pub(super) fn begin(
        space: &Space,
        options: &LamboOptions,
        scores: &[PriorScore],
        hyper: &Hyper,
        costs: Option<&[f64]>,
        seed: u64,
    ) -> Result<Option<Self>, StrategyError> {
        let tunable = tunable(space);
        let divided = tunable.split_last().map_or(&[][..], |(_, divided)| divided);
        let mut rng = stream(seed, Purpose::Partition, 0);
        // Regions of all modules may become arms, so each gets its share of the limit.
        let share =
            (options.max_arms as f64).powf(1.0 / divided.len().max(1) as f64).floor().max(1.0) as usize;
        let mut free = tunable.last().copied().unwrap_or(0);
        let (mut partitions, mut arms): (Vec<Partition>, usize) = (Vec::new(), 1);
        for &m in divided {
            let partition = first_partition(space, options, hyper, share, m, &mut rng)?;
            arms = arms.saturating_mul(partition.len());
            if arms > options.max_arms {
                free = m;
                break;
            }
            partitions.push(partition);
        }
        if partitions.is_empty() {
            return Ok(None);
        }
        let regions = Regions::new(space, partitions)?;
        let arms = regions.live();
        let modules: Vec<usize> = regions.partitions().iter().map(Partition::module).collect();
        let tree = Tree::new(&regions.counts(), &depths(options, costs, &modules, free, arms))?;
        let eta = options.theory.map_or(options.eta, |theory| theory.eta(tree.height(), arms));
        let mut bandit = SlowlyMovingBandit::new(tree, eta)?;
        bandit.refresh_among(regions.alive())?;
        Ok(Some(Self {
            scores: regions.scores(space, scores)?,
            weak: vec![0; regions.arms()],
            regions,
            bandit,
            free,
            steps: 0,
            partition: 0,
            refinements: 0,
            first_moved: 0,
            stands: None,
        }))
    }

    /// The first module that is divided: the one whose moves the growth rule counts.
    pub(super) fn first_module(&self) -> usize {
        self.regions.partitions().first().map_or(0, Partition::module)
    }

    /// The regions that hold a trial's point; the bandit is put there if it stands elsewhere.
    ///
    /// A point that a user gave, that chance gave or that outlived its region may be in any region, or in none: then any arm may be drawn.
    pub(super) fn stand_at(
        &mut self,
        space: &Space,
        trial: usize,
        u: &[f64],
    ) -> Result<Vec<Option<usize>>, StrategyError> {
        let held = match &self.stands {
            Some((known, held)) if *known == trial => held.clone(),
            _ => self.regions.locate(space, u),
        };
        let whole: Option<Vec<usize>> = held.iter().copied().collect();
        match whole.and_then(|regions| self.regions.arm_of(&regions)) {
            Some(arm) if arm == self.bandit.arm() => {}
            Some(arm) => self.bandit.place(arm, self.bandit.level())?,
            None => self.bandit.place(self.bandit.arm(), self.bandit.tree().height())?,
        }
        Ok(held)
    }

    /// Whether a coded point lies in an arm's box, give or take what rounding through typed values moves it.
    pub(super) fn holds(&self, space: &Space, arm: usize, u: &[f64]) -> bool {
        self.regions.corners(space, arm).is_some_and(|(lower, upper)| {
            u.iter().zip(lower.iter().zip(&upper)).all(|(u, (l, h))| l - ROUNDING <= *u && *u <= h + ROUNDING)
        })
    }

    /// i_t, drawn with the dice of this step.
    pub(super) fn draw(&mut self, seed: u64) -> usize {
        self.bandit.draw(&mut stream(seed, Purpose::Draw, self.steps as u64 + 1))
    }

    /// One step of the bandit, then the rules.
    pub(super) fn step(
        &mut self,
        space: &Space,
        options: &LamboOptions,
        scores: &[PriorScore],
        told: &Told<'_>,
        seed: u64,
    ) -> Result<(), StrategyError> {
        self.steps += 1;
        let mut dice = stream(seed, Purpose::Signs, self.steps as u64);
        let signs = draw_signs(self.bandit.tree().height(), &mut dice);
        self.bandit.update(told.losses, &signs)?;
        let arm = self.bandit.arm();
        let held: Vec<Option<usize>> = if told.from_arm {
            self.regions.regions_of(arm).unwrap_or_default().into_iter().map(Some).collect()
        } else {
            self.regions.locate(space, told.u)
        };
        self.stands = Some((told.trial, held));
        self.first_moved += usize::from(told.first_moved);
        // With a known horizon the settings are right from the beginning.
        if options.theory.is_none() {
            self.abandon(space, options, scores, told, seed)?;
            self.grow(options)?;
            if options.refresh_every.is_some_and(|every| self.steps.is_multiple_of(every)) {
                self.bandit.refresh_among(self.regions.alive())?;
                self.weak.fill(0);
            }
        }
        Ok(())
    }

    /// Drops arms that were weak for too long, and bisects what is left if a region went with them.
    fn abandon(
        &mut self,
        space: &Space,
        options: &LamboOptions,
        scores: &[PriorScore],
        told: &Told<'_>,
        seed: u64,
    ) -> Result<(), StrategyError> {
        let Some(rule) = options.abandon else { return Ok(()) };
        let least = rule.below / self.regions.live() as f64;
        for ((weak, p), alive) in self.weak.iter_mut().zip(self.bandit.p()).zip(self.regions.alive()) {
            *weak = if *alive && p < least { *weak + 1 } else { 0 };
        }
        let dropped: Vec<bool> = self.weak.iter().map(|weak| *weak >= rule.after).collect();
        if !dropped.contains(&true) {
            return Ok(());
        }
        let cells = |regions: &Regions| regions.counts().iter().sum::<usize>();
        let (mut regions, mut parents) = self.regions.drop_arms(&dropped)?;
        let fewer = cells(&regions) < cells(&self.regions);
        let mut children = vec![1; regions.arms()];
        if fewer && self.refinements < options.refinements {
            let mut rng = stream(seed, Purpose::Partition, self.refinements as u64 + 1);
            let (finer, of) = regions.refine(space, options.max_arms, &mut rng)?;
            if cells(&finer) > cells(&regions) {
                let mut counts = vec![0usize; regions.arms()];
                of.iter().zip(finer.alive()).filter(|(_, alive)| **alive).for_each(|(p, _)| counts[*p] += 1);
                children = of.iter().map(|p| counts[*p].max(1)).collect();
                parents = of.iter().map(|p| parents[*p]).collect();
                regions = finer;
                self.refinements += 1;
            }
        }
        self.partition += usize::from(fewer);
        self.replant(space, regions, &parents, &children, scores, told)
    }

    /// Puts the bandit on new regions: an arm has its parent's probability, shared with the parent's other children.
    fn replant(
        &mut self,
        space: &Space,
        regions: Regions,
        parents: &[usize],
        children: &[usize],
        scores: &[PriorScore],
        told: &Told<'_>,
    ) -> Result<(), StrategyError> {
        let old = self.bandit.log_p();
        let log_weights: Vec<f64> = (0..regions.arms())
            .map(|arm| {
                let inherited = parents.get(arm).and_then(|p| old.get(*p)).copied();
                match (regions.alive()[arm], inherited) {
                    (true, Some(log_p)) => log_p - (children[arm] as f64).ln(),
                    _ => f64::NEG_INFINITY,
                }
            })
            .collect();
        // A coded point may have been rounded across the edge of the box it was found in.
        let mut u = told.u.to_vec();
        if told.from_arm
            && let Some((lower, upper)) = self.regions.corners(space, self.bandit.arm())
        {
            u.iter_mut().zip(lower.iter().zip(&upper)).for_each(|(u, (l, h))| *u = u.clamp(*l, *h));
        }
        let held = regions.locate(space, &u);
        let whole: Option<Vec<usize>> = held.iter().copied().collect();
        let tree = Tree::new(&regions.counts(), self.bandit.tree().depths())?;
        let (arm, level) = match whole.and_then(|held| regions.arm_of(&held)) {
            Some(arm) => (arm, self.bandit.level()),
            None => (0, tree.height()),
        };
        self.bandit = self.bandit.clone().replant(tree, &log_weights, arm, level)?;
        self.scores = regions.scores(space, scores)?;
        // What was weak stays so; halves of a region are given their time.
        let weak = |arm: usize| {
            if children[arm] > 1 { 0 } else { self.weak.get(parents[arm]).copied().unwrap_or(0) }
        };
        self.weak = (0..regions.arms()).map(weak).collect();
        self.regions = regions;
        self.stands = Some((told.trial, held));
        Ok(())
    }

    /// A level that was open before stays open by its number: the first module, now a level higher, has to wait for its turn.
    fn grow(&mut self, options: &LamboOptions) -> Result<(), StrategyError> {
        let Some(rule) = options.growth.filter(|rule| self.steps.is_multiple_of(rule.every)) else {
            return Ok(());
        };
        if self.first_moved > rule.more_than {
            let mut depths = self.bandit.tree().depths().to_vec();
            if let Some(first) = depths.first_mut() {
                *first += 1;
            }
            // A tree that is as high as trees get stays as it is.
            if let Ok(tree) = Tree::new(self.bandit.tree().regions(), &depths) {
                let (arm, level) = (self.bandit.arm(), self.bandit.level());
                let log_p = self.bandit.log_p().to_vec();
                self.bandit = self.bandit.clone().replant(tree, &log_p, arm, level)?;
            }
        }
        self.first_moved = 0;
        Ok(())
    }
}

/// The modules with parameters. The last of them is the one that moves freely; the others have places in the tree.
pub(super) fn tunable(space: &Space) -> Vec<usize> {
    (0..space.modules().len()).filter(|m| !space.module_params(*m).is_empty()).collect()
}

/// The user's cuts where there are any, else what the options say.
fn first_partition(
    space: &Space,
    options: &LamboOptions,
    hyper: &Hyper,
    share: usize,
    m: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Partition, PartitionError> {
    if !space.cuts(m).is_empty() {
        return Partition::by_cuts(space, m);
    }
    match (options.theory, &options.partition) {
        (Some(theory), _) => {
            let own = space.module_coordinates(m);
            let lengthscales: Vec<f64> = own.clone().map(|d| hyper.lengthscale(d)).collect();
            Partition::by_diameter(space, m, theory.diameter(own.len(), &lengthscales), share)
        }
        (None, FirstPartition::Diameter(diameter)) => Partition::by_diameter(space, m, *diameter, share),
        (None, FirstPartition::Bisect) => Partition::bisected(space, m, rng),
    }
}

/// d_m of every divided module.
fn depths(
    options: &LamboOptions,
    costs: Option<&[f64]>,
    modules: &[usize],
    free: usize,
    arms: usize,
) -> Vec<usize> {
    let cost = |m: usize| costs.and_then(|costs| costs.get(m)).copied();
    match (options.theory, &options.depths) {
        (Some(theory), _) => {
            // A module without parameters runs with the next divided one before it, or always.
            let ends = modules.iter().skip(1).copied().chain([free]);
            let block = |(from, to): (&usize, usize)| (*from..to).map(cost).sum::<Option<f64>>();
            let mut blocks: Option<Vec<f64>> = modules.iter().zip(ends).map(block).collect();
            let rest: Option<f64> = costs.map(|costs| costs.iter().skip(free).sum());
            if let (Some(blocks), Some(rest)) = (&mut blocks, rest) {
                blocks.push(rest);
            }
            blocks.map_or_else(|| vec![1; modules.len()], |costs| theory.depths(&costs, options.lambda, arms))
        }
        (None, Depths::All(depth)) => vec![*depth; modules.len()],
        (None, Depths::Each(depths)) => {
            modules.iter().map(|m| depths.get(*m).copied().unwrap_or(1)).collect()
        }
        (None, Depths::FromCosts) => {
            let depth = |c: f64| (options.lambda * c).ln().round().clamp(1.0, 5.0).max(1.0) as usize;
            modules.iter().map(|m| cost(*m).map_or(1, depth)).collect()
        }
    }
}

#[cfg(test)]
mod tests;
