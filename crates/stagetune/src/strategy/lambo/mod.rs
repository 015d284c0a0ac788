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

use crate::acquisition::{Lcb, Maximiser, Region, Surface};
use crate::bandit::PriorScore;
use crate::space::{Cost, Point, Space, StageSet};
use crate::strategy::descriptor::{COUNT, COUNT_0, Descriptor, POSITIVE, option, read, rewrite, write};
use crate::strategy::parts::fresh::settle;
use crate::strategy::parts::model::{Model, check_hyper, hyper_over};
use crate::strategy::parts::prefix;
use crate::strategy::parts::stream::{Purpose, seed_of};
use crate::strategy::{ArmChoice, Identity, Past, Proposal, Source, Strategy, StrategyError, View, Why};
use crate::surrogate::Hyper;
use serde::{Deserialize, Serialize};

use losses::{Anchor, From, Problems, Solved};
use priced::{Form, Priced};
use state::{State, Told};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "lambo",
    about: "a slowly moving bandit over regions of early stages, which move where that is worth \
         their price",
    options: &[
        option(
            "alpha",
            "what the best point of a region minimises",
            "{ lcb = \"sqrt\" }, { lcb = \"printed\" }, { lcb = { fixed = 2.0 } }, \"ei\", \"log-ei\", \
         { mes = { samples = 10 } }, { gittins = 0.01 }, \"ei-per-cost\" or \
         { gittins-per-cost = { lambda = 0.1, decay = 0.5 } }",
        ),
        option(
            "losses",
            "how the losses of regions reach the bandit",
            "\"rescale\", \"gap\", \"raw\" or { clip = { low = 0.0, high = 1.0 } }",
        ),
        option("eta", "learning rate of the bandit", POSITIVE),
        option("partition", "first regions of a stage without cuts", "\"bisect\" or { diameter = 0.5 }"),
        option(
            "depths",
            "how rarely stages move: each level halves how often",
            "{ all = 1 }, { each = [2, 1] } with one for each stage but the last, or \"from-costs\"",
        ),
        option("abandon", "when regions are dropped", "{ below = 0.1, after = 10 } or \"none\""),
        option(
            "abandon.below",
            "share of an even chance below which a region is weak",
            "a number from 0 to below 1",
        ),
        option("abandon.after", "iterations in a row that a region may be weak", COUNT),
        option("refinements", "how often regions are halved after some were dropped", COUNT_0),
        option(
            "refresh_every",
            "iterations after which all regions are equally likely again",
            "a whole number of at least 1, or \"none\"",
        ),
        option(
            "growth",
            "when the first stage is moved more rarely",
            "{ every = 20, more_than = 5 } or \"none\"",
        ),
        option("growth.every", "iterations between looks", COUNT),
        option("growth.more_than", "changes of the first stage in between that are still fine", COUNT_0),
        option("lambda", "what a unit of cost is worth in units of the metric", POSITIVE),
        option(
            "scores",
            "losses added to regions where a condition holds",
            "a list such as [[\"lr > 0.01\", 0.5]]",
        ),
        option(
            "theory",
            "the settings of the paper's proof for a known number of iterations",
            "{ horizon = 500 }, { horizon = 500, lipschitz = 2.0 } or \"none\"",
        ),
        option("max_arms", "the most regions", COUNT),
        option(
            "anchors",
            "stages that stay where a region is looked through: the previous point's, or any at \
         hand that are worth it",
            "\"previous\" or \"prefixes\"",
        ),
    ],
    defaults: || write(&LamboOptions::default()),
    rewrite: rewrite::<LamboOptions>,
    build: |name, space, options, seed| {
        Ok(Box::new(Lambo::new(space, read(name, options)?, seed)?.named(name)))
    },
};

/// How its variant is made by name.
pub(in crate::strategy) const PAPER: Descriptor = Descriptor {
    name: "lambo-paper",
    about: "the bandit with the settings of the paper, which changes early stages rarely",
    defaults: || write(&LamboOptions::paper()),
    ..DESCRIPTOR
};

