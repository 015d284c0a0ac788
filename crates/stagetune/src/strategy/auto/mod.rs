//! `auto`: what stagetune takes by itself; built of what the laboratory showed to pay (`experiments/auto`).
//!
//! ```text
//! start    few draws of dear modules, several of the cheap ones behind each                                   (start.rs)
//! model    Matérn 5/2 or, where that is clearly likelier, a sum of functions of one coordinate each, one with ripples, or both; lengthscales are relatives
//! x_t    = argmax over prefixes p and the rest u of ln EI([p, u]) − a ln Γ([p, u])          a = 1       (prefix.rs, price.rs)
//! ```
//!
//! - Prefixes are those of the previous point and, with a cache, the best different ones of every depth; one of them keeps nothing.
//! - Failed trials have a model of their own: what is likely to fail counts less                                   (odds.rs)
//! - Where the metric moves in steps, what is less than half of one is no improvement                            (steps.rs)
//! - Where the number of trials is limited, a trial also costs its place among them                               (pace.rs)
//! - A trial that the rest of the budget cannot pay for is not proposed while there is one that it can.
//! - A point that was tried already, or whose value is as good as known, is not proposed while there is another.
//! - Costs are given, learnt from the runs that were measured, or equal where nobody knows them.

mod pace;
mod start;

use serde::{Deserialize, Serialize};

use super::course::Course;
use super::forecast::spread;
use super::model::{Explanation, Model};
use super::odds::{Likely, Odds};
use super::prefix::{self, Candidate};
use super::price::{self, PerPrice, Price};
use super::stage_cost::StageCosts;
use super::{Design, ModelOptions, Proposal, Source, Strategy, StrategyError, View, Why};
use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::space::{Batch, Space};
use crate::surrogate::Family;
use crate::trial::Trial;
use start::{Drawn, Start};

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
    /// Whether a trial also costs its place where their number is limited (pace.rs).
    pub pace: bool,
    /// Whether improvements of less than half a step do not count where the metric moves in steps (steps.rs).
    pub steps: bool,
    /// The model.
    pub model: ModelOptions,
    /// Other families of kernels, taken where they are clearly likelier. Additive ones find out whether parameters act one by one, rough ones whether there are
    /// ripples on what is slow.
    pub rivals: Vec<Family>,
    /// Whether values may be bent (bend.rs): then they are where that is clearly likelier. It did not pay.
    pub bend: bool,
    /// How far the logarithms of lengthscales stray from their mean; without, each has a prior of its own.
    pub stray: Option<f64>,
    /// Whether failed trials have a model of their own (odds.rs); otherwise they count as the worst value.
    pub odds: bool,
    /// With a cache: how many different prefixes of every depth are gone back to.
    pub prefixes: usize,
    /// Places whose value is known up to this share of the spread of values, from their median to the best one, are left alone unless they are sure to be better.
    pub known: f64,
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
            least_share: LEAST_SHARE,
            pace: true,
            steps: true,
            model: ModelOptions::modern(),
            rivals: vec![Family::AdditiveMatern52, Family::RoughMatern52, Family::AdditiveRoughMatern52],
            bend: false,
            stray: Some(STRAY),
            odds: true,
            prefixes: PREFIXES,
            known: KNOWN,
            effort: prefix::effort(),
        }
    }
}

impl AutoOptions {
    /// The ways in which trials over a space may be explained; the plain one first.
    pub(super) fn explanations(&self, space: &Space) -> Vec<Explanation> {
        let mut families = vec![self.model.family];
        for rival in &self.rivals {
            // Over one coordinate a sum is its only part.
            let is_other = space.dim() > 1 || !rival.is_additive();
            if is_other && !families.contains(rival) {
                families.push(*rival);
            }
        }
        let bents = if self.bend { &[false, true][..] } else { &[false] };
        let families = families.into_iter();
        families
            .flat_map(|family| bents.iter().map(move |&bent| (family, bent)))
            .map(|(family, bent)| Explanation {
                family,
                bent,
                stray: self.stray,
                starts: Some(STARTS),
                leaves_failures: self.odds,
            })
            .collect()
    }
}

