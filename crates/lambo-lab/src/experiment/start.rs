//! The same start for every strategy: the plan's points first, whatever a strategy would have begun with.

use anyhow::Result;
use lambo::space::Space;
use lambo::strategy::{
    CaMobo, CaMoboOptions, Design, Eeipu, EeipuOptions, Eipu, EipuOptions, EipuPrefix, EipuPrefixOptions,
    GpEi, GpEiOptions, GpMes, GpMesOptions, GpUcb, GpUcbOptions, Lambo, LamboOptions, Pbgi, PbgiOptions,
    Proposal, Source, Strategy, StrategyError, SwitchEipu, SwitchEipuOptions, Thompson, ThompsonOptions,
    View, Why, by_name,
};

/// A strategy that is given its first points.
#[derive(Debug)]
pub struct Started {
    design: Design,
    seed: u64,
    inner: Box<dyn Strategy>,
}

/// A strategy by name that starts with the points of a design.
pub fn build(name: &str, space: &Space, design: Design, seed: u64) -> Result<Box<dyn Strategy>> {
    // Strategies with a design of their own length would add points to ours where it is shorter.
    let inner: Box<dyn Strategy> = match name {
        "gp-ucb" => Box::new(GpUcb::new(space, GpUcbOptions { design, ..GpUcbOptions::default() }, seed)?),
        "gp-ei" => Box::new(GpEi::new(space, GpEiOptions { design, ..GpEiOptions::default() }, seed)?),
        "mes" => Box::new(GpMes::new(space, GpMesOptions { design, ..GpMesOptions::default() }, seed)?),
        "eipu" => Box::new(Eipu::new(space, EipuOptions { design, ..EipuOptions::default() }, seed)?),
        "eipu-prefix" => Box::new(EipuPrefix::new(
            space,
            EipuPrefixOptions { design, ..EipuPrefixOptions::default() },
            seed,
        )?),
        "ca-mobo" => {
            Box::new(CaMobo::new(space, CaMoboOptions { design, ..CaMoboOptions::default() }, seed)?)
        }
        "eeipu" => Box::new(Eeipu::new(space, EeipuOptions { design, ..EeipuOptions::default() }, seed)?),
        "switch-eipu" => Box::new(SwitchEipu::new(
            space,
            SwitchEipuOptions { design, ..SwitchEipuOptions::default() },
            seed,
        )?),
        "switch-eipu-ahead" => Box::new(SwitchEipu::new(
            space,
            SwitchEipuOptions { design, ..SwitchEipuOptions::ahead() },
            seed,
        )?),
        "pbgi" => Box::new(Pbgi::new(space, PbgiOptions { design, ..PbgiOptions::default() }, seed)?),
        "pbgi-fixed" => Box::new(Pbgi::new(space, PbgiOptions { design, ..PbgiOptions::fixed() }, seed)?),
        "ts" => {
            Box::new(Thompson::new(space, ThompsonOptions { design, ..ThompsonOptions::default() }, seed)?)
        }
        "lambo" => Box::new(Lambo::new(space, LamboOptions { design, ..LamboOptions::default() }, seed)?),
        "lambo-paper" => Box::new(Lambo::new(space, LamboOptions { design, ..LamboOptions::paper() }, seed)?),
        name => by_name(name, space, seed)?,
    };
    Ok(Box::new(Started { design, seed, inner }))
}

/// A design in one word, such as `uniform-15` or `nested-15-every-3`.
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
