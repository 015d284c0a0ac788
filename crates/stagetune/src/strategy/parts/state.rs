//! What strategies with a model share: the start, the count of iterations, the hyper-parameters, and how a place becomes a proposal.

use super::explain::{self, COMPARED};
use super::fresh::settle;
use super::model::{Explanation, Model, check_hyper, hyper_over};
use super::stream::{Purpose, seed_of};
use crate::acquisition::{Maximiser, Objective, Region};
use crate::space::{Point, SpaceError, StageSet};
use crate::strategy::{Design, ModelOptions, Past, Proposal, Source, StrategyError, View, Why};
use crate::surrogate::{Family, Hyper};

/// How far a strategy has come.
#[derive(Clone, Debug)]
pub(crate) struct StrategyState {
    seed: u64,
    /// Proposals of the model so far.
    iterations: usize,
    hyper: Option<Hyper>,
}

/// Where a maximiser ended.
pub(crate) struct Place<'a> {
    /// Where it looked.
    pub(crate) region: Region<'a>,
    /// The point some of whose modules stay bit for bit, and these modules.
    pub(crate) kept: Option<(&'a Point, &'a StageSet)>,
    /// What it found, in the unit cube.
    pub(crate) x: Vec<f64>,
}

impl Place<'_> {
    /// The point that was found.
    pub(crate) fn point(&self, view: &View<'_>) -> Result<Point, SpaceError> {
        match self.kept {
            Some((kept, keeps)) => view.space.decode_keeping(kept, keeps, &self.x),
            None => view.space.decode(&self.x),
        }
    }
}

/// Refuses a design or a model that makes no sense.
pub(crate) fn check(design: Design, model: &ModelOptions) -> Result<(), StrategyError> {
    design.check().map_err(|e| StrategyError::Option { option: "design", problem: e.to_string() })?;
    model.check()
}

impl StrategyState {
    /// At the beginning.
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, iterations: 0, hyper: None }
    }

    /// The seed of all randomness.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of the next iteration of the model, from 1.
    pub(crate) fn t(&self) -> usize {
        self.iterations + 1
    }

    /// The model, once the starting design is over and a trial has returned a value.
    pub(crate) fn model(
        &self,
        view: &View<'_>,
        design: Design,
        options: &ModelOptions,
    ) -> Result<Option<Model>, StrategyError> {
        if view.trials.len() < design.len() {
            return Ok(None);
        }
        Model::build(options, view, self.t(), self.hyper.as_ref(), self.seed)
    }

    /// The same with the likelier of two families, which is chosen anew at every fit; `last` is the one that was chosen before.
    pub(crate) fn likelier_model(
        &self,
        view: &View<'_>,
        design: Design,
        options: &ModelOptions,
        families: [Family; 2],
        last: Option<Family>,
    ) -> Result<Option<(Model, Family)>, StrategyError> {
        let with = |family| {
            let model = self.model(view, design, &ModelOptions { family, ..options.clone() });
            Ok(model?.map(|model| (model, family)))
        };
        if let Some(last) = last.filter(|_| !options.is_due(self.t())) {
            return with(last);
        }
        let [first, second] = families;
        let (first, second) = (with(first)?, with(second)?);
        let density = |model: &Option<(Model, Family)>| model.as_ref().and_then(|(model, _)| model.density);
        Ok(if density(&second) > density(&first) { second } else { first })
    }

    /// The model with the likeliest of several explanations, and its number; the first one unless another is clearly likelier. They are compared at fits that are ever further apart, and beyond [`COMPARED`]
    /// trials the last one stays; `last` is the number of the one that was chosen before.
    pub(crate) fn likeliest(
        &self,
        view: &View<'_>,
        options: &ModelOptions,
        explanations: &[Explanation],
        last: Option<usize>,
    ) -> Result<Option<(Model, usize)>, StrategyError> {
        let with = |number: usize| {
            let Some(&explanation) = explanations.get(number) else { return Ok(None) };
            // Hyper-parameters of another explanation are no start for this one.
            let hyper = self.hyper.as_ref().filter(|_| last == Some(number));
            Model::explain(options, explanation, view, self.t(), hyper, self.seed)
        };
        let settled = |_: &usize| !options.compares(self.t()) || view.trials.len() > COMPARED;
        match last.filter(settled) {
            Some(last) => Ok(with(last)?.map(|model| (model, last))),
            None => explain::likeliest(explanations.len(), with),
        }
    }

    /// The next point of the starting design.
    pub(crate) fn start(&self, view: &View<'_>, design: Design) -> Result<Proposal, StrategyError> {
        let point = design.next(view, self.seed)?;
        let why = Why::of(view, &point, Source::Design)?;
        Ok(Proposal::new(point, why))
    }

    /// A maximiser with the dice of this iteration.
    pub(crate) fn effort(&self, effort: &Maximiser) -> Maximiser {
        Maximiser { seed: seed_of(self.seed, Purpose::Maximise, self.t() as u64), ..effort.clone() }
    }

    /// The best place of the whole space.
    pub(crate) fn anywhere(
        &self,
        view: &View<'_>,
        model: &Model,
        objective: &dyn Objective,
        effort: &Maximiser,
    ) -> Result<Proposal, StrategyError> {
        let region = Region::of(view.space).beside(&view.told()?);
        let x = self.effort(effort).maximise(objective, &region, &model.hints())?.x;
        self.propose(view, model, objective, &Place { region, kept: None, x })
    }

    /// A place as a proposal, moved by chance if it is being tried already.
    pub(crate) fn propose(
        &self,
        view: &View<'_>,
        model: &Model,
        objective: &dyn Objective,
        place: &Place<'_>,
    ) -> Result<Proposal, StrategyError> {
        let (point, source) = settle(view, self.seed, &place.region, place.kept, &place.x)?;
        let mut why = Why::of(view, &point, source)?;
        why.belief = Some(model.belief_under(&view.space.encode(&point)?, objective)?);
        Ok(Proposal::new(point, why).with_hyper(model.refitted.clone()))
    }

    /// Counts an iteration whose proposal was not the model's.
    pub(crate) fn pass(&mut self) {
        self.iterations += 1;
    }

    /// Takes note of a proposal that became a trial.
    pub(crate) fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        check_hyper(past.trials(), proposal, past.space())?;
        if proposal.why.source.is_model() {
            self.iterations += 1;
        }
        if let Some(hyper) = &proposal.hyper {
            self.hyper = Some(hyper_over(past.space(), hyper));
        }
        Ok(())
    }
}
