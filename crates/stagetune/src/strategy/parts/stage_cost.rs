//! What a run of each stage costs at a point: given, or learnt from the runs that were measured.
//!
//! ```text
//! ln c_m(x) ~ GP over x_m, the stage's own variables alone          (the cost model of EEIPU, arXiv 2411.03731)
//! ```
//!
//! A stage whose cost is given costs that everywhere. So does one that was measured fewer than [`LEAST_RUNS`] times or has no variables: its
//! mean. A stage that nobody measured yet counts as much as the mean of the others, and 1 where nothing is known of any.

use std::ops::Range;

use super::stream::{Purpose, seed_of};
use super::wide;
use crate::space::{Batch, Cost, Space, StageSet};
use crate::strategy::{StrategyError, View};
use crate::surrogate::{Family, Fit, GaussianProcess, OutputScale, SurrogateError};
use crate::trial::Trial;

/// Runs of a stage from which on its costs are modelled; of fewer the mean says as much.
pub(crate) const LEAST_RUNS: usize = 5;

/// The latest runs that are modelled: enough for the few variables of a stage, and quick to fit at every iteration.
const MOST_RUNS: usize = 200;

/// A measured cost counts as at least this share of the stage's largest: the logarithm of zero is no number.
const LEAST_COST_SHARE: f64 = 1e-6;

/// Logarithms of costs stay within this, so that sums of costs stay finite.
const MOST_LOG: f64 = 600.0;

/// The costs of all stages.
#[derive(Clone, Debug)]
pub(crate) struct StageCosts {
    stages: Vec<Stage>,
    full: f64,
}

#[derive(Clone, Debug)]
enum Stage {
    Fixed(f64),
    Learned(Box<Learned>),
}

/// ln c over a stage's own coordinates.
#[derive(Clone, Debug)]
struct Learned {
    gp: GaussianProcess,
    scale: OutputScale,
    own: Range<usize>,
}

/// ln c of one stage at each point of a batch; gradients are in the stage's own coordinates.
pub(crate) struct LogCosts {
    pub(crate) mean: Vec<f64>,
    pub(crate) sd: Vec<f64>,
    pub(crate) d_mean: Batch,
    pub(crate) d_sd: Batch,
    pub(crate) own: Range<usize>,
}

/// Refuses a space where the cost of a module is unknown.
pub(crate) fn need_costs(space: &Space, strategy: &str) -> Result<(), StrategyError> {
    match space.modules().iter().find(|module| module.cost_kind() == Cost::Unknown) {
        None => Ok(()),
        Some(module) => {
            let problem = format!(
                "`{strategy}` weighs costs, but that of module `{}` is unknown; give it one, have it measured, or use \
                 `gp-ei`",
                module.name()
            );
            Err(StrategyError::Option { option: "cost", problem })
        }
    }
}

impl StageCosts {
    /// What is known at iteration `t`.
    pub(crate) fn of(view: &View<'_>, seed: u64, t: usize) -> Result<Self, StrategyError> {
        let learned = learned(view);
        let mut known: Vec<Option<(Stage, f64)>> = Vec::new();
        for (m, module) in view.space.modules().iter().enumerate() {
            known.push(match module.cost_kind() {
                Cost::Given(cost) => Some((Stage::Fixed(cost), cost)),
                Cost::Measured => {
                    let most = learned.as_ref().map_or(MOST_RUNS, |learned| {
                        if learned.contains(m) { wide::LEARNED_RUNS } else { 0 }
                    });
                    measured(view, m, most, seed_of(seed, Purpose::Costs, (t * 1_009 + m) as u64))?
                }
                Cost::Unknown => None,
            });
        }
        let typical: Vec<f64> = known.iter().flatten().map(|(_, typical)| *typical).collect();
        let count = typical.len() as f64;
        let mean = if typical.is_empty() { 1.0 } else { typical.iter().map(|c| c / count).sum() };
        let full = known.iter().map(|stage| stage.as_ref().map_or(mean, |(_, typical)| *typical)).sum();
        let stages = known.into_iter().map(|stage| stage.map_or(Stage::Fixed(mean), |(stage, _)| stage));
        Ok(Self { stages: stages.collect(), full })
    }

    /// How many stages there are.
    pub(crate) fn len(&self) -> usize {
        self.stages.len()
    }

    /// What a run of every stage typically costs; 0 if all are free.
    pub(crate) fn full(&self) -> f64 {
        self.full
    }

    /// The cost of stage `m` if it is the same everywhere.
    pub(crate) fn fixed(&self, m: usize) -> Option<f64> {
        if let Some(Stage::Fixed(cost)) = self.stages.get(m) { Some(*cost) } else { None }
    }

