//! The slowly moving bandit: exponential weights whose moves are rarer the farther they go (Koren, Livni & Mansour, COLT 2017).
//!
//! ```text
//! i_t ~ p_t( · | A_{h_{t−1}}(i_{t−1}) ),  h_0 = H
//! σ_0 … σ_{H−1} = ±1 by fair coins, σ_H = −1;  h_t = min{ h : σ_h = −1 }
//! ℓ̄_0 = the losses of this step
//! ℓ̄_h(i) = −(1/η) ln Σ_{j ∈ A_h(i)} p_t(j)/p_t(A_h(i)) · exp(−η (1 + σ_{h−1}) ℓ̄_{h−1}(j)),  h = 1 … H−1
//! ℓ̃ = ℓ̄_0 + Σ_{h<H} σ_h ℓ̄_h
//! p_{t+1}(i) ∝ p_t(i) exp(−η ℓ̃(i))
//! ```
//!
//! ℓ̄_h is the same all over a subtree of level h, and 0 from the level after the first σ = −1 on. So the recursion stops there,
//! and each level sums one number for each subtree below: at most |K| of them. Probabilities are logarithms throughout: they fall
//! below the smallest double within hundreds of steps. The update keeps the mass of every subtree of level h_t < H,
//! which is why drawing within A_{h_t} keeps the arm distributed as p.
//!
//! An arm of probability 0 stays at 0. In a subtree without mass p_t(j)/p_t(A) is undefined; the uniform law takes its place, so that ℓ̃ is finite.
//!
//! Glossary: K the arms, p `log_p` (ln), η `eta`, σ `sigma`, ℓ̄_0 `loss`, ℓ̃ `loss_estimate`, i_t `arm`, h_t `level`, H [`Tree::height`].

use rand::Rng;

use super::Tree;
use crate::numeric::uniform::open_unit;

mod error;

pub use error::BanditError;

/// How far given probabilities may miss a sum of 1: rounding of what was printed with ten digits.
const SUM_TOLERANCE: f64 = 1e-9;

/// A fair coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// σ = −1: the arm may move within subtrees of this level, if none below said so.
    Minus,
    /// σ = +1.
    Plus,
}

impl Sign {
    /// −1 or +1.
    pub fn value(self) -> f64 {
        match self {
            Self::Minus => -1.0,
            Self::Plus => 1.0,
        }
    }
}

/// What one update did.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// ℓ̃ of every arm.
    pub loss_estimate: Vec<f64>,
    /// h_t: the next arm is drawn from the subtree of this level.
    pub level: usize,
}

/// Probabilities over the arms of a tree, and where the last draw stands in it.
///
/// On its own it is a bandit over any tree. Here the tree is uneven and only the loss of the arm drawn is known; importance weighting
/// makes losses of all arms out of it:
///
/// ```
/// use stagetune::bandit::{SlowlyMovingBandit, Tree, draw_signs};
/// use rand::SeedableRng;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
/// // Houses that hold {0}, {1, 2} and {3, 4, 5}, the first two of them in one town and the third in another.
/// let tree = Tree::from_levels(6, &[vec![1, 2, 3], vec![3, 3]])?;
/// let mut bandit = SlowlyMovingBandit::new(tree, 0.01)?;
/// let (mut last, mut journeys) = (bandit.draw(&mut rng), 0);
/// for _ in 0..8000 {
///     let arm = bandit.draw(&mut rng);
///     journeys += u32::from(bandit.tree().subtree(2, arm) != bandit.tree().subtree(2, last));
///     last = arm;
///     let loss = if arm == 2 { 0.1 } else { 0.9 };
///     let losses = bandit.importance_weighted(arm, loss)?;
///     let signs = draw_signs(bandit.tree().height(), &mut rng);
///     bandit.update(&losses, &signs)?;
/// }
/// assert!(bandit.p()[2] > 0.9);
/// // The bandit leaves a subtree of level h no more often than once in 2^(h + 1) steps, and here far less often.
/// assert!(journeys < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SlowlyMovingBandit {
    tree: Tree,
    eta: f64,
    log_p: Vec<f64>,
    arm: usize,
    level: usize,
}

