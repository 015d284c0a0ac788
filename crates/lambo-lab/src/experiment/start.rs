//! The same start for every strategy: the plan's points first, whatever a strategy would have begun with.

use anyhow::Result;
use lambo::space::Space;
use lambo::strategy::{
    Design, GpUcb, GpUcbOptions, Lambo, LamboOptions, Proposal, Source, Strategy, StrategyError, View, Why,
    by_name,
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
        let movement = view.movement(&point)?;
        let module = movement.first_changed.and_then(|m| view.space.modules().get(m));
        let why = Why {
            source: Source::Design,
            first_changed: movement.first_changed,
            first_changed_module: module.map(|module| module.name().to_string()),
            expected_cost: view.expected_cost(&movement),
            belief: None,
            arm: None,
        };
        Ok(Proposal { point, why, hyper: None })
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.inner.accept(view, proposal)
    }
}
