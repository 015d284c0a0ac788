//! `lambo` and `lambo-paper`: lazy modular Bayesian optimisation (Lin, Miano & Dyer, UAI 2021).
//!
//! ```text
//! each iteration t:
//!   i_t ~ p_t( · | A_{h_{t−1}}(i_{t−1}) )                       the arm, near the last one in the module tree
//!   ℓ̄_0(i) = min of α_t over arm i, early modules frozen         for every arm i
//!   x^t = the minimiser of arm i_t                               early modules keep their values bit for bit
//!   p_{t+1}, h_t from ℓ̄_0                                        the slowly moving bandit
//! ```
//!
//! The losses do not depend on what x^t returns, so a whole iteration happens when a point is asked for. Its record is the arm and the
//! losses in [`Why`] and the hyper-parameters if they were fitted: with them an iteration is repeated without its optimisation problems.
//!
//! A pipeline with one module has no arms; there LaMBO is plain Bayesian optimisation with α. Modules without parameters have no place in the tree.
//!
//! In a graph, modules are taken in their order: those after the first one that moves may all move, also where it does not feed them. That is more
//! than need be where branches are independent; what a trial costs is charged by the graph.
//!
//! x^{t−1} is the last point that did not fail: staying with the values of a failure would repeat it. So after a failure an arm that
//! agrees with the one before may still go back to older values of early modules.

mod alpha;
mod losses;
mod options;
mod state;
mod theory;

pub use alpha::{Alpha, MakeAcquisition, Situation};
pub use options::{Abandon, Depths, FirstPartition, Growth, LamboOptions, LossScale};
pub use theory::Theory;

use super::fresh::settle;
use super::model::{Model, check_hyper};
use super::stream::{Purpose, seed_of};
use super::{ArmChoice, Proposal, Source, Strategy, StrategyError, View, Why};
use crate::acquisition::{Acquisition, Lcb, Maximiser, Region, Surface};
use crate::bandit::PriorScore;
use crate::space::{Cost, Point, Space};
use crate::surrogate::Hyper;
use losses::{Anchor, Solved};
use state::{State, Told};

/// Lazy modular Bayesian optimisation.
#[derive(Clone, Debug)]
pub struct Lambo {
    options: LamboOptions,
    scores: Vec<PriorScore>,
    seed: u64,
    /// Iterations so far, the starting design left out.
    iterations: usize,
    hyper: Option<Hyper>,
    /// Nothing before the first iteration, nor with a single module.
    state: Option<State>,
}

/// An iteration before its optimisation problems.
struct Prepared<'a> {
    state: State,
    previous: &'a Point,
    u: Vec<f64>,
    held: Vec<Option<usize>>,
    /// p_t and the level that the arm is drawn from.
    probabilities: Vec<f64>,
    level: usize,
    arm: usize,
}

impl Lambo {
    /// LaMBO on a space, with these options.
    pub fn new(space: &Space, options: LamboOptions, seed: u64) -> Result<Self, StrategyError> {
        options.check(space)?;
        let option = if options.theory.is_some() { "theory" } else { "depths" };
        let needs_costs = options.depths == Depths::FromCosts || options.theory.is_some();
        let unknown = space.modules().iter().find(|module| module.cost_kind() == Cost::Unknown);
        if let (true, Some(module)) = (needs_costs, unknown) {
            let problem = format!(
                "depths follow costs, but that of module `{}` is unknown; give it one",
                module.name()
            );
            return Err(StrategyError::Option { option, problem });
        }
        let scores = options.scores.iter().map(|(condition, score)| {
            Ok(PriorScore { condition: space.condition(condition)?, score: *score })
        });
        let scores = scores.collect::<Result<_, StrategyError>>()?;
        Ok(Self { options, scores, seed, iterations: 0, hyper: None, state: None })
    }

    /// The options in force.
    pub fn options(&self) -> &LamboOptions {
        &self.options
    }

