//! The same start for every strategy: the plan's points first, whatever a strategy would have begun with.

use anyhow::Result;
use serde_json::Map;
use stagetune::acquisition::{Beta, Maximiser};
use stagetune::space::{CostModel, RunHistory, Space};
use stagetune::strategy::lambo::Alpha;
use stagetune::strategy::{
    self, Auto, AutoOptions, AutoStart, CaMobo, CaMoboOptions, Carbo, CarboOptions, Design, Eipu,
    EipuOptions, EipuPrefix, EipuPrefixOptions, GpEi, GpEiOptions, GpMes, GpMesOptions, GpUcb, GpUcbOptions,
    Identity, Lambo, LamboOptions, ModelOptions, Past, Proposal, Source, Strategy, StrategyError, View, Why,
    configured,
};
use stagetune::surrogate::Family;

/// A strategy that is given its first points.
#[derive(Clone, Debug)]
pub struct Started {
    design: Design,
    seed: u64,
    inner: Box<dyn Strategy>,
}

/// What stands before a strategy's own proposals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// The points of a design.
    Design(Design),
    /// Nothing: the strategy begins as it would anywhere.
    Own,
}

/// A strategy by name that starts with the points of a design, or in its own way.
///
/// Beside the names of the engine there are versions for figures: `…-paper` are the baselines as the paper on LaMBO had them, `gp-ucb-modern` is
/// `gp-ucb` with today's model and the root of β, `eipu-prefix-careful` is `eipu-prefix` with a fit at every trial and as hard a search as `gp-ei`.
/// `lambo-lcb`, `lambo-ei`, `lambo-rescaled`, `lambo-one-anchor`, `lambo-abandon` and `lambo-small-start` are `lambo` with one ingredient put back or exchanged.
/// `gp-ei-matern` and `gp-ei-se` have one kernel each, `gp-ei-paper-ard` the paper's with a lengthscale for each coordinate.
pub fn build(name: &str, space: &Space, start: Start, seed: u64, budget: f64) -> Result<Box<dyn Strategy>> {
    let Start::Design(design) = start else { return version(name, space, None, seed) };
    if name == "auto" || name.starts_with("auto-") {
        // Its start is part of it.
        return version(name, space, None, seed);
    }
    let inner: Box<dyn Strategy> = match name {
        // Its design goes on until a share of the budget is spent: not beyond what the given points cost.
        "carbo" | "carbo-paper" => {
            let mut options = if name == "carbo" { CarboOptions::default() } else { CarboOptions::paper() };
            if let Some(cost) = cost_of(space, design, seed)? {
                options.initial_share = options.initial_share.min((1.0 - 1e-9) * cost / budget);
            }
            Box::new(Carbo::new(space, options, seed)?)
        }
        name => version(name, space, Some(design), seed)?,
    };
    Ok(before(design, seed, inner))
}

/// What the points of a design cost one after the other, if costs are given.
fn cost_of(space: &Space, design: Design, seed: u64) -> Result<Option<f64>> {
    // Costs that must be learnt are not known before.
    let Ok(costs) = space.given_costs() else { return Ok(None) };
    let (mut history, mut cost) = (RunHistory::new(), 0.0);
    for index in 0..design.len() {
        let point = design.point(space, seed, index)?;
        cost += history.movement(space, CostModel::Previous, &point)?.cost(&costs)?;
        history.record(space, &point)?;
    }
    Ok(Some(cost))
}

/// A strategy after the points of a design.
pub fn before(design: Design, seed: u64, inner: Box<dyn Strategy>) -> Box<dyn Strategy> {
    Box::new(Started { design, seed, inner })
}

fn version(name: &str, space: &Space, design: Option<Design>, seed: u64) -> Result<Box<dyn Strategy>> {
    // Strategies with a design of their own length would add points to ours where it is shorter.
    macro_rules! with {
        ($strategy:ident, $options:expr) => {{
            let mut options = $options;
            options.design = design.unwrap_or(options.design);
            Box::new($strategy::new(space, options, seed)?)
        }};
    }
    let careful = || EipuPrefixOptions {
        model: ModelOptions { refit_share: 0.0, ..ModelOptions::modern() },
        effort: Maximiser::default(),
        ..EipuPrefixOptions::default()
    };
    let ard = || ModelOptions { shared_lengthscale: false, ..ModelOptions::paper() };
    let smooth = || ModelOptions { family: Family::SquaredExponential, ..ModelOptions::modern() };
    let modern_ucb =
        || GpUcbOptions { model: ModelOptions::modern(), beta: Beta::Sqrt, ..GpUcbOptions::default() };
    if let Some(options) = ablated(name) {
        return Ok(with!(Lambo, options));
    }
    Ok(match name {
        "gp-ucb-modern" => with!(GpUcb, modern_ucb()),
        "gp-ei-paper" => with!(GpEi, GpEiOptions::paper()),
        "gp-ei-paper-ard" => with!(GpEi, GpEiOptions { model: ard(), ..GpEiOptions::paper() }),
        "gp-ei-matern" => with!(GpEi, GpEiOptions { other_kernel: None, ..GpEiOptions::default() }),
        "gp-ei-se" => {
            with!(GpEi, GpEiOptions { model: smooth(), other_kernel: None, ..GpEiOptions::default() })
        }
        "mes-paper" => with!(GpMes, GpMesOptions::paper()),
        "eipu-paper" => with!(Eipu, EipuOptions::paper()),
        "eipu-prefix-careful" => with!(EipuPrefix, careful()),
        "carbo-paper" => Box::new(Carbo::new(space, CarboOptions::paper(), seed)?),
        "ca-mobo-paper" => with!(CaMobo, CaMoboOptions::paper()),
        name if name.starts_with("auto-") => Box::new(Auto::new(space, auto_without(name)?, seed)?),
        name => by_catalogue(name, space, design, seed)?,
    })
}