impl SlowlyMovingBandit {
    /// Uniform over the arms of `tree`, free to draw any, with learning rate `eta` (the paper's experiments use 1).
    pub fn new(tree: Tree, eta: f64) -> Result<Self, BanditError> {
        let eta = checked_eta(eta)?;
        let (level, log_p) = (tree.height(), uniform(tree.arms()));
        Ok(Self { tree, eta, log_p, arm: 0, level })
    }

    /// The arms and their subtrees.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// η.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// ln p of every arm; −∞ where p is 0.
    pub fn log_p(&self) -> &[f64] {
        &self.log_p
    }

    /// p of every arm.
    pub fn p(&self) -> Vec<f64> {
        self.log_p.iter().map(|l| l.exp()).collect()
    }

    /// The arm drawn last; arm 0 before the first draw, which may go anywhere.
    pub fn arm(&self) -> usize {
        self.arm
    }

    /// The level of the subtree around [`SlowlyMovingBandit::arm`] from which the next arm is drawn.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Makes all arms equally likely again, and leaves the position as it is.
    pub fn refresh(&mut self) {
        self.log_p = uniform(self.tree.arms());
    }

    /// Makes the arms that are alive equally likely and the others impossible, and leaves the position as it is.
    pub fn refresh_among(&mut self, alive: &[bool]) -> Result<(), BanditError> {
        let weights: Vec<f64> = alive.iter().map(|a| if *a { 0.0 } else { f64::NEG_INFINITY }).collect();
        self.log_p = checked_weights(&self.tree, &weights)?;
        Ok(())
    }

