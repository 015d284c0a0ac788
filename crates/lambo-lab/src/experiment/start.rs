//! The same start for every strategy: the plan's points first, whatever a strategy would have begun with.

use anyhow::Result;
use lambo::acquisition::Beta;
use lambo::space::Space;
use lambo::strategy::{
    CaMobo, CaMoboOptions, Carbo, CarboOptions, Design, Eeipu, EeipuOptions, Eipu, EipuOptions, EipuPrefix,
    EipuPrefixOptions, GpEi, GpEiOptions, GpMes, GpMesOptions, GpUcb, GpUcbOptions, Lambo, LamboOptions,
    ModelOptions, Pbgi, PbgiOptions, Proposal, Source, Strategy, StrategyError, SwitchEipu,
    SwitchEipuOptions, Thompson, ThompsonOptions, View, Why, by_name,
};

/// A strategy that is given its first points.
#[derive(Debug)]
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
/// `gp-ucb` with the model and the confidence bound of `lambo`.
pub fn build(name: &str, space: &Space, start: Start, seed: u64) -> Result<Box<dyn Strategy>> {
    let Start::Design(design) = start else { return version(name, space, None, seed) };
    let inner = version(name, space, Some(design), seed)?;
    Ok(before(design, seed, inner))
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
    let modern_ucb =
        || GpUcbOptions { model: ModelOptions::modern(), beta: Beta::Sqrt, ..GpUcbOptions::default() };
    Ok(match name {
        "gp-ucb" => with!(GpUcb, GpUcbOptions::default()),
        "gp-ucb-modern" => with!(GpUcb, modern_ucb()),
        "gp-ei" => with!(GpEi, GpEiOptions::default()),
        "gp-ei-paper" => with!(GpEi, GpEiOptions::paper()),
        "mes" => with!(GpMes, GpMesOptions::default()),
        "mes-paper" => with!(GpMes, GpMesOptions::paper()),
        "eipu" => with!(Eipu, EipuOptions::default()),
        "eipu-paper" => with!(Eipu, EipuOptions::paper()),
        "eipu-prefix" => with!(EipuPrefix, EipuPrefixOptions::default()),
        "carbo-paper" => Box::new(Carbo::new(space, CarboOptions::paper(), seed)?),
        "ca-mobo" => with!(CaMobo, CaMoboOptions::default()),
        "ca-mobo-paper" => with!(CaMobo, CaMoboOptions::paper()),
        "eeipu" => with!(Eeipu, EeipuOptions::default()),
        "switch-eipu" => with!(SwitchEipu, SwitchEipuOptions::default()),
        "switch-eipu-ahead" => with!(SwitchEipu, SwitchEipuOptions::ahead()),
        "pbgi" => with!(Pbgi, PbgiOptions::default()),
        "pbgi-fixed" => with!(Pbgi, PbgiOptions::fixed()),
        "ts" => with!(Thompson, ThompsonOptions::default()),
        "lambo" => with!(Lambo, LamboOptions::default()),
        "lambo-paper" => with!(Lambo, LamboOptions::paper()),
        name => by_name(name, space, seed)?,
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

    fn settings(&self) -> String {
        format!("{} after {}", self.inner.settings(), describe(self.design))
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.inner.accept(view, proposal)
    }
}
