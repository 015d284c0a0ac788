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
//! `lambo` goes further than the paper: α_t is at the price of what has to run, and an arm is solved beside every prefix at hand that lies in it
//! ([`Anchors::Prefixes`]), so that early modules may also move inside a region. The dice decide on the region, prices on what moves in it.
//!
//! The losses do not depend on what x^t returns, so a whole iteration happens when a point is asked for. Its record is the arm and the
//! losses in [`Why`], the hyper-parameters if they were fitted, and the next price if it fell: with them an iteration is repeated without its optimisation problems.
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
mod priced;
mod state;
mod theory;

pub use alpha::{Alpha, MakeAcquisition, Situation};
pub use options::{Abandon, Anchors, Depths, FirstPartition, Growth, LamboOptions, LossScale};
pub use theory::Theory;

use super::fresh::settle;
use super::model::{Model, check_hyper};
use super::stream::{Purpose, seed_of};
use super::{ArmChoice, Proposal, Source, Strategy, StrategyError, View, Why, prefix};
use crate::acquisition::{Lcb, Maximiser, Region, Surface};
use crate::bandit::PriorScore;
use crate::space::{Cost, Point, Space};
use crate::surrogate::Hyper;
use losses::{Anchor, From, Problems, Solved};
use priced::{Form, Priced};
use state::{State, Told};

/// The name under which a proposal remembers λ of the next iteration.
const LAMBDA: &str = "lambda";

