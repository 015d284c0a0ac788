//! `auto`: what stagetune takes by itself; built of what the laboratory showed to pay (`experiments/auto`).
//!
//! ```text
//! start    few draws of dear modules, several of the cheap ones behind each                                   (start.rs)
//! model    Matérn 5/2 or, where that is clearly likelier, a sum of functions of one coordinate each, one with ripples, or both; lengthscales are relatives
//! x_t    = argmax over prefixes p and the rest u of ln EI([p, u]) − a ln Γ([p, u])          a = 1       (prefix.rs, price.rs)
//! ```
//!
//! - Prefixes are those of the previous point and, with a cache, the best different ones of every depth; one of them keeps nothing.
//! - Failed trials have a model of their own: what is likely to fail counts less (feasibility.rs)
//! - Where the metric moves in steps, what is less than half of one is no improvement (quantisation.rs)
//! - Where the number of trials is limited, a trial also costs its place among them (trial_overhead.rs)
//! - A trial that the rest of the budget cannot pay for is not proposed while there is one that it can.
//! - A point that was tried already, or whose value is as good as known, is not proposed while there is another.
//! - Costs are given, learnt from the runs that were measured, or equal where nobody knows them.

mod start;
mod trial_overhead;

use serde::{Deserialize, Serialize};

use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::space::{Batch, Space};
use crate::strategy::descriptor::{AT_LEAST_0, Descriptor, YES_NO, option, read, rewrite, write};
use crate::strategy::parts::explain::{KERNELS, LENGTHSCALE_SPREAD, Ways};
use crate::strategy::parts::feasibility::{Feasibility, TimesFeasibility};
use crate::strategy::parts::model::{Explanation, Model};
use crate::strategy::parts::prefix::{self, Candidate};
use crate::strategy::parts::price::{self, PerPrice, Price};
use crate::strategy::parts::quantisation;
use crate::strategy::parts::spread::spread;
use crate::strategy::parts::stage_cost::StageCosts;
use crate::strategy::parts::state::StrategyState;
use crate::strategy::{
    Design, Identity, ModelOptions, Past, Proposal, Source, Strategy, StrategyError, View, Why,
};
use crate::surrogate::Family;
use crate::trial::Trial;
use start::{Drawn, Start};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "auto",
    about: "what to take if in doubt: improvement per cost, stages that are at hand kept, its \
         own start and model",
    options: &[
        option(
            "start",
            "how to start",
            "\"nested\", which keeps dear stages for several trials, or \"spread\", which never does",
        ),
        option(
            "exponent",
            "how strongly costs count: 0 not at all, 1 as improvement per unit of cost",
            AT_LEAST_0,
        ),
        option("least_share", "what a trial counts as at least, in full runs", "a number from 0.001 to 1"),
        option(
            "trial_overhead",
            "whether a trial also costs its place where their number is limited, so that cheap \
         ones do not use them up",
            YES_NO,
        ),
        option(
            "quantisation",
            "whether improvements of less than half a step do not count where the metric moves in \
         steps",
            YES_NO,
        ),
        option(
            "kernels",
            "other kernel families, taken where they are clearly likelier",
            "a list of families such as [\"additive-matern52\", \"rough-matern52\"]",
        ),
        option("warping", "whether values far above the best are warped where that is likelier", YES_NO),
        option(
            "lengthscale_spread",
            "standard deviation of the logarithms of lengthscales around their mean",
            "a number above 0, or \"none\"",
        ),
        option(
            "feasibility",
            "whether failed trials have a model of their own instead of counting as the worst \
         value",
            YES_NO,
        ),
        option(
            "prefixes",
            "with a cache: how many different prefixes of every depth are gone back to",
            "a whole number from 1 to 1000",
        ),
        option(
            "known_margin",
            "points whose value is known up to this share of the spread of values are not \
         proposed unless they are sure to be better",
            "a number from 0 to less than 1",
        ),
    ],
    defaults: || write(&AutoOptions::default()),
    rewrite: rewrite::<AutoOptions>,
    build: |name, space, options, seed| Ok(Box::new(Auto::new(space, read(name, options)?, seed)?)),
};