/// What a proposal of the model remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LamboMemory {
    /// λ of the next iteration, where it is another than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<f64>,
    /// The trial at x^{t−1}, which the arm was drawn next to; nothing where there are no arms.
    #[serde(skip_serializing_if = "Option::is_none")]
    stood_at: Option<usize>,
    /// What modules were expected to cost, where the depths of the first tree follow from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<Vec<f64>>,
}

/// Lazy modular Bayesian optimisation.
#[derive(Clone, Debug)]
pub struct Lambo {
    name: &'static str,
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
    /// The number of the trial at x^{t−1}.
    trial: usize,
    /// x^{t−1}.
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
        Ok(Self {
            name: DESCRIPTOR.name,
            options,
            scores,
            seed,
            iterations: 0,
            hyper: None,
            lambda,
            state: None,
        })
    }

    /// Under the name of a variant.
    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The options in force.
    pub fn options(&self) -> &LamboOptions {
        &self.options
    }

    /// Whether the depths of the first tree follow from what modules cost.
    fn depths_follow_costs(&self) -> bool {
        self.options.depths == Depths::FromCosts || self.options.theory.is_some()
    }

    /// Draws the arm of the next iteration next to a trial; `None` where there are no arms.
    fn prepare<'a>(
        &self,
        past: &Past<'a>,
        hyper: &Hyper,
        trial: usize,
        costs: Option<&[f64]>,
    ) -> Result<Option<Prepared<'a>>, StrategyError> {
        let space = past.space();
        let Some(previous) = past.point(trial) else { return Ok(None) };
        let state = match &self.state {
            Some(state) => Some(state.clone()),
            None => State::begin(space, &self.options, &self.scores, hyper, costs, self.seed)?,
        };
        let Some(mut state) = state else { return Ok(None) };
        let u = space.encode(previous)?;
        let held = state.stand_at(space, trial, &u)?;
        let (probabilities, level) = (state.bandit.p(), state.bandit.level());
        let arm = state.draw(self.seed);
        Ok(Some(Prepared { state, trial, previous, u, held, probabilities, level, arm }))
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
            LossScale::Raw | LossScale::Clip { .. } | LossScale::Rescale => {
                self.options.alpha.loss(model, value)
            }
        }
    }

    /// The next λ if it is another, where `best` is the largest acquisition value.
    fn next_lambda(&self, model: &Model, best: f64) -> Option<f64> {
        let lambda = self.lambda?;
        let next = self.options.alpha.next_lambda(lambda, best, model.lowest);
        (next != lambda).then_some(next)
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
        let everything = StageSet::all(space.modules().len());

        // Staying with the values of a failure would repeat it.
        let last = view.trials.iter().rposition(|trial| !trial.is_failed());
        let prepared = match last {
            Some(trial) => self.prepare(&view.past(), hyper, trial, view.costs)?,
            None => None,
        };
        let Some(prepared) = prepared else {
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
            let memory =
                LamboMemory { lambda: self.next_lambda(&model, best.value), ..LamboMemory::default() };
            let proposal = Proposal::new(point, why).with_hyper(model.refitted);
            return if memory == LamboMemory::default() {
                Ok(proposal)
            } else {
                proposal.remembering(&memory)
            };
        };
        let Prepared { state, trial, previous, u, held, probabilities, level, arm } = prepared;
        let _ = hints.push(&u);
        let anchors = match self.options.anchors {
            Anchors::Prefixes if self.options.alpha.knows_costs() && view.costs.is_some() => {
                Anchors::Prefixes
            }
            Anchors::Prefixes | Anchors::Previous => Anchors::Previous,
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
                Solved { best, region, from: Some(previous), keeps: StageSet::empty(), runs: everything }
            }
        };
        let kept = from.map(|point| (point, &keeps));
        let (point, source) = settle(view, self.seed, &region, kept, &best.x)?;
        let source =
            if beyond && matches!(source, Source::Model | Source::Spread) { Source::Beyond } else { source };
        let mut why = Why::of(view, &point, source)?;
        why.belief = Some(model.belief(&space.encode(&point)?, &alpha.at(&runs)?)?);
        let first_free = match source.is_outside() {
            true => space.movement(Some(previous), &point)?.first_changed.unwrap_or(state.free),
            false => (0..space.modules().len()).find(|&m| !keeps.contains(m)).unwrap_or(state.free),
        };
        why.arm = Some(explain(space, &state, probabilities, level, arm, first_free, losses));
        let lowest = values.iter().flatten().copied().fold(best.value, f64::max);
        let begins = self.state.is_none() && self.depths_follow_costs();
        let memory = LamboMemory {
            lambda: self.next_lambda(&model, lowest),
            stood_at: Some(trial),
            costs: view.costs.filter(|_| begins).map(<[f64]>::to_vec),
        };
        Proposal::new(point, why).with_hyper(model.refitted).remembering(&memory)
    }

    fn identity(&self) -> Identity {
        let mut written = self.options.clone();
        let is_custom = matches!(written.alpha, Alpha::Custom(_));
        if is_custom {
            // One that the caller brings along has no other name.
            written.alpha = Alpha::Ei;
        }
        let mut identity = Identity::of(self.name, self.seed, &written);
        if is_custom {
            identity.options.insert("alpha".to_owned(), "custom".into());
        }
        identity
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let (trial, space) = (past.trials(), past.space());
        let foreign = |problem: String| Err(StrategyError::Foreign { trial, problem });
        if !proposal.why.source.is_model() {
            return Ok(());
        }
        check_hyper(trial, proposal, space)?;
        let memory = proposal.recall::<LamboMemory>(trial)?.unwrap_or_default();
        let lambda = self.lambda.map(|lambda| memory.lambda.unwrap_or(lambda));
        if let Some(lambda) = lambda.filter(|lambda| !alpha::is_lambda(*lambda)) {
            return foreign(format!("it remembers a lambda of {lambda}"));
        }
        let hyper =
            proposal.hyper.as_ref().map(|hyper| hyper_over(space, hyper)).or_else(|| self.hyper.clone());
        if let Some(stood_at) = memory.stood_at.filter(|stood_at| *stood_at >= trial) {
            return foreign(format!("it remembers standing at trial {stood_at}, which was not asked yet"));
        }
        let modules = space.modules().len();
        if let Some(costs) = memory.costs.as_ref().filter(|costs| costs.len() != modules) {
            return foreign(format!("it remembers costs of {} modules, not of {modules}", costs.len()));
        }
        let prepared = match (memory.stood_at, &hyper) {
            (Some(stood_at), Some(hyper)) => self.prepare(past, hyper, stood_at, memory.costs.as_deref())?,
            (Some(_), None) | (None, _) => None,
        };
        let next = match (prepared, &proposal.why.arm) {
            (None, None) => None,
            (Some(prepared), Some(choice)) => {
                let mut state = prepared.state;
                if choice.arm != prepared.arm {
                    return foreign(format!("it says arm {}, the dice say {}", choice.arm, prepared.arm));
                }
                let first = space.module_params(state.first_module());
                let first_moved =
                    prepared.previous.values().get(first.clone()) != proposal.point.values().get(first);
                let u = space.encode(&proposal.point)?;
                let from_arm = !proposal.why.source.is_outside();
                if from_arm && !state.holds(space, prepared.arm, &u) {
                    return foreign(format!("its point is not in arm {}", prepared.arm));
                }
                let told = Told { losses: &choice.losses, trial, u: &u, from_arm, first_moved };
                state.step(space, &self.options, &self.scores, &told, self.seed)?;
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