/// Lazy modular Bayesian optimisation.
#[derive(Clone, Debug)]
pub struct Lambo {
    options: LamboOptions,
    scores: Vec<PriorScore>,
    seed: u64,
    /// Iterations so far, the starting design left out.
    iterations: usize,
    hyper: Option<Hyper>,
    /// The price of a full run, where α has one.
    lambda: Option<f64>,
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
        let lambda = options.alpha.first_lambda();
        Ok(Self { options, scores, seed, iterations: 0, hyper: None, lambda, state: None })
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
    fn acquisition<'v>(&self, view: &View<'v>, model: &Model, t: usize) -> Result<Priced<'v>, StrategyError> {
        let form = match (self.options.theory, &self.options.alpha) {
            (Some(theory), Alpha::Lcb(_)) => Form::Same(Box::new(Lcb::new(theory.beta(&model.gp))?)),
            (_, alpha) => alpha.make(model, view.space.params().len(), t, self.seed, self.lambda)?,
        };
        Ok(Priced { form, costs: view.costs })
    }

    /// The loss of an arm, from the value of its minimiser.
    fn loss(&self, model: &Model, value: f64) -> f64 {
        match self.options.losses {
            LossScale::Gap => -value,
            _ => self.options.alpha.loss(model, value),
        }
    }

    /// A proposal that remembers the next λ if it is another, where `best` is the largest acquisition value.
    fn remember(&self, proposal: Proposal, model: &Model, best: f64) -> Proposal {
        let Some(lambda) = self.lambda else { return proposal };
        let next = self.options.alpha.next_lambda(lambda, best, model.lowest);
        if next == lambda { proposal } else { proposal.with_memo(LAMBDA, next) }
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
        let alpha = self.acquisition(view, &model, t)?;
        let mut hints = model.hints();
        let effort = Maximiser {
            seed: seed_of(self.seed, Purpose::Maximise, t as u64),
            ..self.options.effort.clone()
        };
        let (space, told) = (view.space, view.told()?);
        let everything = vec![true; space.modules().len()];

        let Some(prepared) = self.prepare(view, Some(hyper))? else {
            let acquisition = alpha.at(&everything)?;
            let region = Region::of(space).beside(&told);
            let best = Maximiser { seed: effort.seed, ..Maximiser::default() }.maximise(
                &Surface::new(&model.gp, &acquisition),
                &region,
                &hints,
            )?;
            let (point, source) = settle(view, self.seed, &region, None, &best.x)?;
            let mut why = Why::of(view, &point, source)?;
            why.belief = Some(model.belief(&space.encode(&point)?, &acquisition)?);
            let proposal = self.remember(Proposal::new(point, why), &model, best.value);
            return Ok(proposal.with_hyper(model.refitted));
        };
        let Prepared { state, previous, u, held, probabilities, level, arm } = prepared;
        let _ = hints.push(&u);
        let anchors = match self.options.anchors {
            Anchors::Prefixes if self.options.alpha.knows_costs() && view.costs.is_some() => {
                Anchors::Prefixes
            }
            _ => Anchors::Previous,
        };
        let prefixes = match anchors {
            Anchors::Previous => Vec::new(),
            Anchors::Prefixes => prefix::prefixes(view)?,
        };
        let anchors = match anchors {
            Anchors::Previous => {
                let runs = view.movement(previous)?.runs;
                From::Previous(Anchor { point: previous, u: &u, runs, held: &held, free: state.free })
            }
            Anchors::Prefixes => From::Prefixes(&prefixes),
        };
        let problems = Problems {
            space,
            gp: &model.gp,
            alpha: &alpha,
            hints: &hints,
            effort: &effort,
            told: &told,
            anchors,
        };
        let mut solved = problems.solve(&state.regions)?;
        let values: Vec<Option<f64>> = solved.iter().map(|arm| Some(arm.as_ref()?.best.value)).collect();
        let raw: Vec<Option<f64>> = values
            .iter()
            .map(|value| value.map(|value| self.loss(&model, value)).filter(|l| l.is_finite()))
            .collect();
        let losses = losses::scaled(&raw, &state.scores, self.options.losses);

        // An arm that turned out to hold nothing allowed and new gives way to the whole space.
        let drawn = solved.get_mut(arm).and_then(Option::take);
        let beyond = drawn.is_none();
        let Solved { best, region, from, keeps, runs } = match drawn {
            Some(solved) => solved,
            None => {
                let region = Region::of(space).beside(&told);
                let acquisition = alpha.at(&everything)?;
                let best = effort.maximise(&Surface::new(&model.gp, &acquisition), &region, &hints)?;
                let keeps = vec![false; space.modules().len()];
                Solved { best, region, from: Some(previous), keeps, runs: everything }
            }
        };
        let kept = from.map(|point| (point, keeps.as_slice()));
        let (point, source) = settle(view, self.seed, &region, kept, &best.x)?;
        let source = match source {
            Source::Model | Source::Spread if beyond => Source::Beyond,
            _ => source,
        };
        let mut why = Why::of(view, &point, source)?;
        why.belief = Some(model.belief(&space.encode(&point)?, &alpha.at(&runs)?)?);
        let first_free = match source.is_outside() {
            true => space.movement(Some(previous), &point)?.first_changed.unwrap_or(state.free),
            false => keeps.iter().position(|kept| !kept).unwrap_or(state.free),
        };
        why.arm = Some(explain(space, &state, probabilities, level, arm, first_free, losses));
        let lowest = values.iter().flatten().copied().fold(best.value, f64::max);
        Ok(self.remember(Proposal::new(point, why), &model, lowest).with_hyper(model.refitted))
    }

    fn settings(&self) -> String {
        // The paper's settings read as they did before there were others, so that studies of earlier versions go on.
        let options = format!("{:?}", self.options).replace(", anchors: Previous }", " }");
        format!("lambo seed {} {options}", self.seed)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let trial = view.trials.len();
        let foreign = |problem: String| Err(StrategyError::Foreign { trial, problem });
        if !proposal.why.source.is_model() {
            return Ok(());
        }
        check_hyper(trial, proposal, view.space.dim())?;
        let lambda = self.lambda.map(|lambda| proposal.memo.get(LAMBDA).copied().unwrap_or(lambda));
        if let Some(lambda) = lambda.filter(|lambda| !alpha::is_lambda(*lambda)) {
            return foreign(format!("it remembers a lambda of {lambda}"));
        }
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
        self.lambda = lambda;
        if next.is_some() {
            self.state = next;
        }
        Ok(())
    }
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