/// The settings of `auto`: each ingredient can be taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoOptions {
    /// How to start.
    pub start: AutoStart,
    /// Whether stages that are at hand may be kept.
    pub freeze: bool,
    /// a, how strongly costs count: 0 not at all, 1 as improvement per unit of cost.
    pub exponent: f64,
    /// What a trial counts as at least, in full runs, whatever its stages cost.
    pub least_share: f64,
    /// Whether a trial also costs its place where their number is limited (trial_overhead.rs).
    #[serde(alias = "pace")]
    pub trial_overhead: bool,
    /// Whether improvements of less than half a step do not count where the metric is quantised
    /// (quantisation.rs).
    #[serde(alias = "steps")]
    pub quantisation: bool,
    /// The model.
    pub model: ModelOptions,
    /// Other kernel families, taken where they are clearly likelier. Additive ones find out whether
    /// parameters act one by one, rough ones whether there are ripples on a slow trend.
    #[serde(alias = "rivals")]
    pub kernels: Vec<Family>,
    /// Whether outputs may be warped (warping.rs): then they are where that is clearly likelier. It did not
    /// pay.
    #[serde(alias = "bend")]
    pub warping: bool,
    /// The standard deviation of log lengthscales around their common mean; without, each has a prior of its
    /// own.
    #[serde(alias = "stray")]
    pub lengthscale_spread: Option<f64>,
    /// Whether failed trials have a feasibility model (feasibility.rs); otherwise they count as the worst
    /// value.
    #[serde(alias = "odds")]
    pub feasibility: bool,
    /// With a cache: how many different prefixes of every depth are gone back to.
    pub prefixes: usize,
    /// Points whose value is known up to this share of the spread of values, from their median to the best
    /// one, are not proposed unless they are sure to be better.
    #[serde(alias = "known")]
    pub known_margin: f64,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

/// How `auto` starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AutoStart {
    /// Dear modules are kept for several trials, by what they cost.
    Nested,
    /// Every module is drawn anew for every trial.
    Spread,
}

impl Default for AutoOptions {
    fn default() -> Self {
        Self {
            start: AutoStart::Nested,
            freeze: true,
            exponent: 1.0,
            least_share: SHARE_OF_FULL_RUN,
            trial_overhead: true,
            quantisation: true,
            model: ModelOptions::modern(),
            kernels: KERNELS.to_vec(),
            warping: false,
            lengthscale_spread: Some(LENGTHSCALE_SPREAD),
            feasibility: true,
            prefixes: PREFIXES,
            known_margin: KNOWN_MARGIN,
            effort: prefix::effort(),
        }
    }
}

impl AutoOptions {
    /// The ways in which trials over a space may be explained; the plain one first.
    fn explanations(&self, space: &Space) -> Vec<Explanation> {
        let ways = Ways {
            family: self.model.family,
            kernels: &self.kernels,
            warping: self.warping,
            lengthscale_spread: self.lengthscale_spread,
            leaves_failures: self.feasibility,
        };
        ways.over(space)
    }
}

/// The default strategy.
#[derive(Clone, Debug)]
pub struct Auto {
    options: AutoOptions,
    /// The ways in which trials may be explained.
    explanations: Vec<Explanation>,
    state: StrategyState,
    /// The number of the explanation that the last fit chose.
    explanation: Option<usize>,
    /// What the start has drawn.
    drawn: Drawn,
}

/// What a proposal remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AutoMemory {
    /// The explanation that its fit chose, where that is another than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explained>,
    /// Of the start: the first module that was drawn for it, or the number of modules where all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    drawn_from: Option<usize>,
    /// Of the start where the model had nothing to try: it counts as one of the model's, so that fits go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resumed: bool,
}

/// What tells an explanation from the others that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Explained {
    /// The kernel family.
    family: Family,
    /// Whether outputs are warped.
    warped: bool,
}

impl Explained {
    fn of(explanation: &Explanation) -> Self {
        Self { family: explanation.family, warped: explanation.warped }
    }
}

/// Different prefixes of every depth that are gone back to. With 3 studies were 3% cheaper than with those of the five best points, which often are one, with 8 6% (ten problems, 24 runs).
const PREFIXES: usize = 8;

/// Beyond this only time is lost.
const MOST_PREFIXES: usize = 1_000;

/// A trial where the model is so sure tells nothing, unless it is sure of something better. Without it the model, which never believes that there is no noise at all, runs dear stages again and again at nearly
/// the same value once the rest is at its best. With 0.01 ends are a little further from the optimum, with 0.0025 some stages are run again.
const KNOWN_MARGIN: f64 = 0.005;

