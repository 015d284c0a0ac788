//! Who takes part: every name of the catalogue, LaMBO under options that change its course, and the paper's baselines.

use stagetune::acquisition::Beta;
use stagetune::space::{Cost, Space};
use stagetune::strategy::lambo::{Alpha, Anchors, Depths, FirstPartition, LossScale, Theory};
use stagetune::strategy::{
    CaMobo, CaMoboOptions, Carbo, CarboOptions, Design, Eipu, EipuOptions, GpEi, GpEiOptions, GpMes,
    GpMesOptions, Lambo, LamboOptions, NAMES, Strategy, by_name,
};
use stagetune::study::Study;

/// A strategy with a short starting design, so that short runs reach its model.
pub fn make(name: &str, space: &Space, seed: u64) -> Box<dyn Strategy> {
    let paper = || LamboOptions { design: Design::Uniform(4), ..LamboOptions::paper() };
    let options = match name {
        "lambo, short" => LamboOptions { design: Design::Sobol(4), ..LamboOptions::default() },
        "lambo-paper, short" => paper(),
        "lambo-paper, nested start" => {
            LamboOptions { design: Design::Nested { points: 6, every: 2 }, ..LamboOptions::paper() }
        }
        "lambo-paper, clipped" => LamboOptions {
            losses: LossScale::Clip { low: 0.0, high: 1.0 },
            alpha: Alpha::Lcb(Beta::Sqrt),
            ..paper()
        },
        "lambo-paper, raw EI" => LamboOptions { losses: LossScale::Raw, alpha: Alpha::Ei, ..paper() },
        "lambo-paper, MES" => LamboOptions { alpha: Alpha::Mes { samples: 4 }, ..paper() },
        "lambo-paper, Gittins" => LamboOptions { alpha: Alpha::Gittins(0.01), ..paper() },
        "lambo, EI per cost" => LamboOptions {
            design: Design::Sobol(4),
            alpha: Alpha::EiPerCost,
            anchors: Anchors::Prefixes,
            ..LamboOptions::default()
        },
        "lambo, Gittins per cost" => LamboOptions {
            design: Design::Sobol(4),
            alpha: Alpha::GittinsPerCost { lambda: 0.1, decay: 0.5 },
            anchors: Anchors::Prefixes,
            losses: LossScale::Gap,
            abandon: None,
            ..LamboOptions::default()
        },
        "lambo-paper, Gittins per cost" => {
            LamboOptions { alpha: Alpha::GittinsPerCost { lambda: 0.1, decay: 0.5 }, ..paper() }
        }
        "lambo-paper, fine and deep" => LamboOptions {
            partition: FirstPartition::Diameter(0.6),
            depths: Depths::FromCosts,
            max_arms: 16,
            ..paper()
        },
        "lambo-paper, theory" => {
            LamboOptions { theory: Some(Theory { horizon: 200, lipschitz: None }), max_arms: 16, ..paper() }
        }
        _ => return make_baseline(name, space, seed),
    };
    Box::new(Lambo::new(space, options, seed).unwrap())
}

/// The paper's versions of its baselines; everybody else by name.
fn make_baseline(name: &str, space: &Space, seed: u64) -> Box<dyn Strategy> {
    let design = Design::Uniform(4);
    match name {
        "gp-ei, paper" => {
            Box::new(GpEi::new(space, GpEiOptions { design, ..GpEiOptions::paper() }, seed).unwrap())
        }
        "mes, paper" => {
            let options = GpMesOptions { design, points: 200, ..GpMesOptions::paper() };
            Box::new(GpMes::new(space, options, seed).unwrap())
        }
        "eipu, paper" => {
            Box::new(Eipu::new(space, EipuOptions { design, ..EipuOptions::paper() }, seed).unwrap())
        }
        "carbo, paper" => {
            Box::new(Carbo::new(space, CarboOptions { points: 4, ..CarboOptions::paper() }, seed).unwrap())
        }
        "ca-mobo, paper" => {
            Box::new(CaMobo::new(space, CaMoboOptions { design, ..CaMoboOptions::paper() }, seed).unwrap())
        }
        _ => by_name(name, space, seed).unwrap(),
    }
}

/// Every contestant's name.
pub fn all() -> impl Iterator<Item = &'static str> {
    let variants = [
        "lambo, short",
        "lambo-paper, short",
        "lambo-paper, nested start",
        "lambo-paper, clipped",
        "lambo-paper, raw EI",
        "lambo-paper, MES",
        "lambo-paper, Gittins",
        "lambo, EI per cost",
        "lambo, Gittins per cost",
        "lambo-paper, Gittins per cost",
        "lambo-paper, fine and deep",
        "lambo-paper, theory",
        "gp-ei, paper",
        "mes, paper",
        "eipu, paper",
        "carbo, paper",
        "ca-mobo, paper",
    ];
    NAMES.into_iter().chain(variants)
}

/// Spaces whose modules are measured, and how they would be.
pub fn measured(space: &Space) -> Space {
    let modules = space.modules().iter().map(|module| module.clone().cost(Cost::Measured).unwrap());
    Space::new(modules).unwrap()
}

/// A study of a contestant.
pub fn study(name: &str, space: &Space, seed: u64) -> Study {
    Study::new(space.clone(), make(name, space, seed))
}