    /// Replaces the probabilities, which must add up to 1, and leaves the position as it is.
    pub fn set_p(&mut self, p: &[f64]) -> Result<(), BanditError> {
        self.check_arms("probabilities", p)?;
        if let Some((arm, &p)) = p.iter().enumerate().find(|(_, p)| !(0.0..=1.0).contains(*p)) {
            return Err(BanditError::Probability { arm, p });
        }
        let sum: f64 = p.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(BanditError::Sum { sum });
        }
        self.log_p = normalised(p.iter().map(|p| p.ln()).collect());
        Ok(())
    }

    /// Puts the bandit at `arm`, to draw next from the subtree of `level` around it (the root's, if `level` is higher).
    pub fn place(&mut self, arm: usize, level: usize) -> Result<(), BanditError> {
        self.check_arm(arm)?;
        (self.arm, self.level) = (arm, level.min(self.tree.height()));
        Ok(())
    }

    /// Changes the learning rate.
    pub fn set_eta(&mut self, eta: f64) -> Result<(), BanditError> {
        self.eta = checked_eta(eta)?;
        Ok(())
    }

    /// The bandit on another tree: same η, probabilities in proportion to exp(`log_weights`), −∞ for none, placed as by
    /// [`SlowlyMovingBandit::place`].
    pub fn replant(
        self,
        tree: Tree,
        log_weights: &[f64],
        arm: usize,
        level: usize,
    ) -> Result<Self, BanditError> {
        let log_p = checked_weights(&tree, log_weights)?;
        let mut planted = Self { tree, log_p, ..self };
        planted.place(arm, level)?;
        Ok(planted)
    }

    /// Draws i_t from p given the subtree that the last update left open, and stands there.
    ///
    /// If that subtree has no mass, the smallest one around it that has takes its place.
    pub fn draw<R: Rng + ?Sized>(&mut self, rng: &mut R) -> usize {
        let u = open_unit(rng);
        for h in self.level..=self.tree.height() {
            let drawn = self.tree.subtree(h, self.arm).and_then(|range| {
                let first = range.start;
                pick(self.log_p.get(range)?, u).map(|offset| first + offset)
            });
            if let Some(arm) = drawn {
                self.arm = arm;
                break;
            }
        }
        self.arm
    }

    /// The losses of plain SMB, where only the drawn arm's is known: loss/p(arm) there, 0 elsewhere.
    pub fn importance_weighted(&self, arm: usize, loss: f64) -> Result<Vec<f64>, BanditError> {
        self.check_arm(arm)?;
        if !loss.is_finite() {
            return Err(BanditError::Loss { arm, loss });
        }
        let p = self.log_p[arm].exp();
        if p == 0.0 {
            return Err(BanditError::Impossible { arm });
        }
        let mut losses = vec![0.0; self.tree.arms()];
        losses[arm] = loss / p;
        if losses[arm].is_finite() { Ok(losses) } else { Err(BanditError::Overflow { arm }) }
    }

    /// ℓ̄_h of every arm for h = 0 … H−1, one row for each level.
    pub fn level_losses(&self, loss: &[f64], sigma: &[Sign]) -> Result<Vec<Vec<f64>>, BanditError> {
        self.check_step(loss, sigma)?;
        let mut rows = vec![vec![0.0; self.tree.arms()]; self.tree.height()];
        self.visit_levels(loss, sigma, |h, per_subtree| {
            for (subtree, bar) in self.tree.subtrees(h).zip(per_subtree) {
                rows[h][subtree].fill(*bar);
            }
        });
        Ok(rows)
    }

    /// ℓ̃ of every arm, the state left as it is.
    pub fn loss_estimate(&self, loss: &[f64], sigma: &[Sign]) -> Result<Vec<f64>, BanditError> {
        self.check_step(loss, sigma)?;
        let mut estimate = loss.to_vec();
        self.visit_levels(loss, sigma, |h, per_subtree| {
            let sign = sigma[h].value();
            for (subtree, bar) in self.tree.subtrees(h).zip(per_subtree) {
                estimate[subtree].iter_mut().for_each(|e| *e += sign * bar);
            }
        });
        match estimate.iter().position(|e| !(self.eta * e).is_finite()) {
            Some(arm) => Err(BanditError::Overflow { arm }),
            None => Ok(estimate),
        }
    }

    /// One step: estimates the losses, moves p to p_{t+1} and opens the subtree of level h_t for the next draw.
    ///
    /// On an error the state is as before.
    pub fn update(&mut self, loss: &[f64], sigma: &[Sign]) -> Result<Step, BanditError> {
        let loss_estimate = self.loss_estimate(loss, sigma)?;
        let level = moving_level(sigma);
        let log_p = self.log_p.iter().zip(&loss_estimate).map(|(l, e)| l - self.eta * e).collect();
        self.log_p = normalised(log_p);
        self.level = level;
        Ok(Step { loss_estimate, level })
    }

    /// Calls `visit` with ℓ̄_h of every subtree of level h, from h = 0 as long as it is not 0 everywhere.
    fn visit_levels(&self, loss: &[f64], sigma: &[Sign], mut visit: impl FnMut(usize, &[f64])) {
        let (mut bar, mut log_mass) = (loss.to_vec(), self.log_p.clone());
        for h in 0..sigma.len() {
            if h > 0 {
                (bar, log_mass) = self
                    .tree
                    .families(h)
                    .map(|children| self.merge(&bar[children.clone()], &log_mass[children]))
                    .unzip();
            }
            visit(h, &bar);
            if sigma[h] == Sign::Minus {
                break;
            }
        }
    }

    /// ℓ̄ and ln p of a subtree from those of its children, for σ = +1 below.
    fn merge(&self, bar: &[f64], log_mass: &[f64]) -> (f64, f64) {
        let whole = log_sum_exp(log_mass.iter().copied());
        // One child keeps its mass, and its loss doubles: exactly, where logarithms would round.
        if let [only] = bar {
            return (2.0 * only, whole);
        }
        let law = |l: &f64| if whole == f64::NEG_INFINITY { -(bar.len() as f64).ln() } else { l - whole };
        let terms = bar.iter().zip(log_mass).map(|(b, l)| law(l) - 2.0 * self.eta * b);
        (-log_sum_exp(terms) / self.eta, whole)
    }

    fn check_arm(&self, arm: usize) -> Result<(), BanditError> {
        let arms = self.tree.arms();
        if arm < arms { Ok(()) } else { Err(BanditError::NoSuchArm { arm, last: arms - 1 }) }
    }

    fn check_arms(&self, what: &'static str, values: &[f64]) -> Result<(), BanditError> {
        check_count(&self.tree, what, values.len())
    }

    fn check_step(&self, loss: &[f64], sigma: &[Sign]) -> Result<(), BanditError> {
        self.check_arms("losses", loss)?;
        if let Some((arm, &loss)) = loss.iter().enumerate().find(|(_, l)| !l.is_finite()) {
            return Err(BanditError::Loss { arm, loss });
        }
        let (found, height) = (sigma.len(), self.tree.height());
        if found == height { Ok(()) } else { Err(BanditError::Signs { found, height }) }
    }
}