/// Beyond this only the cheapest trials would ever be proposed.
const MOST_EXPONENT: f64 = 10.0;

/// A trial counts as at least this share of a full run, whatever its stages cost: it takes its place in the model, and time to choose. A last stage
/// that is nearly free would otherwise be tuned for hundreds of trials before an early one moves. Between 0.01 and 0.1 it makes
/// little difference where the last stage costs a thirtieth or more; where it costs a hundredth, 0.01 tuned it alone for hundreds of trials (`experiments/auto`).
const SHARE_OF_FULL_RUN: f64 = 0.05;

impl Auto {
    /// With these options.
    pub fn new(space: &Space, options: AutoOptions, seed: u64) -> Result<Self, StrategyError> {
        options.model.check()?;
        let refuse = |option, problem: String| Err(StrategyError::Option { option, problem });
        if !(0.0..=MOST_EXPONENT).contains(&options.exponent) {
            let problem = format!("it is {}; give a number from 0 to {MOST_EXPONENT}", options.exponent);
            return refuse("exponent", problem);
        }
        if !(price::LEAST_SHARE..=1.0).contains(&options.least_share) {
            let (given, least) = (options.least_share, price::LEAST_SHARE);
            return refuse("least_share", format!("it is {given}; give a share from {least} to 1"));
        }
        if let Some(spread) =
            options.lengthscale_spread.filter(|spread| !(spread.is_finite() && *spread > 0.0))
        {
            return refuse(
                "lengthscale_spread",
                format!("it is {spread}; give a number above 0, or \"none\""),
            );
        }
        if !(1..=MOST_PREFIXES).contains(&options.prefixes) {
            return refuse("prefixes", format!("it is {}; give 1 to {MOST_PREFIXES}", options.prefixes));
        }
        if !(0.0..1.0).contains(&options.known_margin) {
            let problem = format!("it is {}; give a number from 0 to less than 1", options.known_margin);
            return refuse("known_margin", problem);
        }
        let explanations = options.explanations(space);
        Ok(Self {
            options,
            explanations,
            state: StrategyState::new(seed),
            explanation: None,
            drawn: Drawn::default(),
        })
    }

    /// The next point of the start, if one is left that was not tried.
    fn begin(&self, view: &View<'_>, start: &Start) -> Result<Option<(Proposal, AutoMemory)>, StrategyError> {
        let Some((point, first)) = start.next(view, &self.drawn, self.state.seed())? else {
            return Ok(None);
        };
        let why = Why::of(view, &point, Source::Design)?;
        let memory = AutoMemory { drawn_from: Some(first), ..AutoMemory::default() };
        Ok(Some((Proposal::new(point, why), memory)))
    }

    /// The best trial by improvement per cost; where nothing new is among the best, the start goes on.
    fn choose(
        &self,
        view: &View<'_>,
        model: &Model,
        costs: &StageCosts,
        start: &Start,
    ) -> Result<(Proposal, AutoMemory), StrategyError> {
        let AutoOptions { exponent, least_share, lengthscale_spread, effort, .. } = &self.options;
        // Below the lowest value nothing is warped.
        let margin = match self.options.quantisation {
            true => quantisation::margin(view) / model.scale.scale,
            false => 0.0,
        };
        let log_ei = LogEi::new(model.lowest - margin)?;
        let overhead = match self.options.trial_overhead {
            true => trial_overhead::overhead(view, costs.full()),
            false => 0.0,
        };
        let feasibility = match self.options.feasibility {
            true => Feasibility::of(view, *lengthscale_spread, self.state.seed(), self.state.t())?,
            false => None,
        };
        let objective = |runs| TimesFeasibility {
            objective: PerPrice {
                objective: Surface::new(&model.gp, log_ei),
                price: Price::new(costs, runs).at_least(*least_share).over(overhead),
                exponent: *exponent,
            },
            feasibility: feasibility.as_ref(),
        };
        let prefixes = match self.options.freeze {
            true => prefix::different(view, self.options.prefixes)?,
            false => vec![prefix::whole(view)],
        };
        let effort = self.state.effort(effort);
        let mut candidates =
            prefix::solve(view, &prefixes, |prefix| objective(&prefix.runs), &model.hints(), &effort)?;
        keep_if_any(&mut candidates, |candidate| affordable(view, costs, candidate))?;
        let values: Vec<f64> = view.trials.iter().filter_map(Trial::value).collect();
        let known = self.options.known_margin * spread(&values) / model.scale.scale;
        let tells = |candidate: &Candidate<'_>| {
            let (mean, sd) = model.expects(&candidate.place.x)?;
            let is_known = sd <= known && mean + sd > model.lowest - margin;
            Ok(!is_known && untried(view, candidate)?)
        };
        if !keep_if_any(&mut candidates, tells)?
            && let Some((proposal, memory)) = self.begin(view, start)?
        {
            let memory = AutoMemory { resumed: true, ..memory };
            return Ok((proposal.with_hyper(model.refitted.clone()), memory));
        }
        let best = prefix::best(&candidates, |candidate| candidate.value)?;
        let proposal = self.state.propose(view, model, &objective(&best.prefix.runs), &best.place)?;
        Ok((proposal, AutoMemory::default()))
    }
}