    /// ln c of stage `m`, if it was learnt, with gradients on demand.
    pub(crate) fn logs(
        &self,
        m: usize,
        at: &Batch,
        gradients: bool,
    ) -> Result<Option<LogCosts>, SurrogateError> {
        let Some(Stage::Learned(learned)) = self.stages.get(m) else { return Ok(None) };
        let Learned { gp, scale, own } = &**learned;
        let mut x = Batch::new(own.len());
        for row in at.rows() {
            let _ = x.push(row.get(own.clone()).unwrap_or_default());
        }
        let (mean, variance, mut d_mean, mut d_sd) = if gradients {
            let p = gp.predict_with_gradient(&x)?;
            (p.mean, p.variance, p.d_mean, p.d_variance)
        } else {
            let p = gp.predict(&x)?;
            (p.mean, p.variance, Batch::new(own.len()), Batch::new(own.len()))
        };
        let sd: Vec<f64> = variance.iter().map(|v| scale.scale * v.sqrt()).collect();
        d_mean.as_mut_slice().iter_mut().for_each(|d| *d *= scale.scale);
        for i in 0..d_sd.len() {
            // ∂sd/∂x = ∂variance/∂x / (2 sd), in the logarithm's own units.
            let factor = scale.scale * scale.scale / (2.0 * sd[i]);
            d_sd.row_mut(i).iter_mut().for_each(|d| *d *= factor);
        }
        let mean = mean.iter().map(|mean| scale.restore(*mean).clamp(-MOST_LOG, MOST_LOG)).collect();
        Ok(Some(LogCosts { mean, sd, d_mean, d_sd, own: own.clone() }))
    }
}

/// In a wide space the few stages whose costs vary most, which are learnt; `None` where all are.
fn learned(view: &View<'_>) -> Option<StageSet> {
    let stages = view.space.modules().iter().filter(|module| module.cost_kind() == Cost::Measured).count();
    if stages <= wide::LEARNED || !wide::is_wide(view.space) {
        return None;
    }
    let variance = |m: usize| -> f64 {
        let costs: Vec<f64> = view.trials.iter().filter_map(|trial| whole_run(trial, m)).collect();
        let count = costs.len().max(1) as f64;
        let mean: f64 = costs.iter().map(|cost| cost / count).sum();
        costs.iter().map(|cost| (cost - mean).powi(2) / count).sum()
    };
    let mut order: Vec<(f64, usize)> = (0..view.space.modules().len()).map(|m| (variance(m), m)).collect();
    // A stable sort: among equals the earlier stage stays first.
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    Some(order.into_iter().take(wide::LEARNED).map(|(_, m)| m).collect())
}

/// Stage `m` and its mean cost, learnt from so many runs at most; `None` if it was never measured.
fn measured(
    view: &View<'_>,
    m: usize,
    most: usize,
    seed: u64,
) -> Result<Option<(Stage, f64)>, StrategyError> {
    let mut runs: Vec<(&Trial, f64)> =
        view.trials.iter().filter_map(|t| Some((t, whole_run(t, m)?))).collect();
    if runs.is_empty() {
        return Ok(None);
    }
    let count = runs.len() as f64;
    let mean: f64 = runs.iter().map(|(_, cost)| cost / count).sum();
    let own = view.space.module_coordinates(m);
    if runs.len().min(most) < LEAST_RUNS || own.is_empty() || mean == 0.0 {
        return Ok(Some((Stage::Fixed(mean), mean)));
    }
    runs.drain(..runs.len().saturating_sub(most));
    let least = LEAST_COST_SHARE * runs.iter().fold(0.0_f64, |most, (_, cost)| most.max(*cost));
    let (mut x, mut y) = (Batch::new(own.len()), Vec::with_capacity(runs.len()));
    for (trial, cost) in &runs {
        let u = view.space.encode(trial.point())?;
        let _ = x.push(u.get(own.clone()).unwrap_or_default());
        // The smallest normal number keeps the logarithm finite where all that was measured is tinier still.
        y.push(cost.max(least).max(f64::MIN_POSITIVE).ln());
    }
    let scale = OutputScale::of(&y);
    let categories = view.space.categories().get(own.clone()).unwrap_or_default().to_vec();
    let fit = Fit { seed, categories, ..Fit::with_priors(Family::Matern52, own.len()) };
    let stage = match fit.run(&x, &scale.standardise_all(&y)) {
        Ok(fitted) => Stage::Learned(Box::new(Learned { gp: fitted.gp, scale, own })),
        // The mean is a model, too.
        Err(_) => Stage::Fixed(mean),
    };
    Ok(Some((stage, mean)))
}

/// What stage `m` cost in a trial, if it was measured and came to its end.
fn whole_run(trial: &Trial, m: usize) -> Option<f64> {
    let stages = match trial {
        Trial::Observed(trial) => trial.stages(),
        Trial::Failed(trial) if m < trial.finished() => trial.stages(),
        Trial::Failed(_) | Trial::Proposed(_) | Trial::SetAside(_) => return None,
    };
    stages.get(m).copied().flatten()
}