    /// Draws the arm of the next iteration; `None` where there are no arms or nothing to stay close to.
    fn prepare<'a>(
        &self,
        view: &View<'a>,
        hyper: Option<&Hyper>,
    ) -> Result<Option<Prepared<'a>>, StrategyError> {
        let (Some(hyper), Some(trial)) = (hyper, view.trials.iter().rposition(|trial| !trial.is_failed()))
        else {
            return Ok(None);
        };
        let state = match &self.state {
            Some(state) => Some(state.clone()),
            None => State::begin(view.space, &self.options, &self.scores, hyper, view.costs, self.seed)?,
        };
        let Some(mut state) = state else { return Ok(None) };
        let previous = view.trials[trial].point();
        let u = view.space.encode(previous)?;
        let held = state.stand_at(view.space, trial, &u)?;
        let (probabilities, level) = (state.bandit.p(), state.bandit.level());
        let arm = state.draw(self.seed);
        Ok(Some(Prepared { state, previous, u, held, probabilities, level, arm }))
    }

    /// α_t.
    fn acquisition(
        &self,
        view: &View<'_>,
        model: &Model,
        t: usize,
    ) -> Result<Box<dyn Acquisition>, StrategyError> {
        if let (Some(theory), Alpha::Lcb(_)) = (self.options.theory, &self.options.alpha) {
            return Ok(Box::new(Lcb::new(theory.beta(&model.gp))?));
        }
        self.options.alpha.make(model, view.space.params().len(), t, self.seed)
    }

    fn start(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let point = self.options.design.next(view, self.seed)?;
        let why = Why::of(view, &point, Source::Design)?;
        Ok(Proposal::new(point, why))
    }
}

impl Strategy for Lambo {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        if view.trials.len() < self.options.design.len() {
            return self.start(view);
        }
        let t = self.iterations + 1;
        let Some(model) = Model::build(&self.options.model, view, t, self.hyper.as_ref(), self.seed)? else {
            return self.start(view);
        };
        let Some(hyper) = model.refitted.as_ref().or(self.hyper.as_ref()) else {
            return self.start(view);
        };
        let acquisition = self.acquisition(view, &model, t)?;
        let surface = Surface::new(&model.gp, &acquisition);
        let mut hints = model.hints();
        let effort = Maximiser {
            seed: seed_of(self.seed, Purpose::Maximise, t as u64),
            ..self.options.effort.clone()
        };
        let (space, told) = (view.space, view.told()?);

        let Some(prepared) = self.prepare(view, Some(hyper))? else {
            let region = Region::of(space).beside(&told);
            let best = Maximiser { seed: effort.seed, ..Maximiser::default() }
                .maximise(&surface, &region, &hints)?;
            let (point, source) = settle(view, self.seed, &region, None, &best.x)?;
            let mut why = Why::of(view, &point, source)?;
            why.belief = Some(model.belief(&space.encode(&point)?, &acquisition)?);
            return Ok(Proposal::new(point, why).with_hyper(model.refitted));
        };
        let Prepared { state, previous, u, held, probabilities, level, arm } = prepared;
        let _ = hints.push(&u);
        let anchor = Anchor { u: &u, held: &held, free: state.free, told: told.clone() };
        let solved = losses::solve(space, &state.regions, &anchor, &surface, &hints, &effort)?;
        let raw: Vec<Option<f64>> = solved
            .iter()
            .map(|arm| {
                arm.as_ref()
                    .map(|arm| self.options.alpha.loss(&model, arm.best.value))
                    .filter(|l| l.is_finite())
            })
            .collect();
        let losses = losses::scaled(&raw, &state.scores, self.options.losses);