impl Strategy for Auto {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let costs = StageCosts::of(view, self.state.seed(), self.state.t())?;
        let start = Start::of(view, self.options.start == AutoStart::Nested, &costs);
        let model = if self.state.t() > 1 || start.is_over(view) {
            self.state.likeliest(view, &self.options.model, &self.explanations, self.explanation)?
        } else {
            None
        };
        let Some((model, explanation)) = model else {
            // Where everything was tried, it is tried again.
            return match self.begin(view, &start)? {
                Some((proposal, memory)) => proposal.remembering(&memory),
                None => self.state.start(view, Design::Sobol(1)),
            };
        };
        let (proposal, mut memory) = self.choose(view, &model, &costs, &start)?;
        if self.explanation != Some(explanation) {
            memory.explanation = self.explanations.get(explanation).map(Explained::of);
        }
        if memory == AutoMemory::default() { Ok(proposal) } else { proposal.remembering(&memory) }
    }

    fn identity(&self) -> Identity {
        Identity::of(DESCRIPTOR.name, self.state.seed(), &self.options)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let memory = proposal.recall::<AutoMemory>(past.trials())?.unwrap_or_default();
        let explanation = match memory.explanation {
            None => self.explanation,
            // One that is not compared any more leaves none: all are compared anew.
            Some(chosen) => self.explanations.iter().position(|known| Explained::of(known) == chosen),
        };
        let modules = past.space().modules().len();
        if let Some(first) = memory.drawn_from.filter(|first| *first > modules) {
            let problem = format!("it remembers that module {first} of {modules} was drawn");
            return Err(StrategyError::Foreign { trial: past.trials(), problem });
        }
        self.state.accept(past, proposal)?;
        if memory.resumed {
            self.state.pass();
        }
        self.explanation = explanation;
        if let Some(first) = memory.drawn_from {
            let wiring = start::wiring(past.space(), self.options.start == AutoStart::Nested);
            self.drawn.draw_from(first, &wiring, modules);
        }
        Ok(())
    }
}

/// Drops what does not pass, unless that is everything; says whether anything passed.
fn keep_if_any<T>(
    list: &mut Vec<T>,
    passes: impl Fn(&T) -> Result<bool, StrategyError>,
) -> Result<bool, StrategyError> {
    let passed = list.iter().map(passes).collect::<Result<Vec<bool>, _>>()?;
    let any = passed.contains(&true);
    if any {
        let mut passed = passed.into_iter();
        list.retain(|_| passed.next().unwrap_or(true));
    }
    Ok(any)
}

/// Whether what is left of the budget pays for a trial.
fn affordable(view: &View<'_>, costs: &StageCosts, candidate: &Candidate<'_>) -> Result<bool, StrategyError> {
    let at = Batch::of(view.space.dim(), &candidate.place.x);
    let cost = Price::new(costs, &candidate.prefix.runs).ln(&at)?.first().map_or(0.0, |ln| ln.exp());
    Ok(trial_overhead::pays_for(view, cost))
}

/// Whether a point was never asked for.
fn untried(view: &View<'_>, candidate: &Candidate<'_>) -> Result<bool, StrategyError> {
    let point = candidate.place.point(view)?;
    Ok(!view.trials.iter().any(|trial| *trial.point() == point))
}