/// A strategy of the catalogue; one that has a starting design takes the given one.
fn by_catalogue(name: &str, space: &Space, design: Option<Design>, seed: u64) -> Result<Box<dyn Strategy>> {
    let has_design = strategy::describe(name)?.options.iter().any(|option| option.name == "design");
    let mut options = Map::new();
    if let Some(design) = design.filter(|_| has_design) {
        options.insert("design".to_owned(), serde_json::to_value(design)?);
    }
    Ok(configured(name, space, &options, seed)?)
}

/// `auto` with one ingredient taken out, or with one that did not pay.
fn auto_without(name: &str) -> Result<AutoOptions> {
    let auto = AutoOptions::default();
    Ok(match name {
        "auto-spread" => AutoOptions { start: AutoStart::Spread, ..auto },
        "auto-unfrozen" => AutoOptions { freeze: false, ..auto },
        "auto-costless" => AutoOptions { exponent: 0.0, ..auto },
        "auto-heedless" => AutoOptions { trial_overhead: false, ..auto },
        "auto-luckless" => AutoOptions { feasibility: false, ..auto },
        "auto-settled" => AutoOptions { prefixes: 1, ..auto },
        "auto-restless" => AutoOptions { known_margin: 0.0, ..auto },
        "auto-stepless" => AutoOptions { quantisation: false, ..auto },
        "auto-petty" => AutoOptions { least_share: 0.01, ..auto },
        "auto-matern" => AutoOptions { kernels: Vec::new(), ..auto },
        "auto-whole" => AutoOptions { kernels: vec![Family::RoughMatern52], ..auto },
        "auto-sleek" => AutoOptions { kernels: vec![Family::AdditiveMatern52], ..auto },
        "auto-bent" => AutoOptions { warping: true, ..auto },
        "auto-smooth" => AutoOptions { kernels: vec![Family::SquaredExponential], ..auto },
        "auto-strangers" => AutoOptions { lengthscale_spread: None, ..auto },
        name => anyhow::bail!("there is no strategy `{name}`"),
    })
}

/// `lambo` with one ingredient put back or exchanged.
fn ablated(name: &str) -> Option<LamboOptions> {
    let (default, paper) = (LamboOptions::default(), LamboOptions::paper());
    Some(match name {
        // A bound that does not know costs has one anchor.
        "lambo-lcb" => LamboOptions { alpha: Alpha::Lcb(Beta::Sqrt), ..default },
        "lambo-ei" => LamboOptions { alpha: Alpha::EiPerCost, ..default },
        "lambo-rescaled" => LamboOptions { losses: paper.losses, ..default },
        "lambo-one-anchor" => LamboOptions { anchors: paper.anchors, ..default },
        "lambo-abandon" => LamboOptions { abandon: paper.abandon, ..default },
        "lambo-small-start" => LamboOptions { design: Design::Nested { points: 8, every: 4 }, ..default },
        _ => return None,
    })
}

impl Start {
    /// In one word, such as `uniform-15`, `nested-15-every-3` or `own`.
    pub fn describe(self) -> String {
        match self {
            Self::Design(design) => describe(design),
            Self::Own => "own".to_owned(),
        }
    }
}

/// A design in one word.
pub fn describe(design: Design) -> String {
    match design {
        Design::Uniform(points) => format!("uniform-{points}"),
        Design::Sobol(points) => format!("sobol-{points}"),
        Design::Nested { points, every } => format!("nested-{points}-every-{every}"),
    }
}

impl Strategy for Started {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let index = view.trials.len();
        if index >= self.design.len() {
            return self.inner.propose(view);
        }
        let point = self.design.point(view.space, self.seed, index)?;
        let why = Why::of(view, &point, Source::Design)?;
        Ok(Proposal::new(point, why))
    }

    fn identity(&self) -> Identity {
        let mut identity = self.inner.identity();
        identity.options.insert("after".to_owned(), describe(self.design).into());
        identity
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.inner.accept(past, proposal)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