        // An arm that turned out to hold nothing allowed and new gives way to the whole space.
        let (x, first_free, region) = match solved.get(arm).and_then(Option::as_ref) {
            Some(Solved { best, first_free }) => {
                let (lower, upper) = state.regions.corners(space, arm).unwrap_or_else(|| whole(space));
                let frozen = &u[..space.module_coordinates(*first_free).start];
                (best.x.clone(), *first_free, Region::of(space).within(&lower, &upper)?.freeze(0, frozen)?)
            }
            None => {
                let region = Region::of(space).beside(&told);
                (effort.maximise(&surface, &region, &hints)?.x, 0, region)
            }
        };
        let keeps: Vec<bool> = (0..space.modules().len()).map(|m| m < first_free).collect();
        let (point, source) = settle(view, self.seed, &region, Some((previous, &keeps)), &x)?;
        let source = match (source, &solved.get(arm)) {
            (Source::Model | Source::Spread, None | Some(None)) => Source::Beyond,
            _ => source,
        };
        let mut why = Why::of(view, &point, source)?;
        why.belief = Some(model.belief(&space.encode(&point)?, &acquisition)?);
        let first_free = match source.is_outside() {
            true => space.movement(Some(previous), &point)?.first_changed.unwrap_or(state.free),
            false => first_free,
        };
        why.arm = Some(explain(space, &state, probabilities, level, arm, first_free, losses));
        Ok(Proposal::new(point, why).with_hyper(model.refitted))
    }

    fn settings(&self) -> String {
        format!("lambo seed {} {:?}", self.seed, self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let trial = view.trials.len();
        let foreign = |problem: String| Err(StrategyError::Foreign { trial, problem });
        if !proposal.why.source.is_model() {
            return Ok(());
        }
        check_hyper(trial, proposal, view.space.dim())?;
        let hyper = proposal.hyper.clone().or_else(|| self.hyper.clone());
        let prepared = self.prepare(view, hyper.as_ref())?;
        let next = match (prepared, &proposal.why.arm) {
            (None, None) => None,
            (Some(prepared), Some(choice)) => {
                let mut state = prepared.state;
                if choice.arm != prepared.arm {
                    return foreign(format!("it says arm {}, the dice say {}", choice.arm, prepared.arm));
                }
                let first = view.space.module_params(state.first_module());
                let first_moved =
                    prepared.previous.values().get(first.clone()) != proposal.point.values().get(first);
                let u = view.space.encode(&proposal.point)?;
                let from_arm = !proposal.why.source.is_outside();
                if from_arm && !state.holds(view.space, prepared.arm, &u) {
                    return foreign(format!("its point is not in arm {}", prepared.arm));
                }
                let told = Told { losses: &choice.losses, trial, u: &u, from_arm, first_moved };
                state.step(view.space, &self.options, &self.scores, &told, self.seed)?;
                Some(state)
            }
            (Some(_), None) => return foreign("it says nothing of an arm".into()),
            (None, Some(_)) => return foreign("it says an arm where there is none".into()),
        };
        self.iterations += 1;
        self.hyper = hyper;
        if next.is_some() {
            self.state = next;
        }
        Ok(())
    }
}

fn whole(space: &Space) -> (Vec<f64>, Vec<f64>) {
    (vec![0.0; space.dim()], vec![1.0; space.dim()])
}

fn explain(
    space: &Space,
    state: &State,
    probabilities: Vec<f64>,
    level: usize,
    arm: usize,
    first_free: usize,
    losses: Vec<f64>,
) -> ArmChoice {
    let regions = state.regions.regions_of(arm).unwrap_or_default();
    let boxes = state.regions.partitions().iter().zip(&regions).map(|(partition, cell)| {
        let module = space.modules().get(partition.module()).map_or("", |module| module.name());
        format!("{module}: {}", partition.describe(space, *cell))
    });
    ArmChoice {
        iteration: state.steps + 1,
        arm,
        modules: state.regions.partitions().iter().map(|partition| partition.module()).collect(),
        boxes: boxes.collect(),
        regions,
        level,
        height: state.bandit.tree().height(),
        depths: state.bandit.tree().depths().to_vec(),
        regions_per_module: state.regions.counts(),
        partition: state.partition,
        first_free,
        probabilities,
        losses,
    }
}