/// The default strategy.
#[derive(Clone, Debug)]
pub struct Auto {
    options: AutoOptions,
    /// The ways in which trials may be explained.
    explanations: Vec<Explanation>,
    course: Course,
    /// The number of the explanation that the last fit chose.
    explanation: Option<usize>,
    /// What the start has drawn.
    drawn: Drawn,
}

/// What a proposal remembers: the number of its explanation, when it is another than before.
const EXPLANATION: &str = "explanation";

/// What a proposal of the start remembers: the first module that was drawn for it, or the number of modules where all were.
const DRAWN: &str = "drawn";

/// What a proposal of the start remembers where the model had nothing to try: it counts as one of the model's, so that fits go on.
const RESUMED: &str = "resumed";

/// How far logarithms of lengthscales stray from their mean; 0.15 to 0.7 were tried.
const STRAY: f64 = 0.3;

/// Starts of every fit: "mostly noise" and "little noise", or where the last fit ended and "mostly noise". More cost time and may gain a
/// little: three were 2% cheaper on Ackley and Rastrigin, within the noise (`experiments/auto`).
const STARTS: usize = 2;

/// Different prefixes of every depth that are gone back to. With 3 studies were 3% cheaper than with those of the five best points, which often are one, with 8 6% (ten problems, 24 runs).
const PREFIXES: usize = 8;

/// Beyond this only time is lost.
const MOST_PREFIXES: usize = 1_000;

/// A trial where the model is so sure tells nothing, unless it is sure of something better. Without it the model, which never believes that there is no noise at all, runs dear stages again and again at nearly
/// the same value once the rest is at its best. With 0.01 ends are a little further from the optimum, with 0.0025 some stages are run again.
const KNOWN: f64 = 0.005;

/// Beyond this only the cheapest trials would ever be proposed.
const MOST_EXPONENT: f64 = 10.0;

/// A trial counts as at least this share of a full run, whatever its stages cost: it takes its place in the model, and time to choose. A last stage
/// that is nearly free would otherwise be tuned for hundreds of trials before an early one moves. Between 0.01 and 0.1 it makes
/// little difference where the last stage costs a thirtieth or more; where it costs a hundredth, 0.01 tuned it alone for hundreds of trials (`experiments/auto`).
const LEAST_SHARE: f64 = 0.05;

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
        if let Some(stray) = options.stray.filter(|stray| !(stray.is_finite() && *stray > 0.0)) {
            return refuse("stray", format!("it is {stray}; give a number above 0, or \"none\""));
        }
        if !(1..=MOST_PREFIXES).contains(&options.prefixes) {
            return refuse("prefixes", format!("it is {}; give 1 to {MOST_PREFIXES}", options.prefixes));
        }
        if !(0.0..1.0).contains(&options.known) {
            return refuse("known", format!("it is {}; give a number from 0 to less than 1", options.known));
        }
        let explanations = options.explanations(space);
        Ok(Self {
            options,
            explanations,
            course: Course::new(seed),
            explanation: None,
            drawn: Drawn::default(),
        })
    }

    /// The next point of the start, if one is left that was not tried.
    fn begin(&self, view: &View<'_>, start: &Start) -> Result<Option<Proposal>, StrategyError> {
        let Some((point, first)) = start.next(view, &self.drawn, self.course.seed())? else {
            return Ok(None);
        };
        let why = Why::of(view, &point, Source::Design)?;
        Ok(Some(Proposal::new(point, why).with_memo(DRAWN, first as f64)))
    }

    /// The best trial by improvement per cost; where nothing new is among the best, the start goes on.
    fn choose(
        &self,
        view: &View<'_>,
        model: &Model,
        costs: &StageCosts,
        start: &Start,
    ) -> Result<Proposal, StrategyError> {
        let AutoOptions { exponent, least_share, pace, steps, stray, known, effort, .. } = &self.options;
        // Below the lowest value nothing is bent.
        let margin = if *steps { super::steps::margin(view) / model.scale.scale } else { 0.0 };
        let log_ei = LogEi::new(model.lowest - margin)?;
        let overhead = if *pace { pace::overhead(view, costs.full()) } else { 0.0 };
        let odds = match self.options.odds {
            true => Odds::of(view, *stray, self.course.seed(), self.course.t())?,
            false => None,
        };
        let objective = |runs| Likely {
            objective: PerPrice {
                objective: Surface::new(&model.gp, log_ei),
                price: Price::new(costs, runs).at_least(*least_share).over(overhead),
                exponent: *exponent,
            },
            odds: odds.as_ref(),
        };
        let prefixes = match self.options.freeze {
            true => prefix::different(view, self.options.prefixes)?,
            false => vec![prefix::whole(view)],
        };
        let effort = self.course.effort(effort);
        let mut candidates =
            prefix::solve(view, &prefixes, |prefix| objective(&prefix.runs), &model.hints(), &effort)?;
        keep_if_any(&mut candidates, |candidate| affordable(view, costs, candidate))?;
        let values: Vec<f64> = view.trials.iter().filter_map(Trial::value).collect();
        let known = known * spread(&values) / model.scale.scale;
        let tells = |candidate: &Candidate<'_>| {
            let (mean, sd) = model.expects(&candidate.place.x)?;
            let is_known = sd <= known && mean + sd > model.lowest - margin;
            Ok(!is_known && untried(view, candidate)?)
        };
        if !keep_if_any(&mut candidates, tells)?
            && let Some(proposal) = self.begin(view, start)?
        {
            return Ok(proposal.with_hyper(model.refitted.clone()).with_memo(RESUMED, 1.0));
        }
        let best = prefix::best(&candidates, |candidate| candidate.value)?;
        self.course.propose(view, model, &objective(&best.prefix.runs), &best.place)
    }
}