/// σ_0 … σ_{H−1} for a tree of this height.
pub fn draw_signs<R: Rng + ?Sized>(height: usize, rng: &mut R) -> Vec<Sign> {
    (0..height).map(|_| if rng.next_u64() >> 63 == 1 { Sign::Plus } else { Sign::Minus }).collect()
}

/// h_t = min{ h : σ_h = −1 }, H if there is none.
pub fn moving_level(sigma: &[Sign]) -> usize {
    sigma.iter().position(|s| *s == Sign::Minus).unwrap_or(sigma.len())
}

fn checked_eta(eta: f64) -> Result<f64, BanditError> {
    if eta.is_finite() && eta > 0.0 { Ok(eta) } else { Err(BanditError::Eta { eta }) }
}

fn check_count(tree: &Tree, what: &'static str, found: usize) -> Result<(), BanditError> {
    let arms = tree.arms();
    if found == arms { Ok(()) } else { Err(BanditError::Arms { what, found, arms }) }
}

/// Log-probabilities in proportion to these weights, of which one at least must not be −∞.
fn checked_weights(tree: &Tree, log_weights: &[f64]) -> Result<Vec<f64>, BanditError> {
    check_count(tree, "weights", log_weights.len())?;
    let is_weight = |w: f64| w.is_finite() || w == f64::NEG_INFINITY;
    if let Some((arm, &log_weight)) = log_weights.iter().enumerate().find(|(_, w)| !is_weight(**w)) {
        return Err(BanditError::Weight { arm, log_weight });
    }
    if log_weights.iter().all(|w| *w == f64::NEG_INFINITY) {
        return Err(BanditError::NoMass);
    }
    Ok(normalised(log_weights.to_vec()))
}

fn uniform(arms: usize) -> Vec<f64> {
    vec![-(arms as f64).ln(); arms]
}

/// ln Σ exp(terms), −∞ for no mass.
fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if top.is_finite() { top + terms.map(|t| (t - top).exp()).sum::<f64>().ln() } else { top }
}

/// Log-probabilities that add up to 1.
fn normalised(mut log_p: Vec<f64>) -> Vec<f64> {
    // The largest goes first and by itself: next to a large one, ln Σ of the rest would be rounded away.
    let top = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    log_p.iter_mut().for_each(|l| *l -= top);
    let rest = log_sum_exp(log_p.iter().copied());
    log_p.iter_mut().for_each(|l| *l -= rest);
    log_p
}

/// The index whose share of the mass holds the fraction `u` of it; `None` if there is no mass.
fn pick(log_p: &[f64], u: f64) -> Option<usize> {
    let top = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return None;
    }
    let total: f64 = log_p.iter().map(|l| (l - top).exp()).sum();
    let mut left = u * total;
    let mut last = None;
    for (i, l) in log_p.iter().enumerate() {
        let share = (l - top).exp();
        if share > 0.0 {
            last = Some(i);
            left -= share;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests;