impl Strategy for Auto {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let costs = StageCosts::of(view, self.course.seed(), self.course.t())?;
        let start = Start::of(view, self.options.start == AutoStart::Nested, &costs);
        let model = if self.course.t() > 1 || start.is_over(view) {
            self.course.likeliest(view, &self.options.model, &self.explanations, self.explanation)?
        } else {
            None
        };
        let Some((model, explanation)) = model else {
            // Where everything was tried, it is tried again.
            return match self.begin(view, &start)? {
                Some(proposal) => Ok(proposal),
                None => self.course.start(view, Design::Sobol(1)),
            };
        };
        let proposal = self.choose(view, &model, &costs, &start)?;
        let is_new = self.explanation != Some(explanation);
        Ok(if is_new { proposal.with_memo(EXPLANATION, explanation as f64) } else { proposal })
    }

    fn settings(&self) -> String {
        format!("auto seed {} {:?}", self.course.seed(), self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let count = self.explanations.len();
        let explanation = match proposal.memo.get(EXPLANATION) {
            None => self.explanation,
            Some(&number) if number >= 0.0 && number.fract() == 0.0 => {
                // One of more kernels than there are now: they are compared anew.
                (0..count).find(|known| *known as f64 == number)
            }
            Some(&number) => {
                let problem = format!("it remembers explanation {number}, which is no number of one");
                return Err(StrategyError::Foreign { trial: view.trials.len(), problem });
            }
        };
        let modules = view.space.modules().len();
        let drawn = match proposal.memo.get(DRAWN) {
            None => None,
            Some(&first) => match (0..=modules).find(|m| *m as f64 == first) {
                Some(first) => Some(first),
                None => {
                    let problem = format!("it remembers that module {first} of {modules} was drawn");
                    return Err(StrategyError::Foreign { trial: view.trials.len(), problem });
                }
            },
        };
        self.course.accept(view, proposal)?;
        if proposal.memo.contains_key(RESUMED) {
            self.course.pass();
        }
        self.explanation = explanation;
        if let Some(first) = drawn {
            let wiring = start::wiring(view.space, self.options.start == AutoStart::Nested);
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
    Ok(pace::pays_for(view, cost))
}

/// Whether a point was never asked for.
fn untried(view: &View<'_>, candidate: &Candidate<'_>) -> Result<bool, StrategyError> {
    let point = candidate.place.point(view)?;
    Ok(!view.trials.iter().any(|trial| *trial.point() == point))
}
