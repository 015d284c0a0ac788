//! A bound-constrained quasi-Newton minimiser that is asked for points and told their values.
//!
//! Because it never calls the function itself, many minimisations advance side by side and a batch of their trial points
//! goes through one evaluation: that is what makes the acquisition maximiser fast.
//!
//! Method: limited-memory BFGS (Nocedal 1980) on the variables that are not held at a bound, and a search along the
//! projected path x(t) = P(x + t·d) (Bertsekas 1982) for a step with
//!   sufficient decrease  f(x(t)) ≤ f(x) + c₁ gᵀ(x(t) − x)   and   enough curvature  g(x(t))ᵀd ≥ c₂ gᵀd   (weak Wolfe),
//! bracketed and bisected as by Lewis & Overton (2013), with quadratic interpolation where it helps. A value that is not
//! finite counts as "too far": the search backs off, so a function may be undefined in places.

use crate::numeric::vector::dot;

/// Sufficient decrease; the customary value (Nocedal & Wright 2006, p. 62).
const C1: f64 = 1e-4;
/// Curvature; the customary value for quasi-Newton directions (same page).
const C2: f64 = 0.9;
/// Trial points per line search before the best one so far is taken.
const MAX_SEARCH: usize = 20;

/// When to stop, and how much to remember.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Stop when the quadratic model promises no more than this, or two steps in a row gain no more.
    pub value_tolerance: f64,
    /// Stop when no component of the projected gradient exceeds this.
    pub gradient_tolerance: f64,
    /// Stop after this many evaluations.
    pub max_evaluations: usize,
    /// Pairs of steps and gradient changes that are kept.
    pub memory: usize,
    /// Length of the very first step, as a share of the box's largest side.
    pub first_step: f64,
    /// No coordinate moves further than this in the first trial of a search, however far the curvature points.
    pub max_step: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            value_tolerance: 1e-9,
            gradient_tolerance: 1e-6,
            max_evaluations: 200,
            memory: 10,
            first_step: 0.1,
            max_step: f64::INFINITY,
        }
    }
}

impl Options {
    /// Tolerances and lengths that make no sense (NaN, negative) become 0 or the default.
    fn mended(self) -> Self {
        let tolerance = |t: f64| if t >= 0.0 { t } else { 0.0 };
        let length = |l: f64, default: f64| if l > 0.0 { l } else { default };
        let default = Self::default();
        Self {
            value_tolerance: tolerance(self.value_tolerance),
            gradient_tolerance: tolerance(self.gradient_tolerance),
            first_step: length(self.first_step, default.first_step),
            max_step: length(self.max_step, default.max_step),
            ..self
        }
    }
}

/// One minimisation in progress.
///
/// ```
/// use stagetune::numeric::quasi_newton::{Options, QuasiNewton};
/// // (x − 3)² on [0, 2] has its minimum at the bound.
/// let mut search = QuasiNewton::new(&[0.5], &[0.0], &[2.0], Options::default());
/// while let Some(x) = search.ask() {
///     let x = x[0];
///     search.tell((x - 3.0).powi(2), &[2.0 * (x - 3.0)]);
/// }
/// assert_eq!(search.best().0, &[2.0]);
/// ```
#[derive(Clone, Debug)]
pub struct QuasiNewton {
    options: Options,
    lower: Vec<f64>,
    upper: Vec<f64>,
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    trial: Vec<f64>,
    search: Search,
    pairs: Vec<Pair>,
    evaluations: usize,
    /// Steps in a row that gained less than the tolerance.
    small_gains: usize,
    done: bool,
}

/// A step s and the change of gradient y that came with it.
#[derive(Clone, Debug)]
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
}

/// Where the search along the current direction stands.
#[derive(Clone, Debug)]
struct Search {
    t: f64,
    low: f64,
    high: f64,
    tries: usize,
    /// The best trial with sufficient decrease so far: point, value, gradient.
    accepted: Option<(Vec<f64>, f64, Vec<f64>)>,
}

impl Search {
    fn from(t: f64) -> Self {
        Self { t, low: 0.0, high: f64::INFINITY, tries: 0, accepted: None }
    }
}

impl QuasiNewton {
    /// Starts at `start`, moved into the box; coordinates with equal bounds never move.
    ///
    /// Lengths that differ are cut to the shortest; a box that is empty in some coordinate is read as frozen there.
    pub fn new(start: &[f64], lower: &[f64], upper: &[f64], options: Options) -> Self {
        let n = start.len().min(lower.len()).min(upper.len());
        let options = options.mended();
        let lower = lower[..n].to_vec();
        let upper: Vec<f64> =
            upper[..n].iter().zip(&lower).map(|(&u, &l)| if u >= l { u } else { l }).collect();
        let x: Vec<f64> = (0..n).map(|i| project(start[i], lower[i], upper[i])).collect();
        Self {
            options,
            trial: x.clone(),
            gradient: vec![0.0; n],
            direction: vec![0.0; n],
            value: f64::INFINITY,
            search: Search::from(0.0),
            pairs: Vec::new(),
            evaluations: 0,
            small_gains: 0,
            done: options.max_evaluations == 0,
            lower,
            upper,
            x,
        }
    }

    /// Takes over what another search learned of the curvature, with the function `scale` times as steep.
    #[must_use]
    pub fn with_memory_of(mut self, other: &Self, scale: f64) -> Self {
        if scale.is_finite() && scale > 0.0 && other.x.len() == self.x.len() {
            self.pairs = other.pairs.clone();
            for pair in &mut self.pairs {
                pair.y.iter_mut().for_each(|y| *y *= scale);
            }
        }
        self
    }

    /// The point whose value and gradient are wanted next, or `None` when the minimisation is over.
    pub fn ask(&self) -> Option<&[f64]> {
        (!self.done).then_some(self.trial.as_slice())
    }

    /// The best point and value so far; the value is infinite before the first finite one was told.
    pub fn best(&self) -> (&[f64], f64) {
        match &self.search.accepted {
            Some((x, value, _)) if *value < self.value => (x, *value),
            _ => (&self.x, self.value),
        }
    }

    /// How many values were told.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Takes the value and gradient at the point that [`QuasiNewton::ask`] gave.
    pub fn tell(&mut self, value: f64, gradient: &[f64]) {
        if self.done {
            return;
        }
        self.evaluations += 1;
        let usable =
            value.is_finite() && gradient.len() == self.x.len() && gradient.iter().all(|g| g.is_finite());
        if self.evaluations == 1 {
            if !usable {
                self.done = true;
                return;
            }
            self.value = value;
            self.gradient.copy_from_slice(gradient);
            self.begin_search();
        } else {
            self.continue_search(usable, value, gradient);
        }
        if self.evaluations >= self.options.max_evaluations && !self.done {
            self.finish_search();
            self.done = true;
        }
    }

    /// Chooses a direction from the current iterate, or stops at a stationary point.
    fn begin_search(&mut self) {
        let free: Vec<bool> = (0..self.x.len()).map(|i| self.is_free(i)).collect();
        let steepest: Vec<f64> =
            self.gradient.iter().zip(&free).map(|(&g, &free)| if free { -g } else { 0.0 }).collect();
        if self.projected_gradient_norm() <= self.options.gradient_tolerance {
            self.done = true;
            return;
        }
        self.direction = two_loop(&self.pairs, &steepest, &free);
        let slope = dot(&self.direction, &self.gradient);
        let steep = dot(&steepest, &steepest);
        // A direction that is not clearly downhill comes from pairs that no longer fit: forget them.
        let trusted = !self.pairs.is_empty() && slope.is_finite() && slope < -1e-12 * steep;
        // Along a Newton direction the model's minimum lies ½|slope| below; one pair alone knows too little to be believed.
        if trusted && self.pairs.len() > 1 && -0.5 * slope <= self.options.value_tolerance {
            self.done = true;
            return;
        }
        let t = if trusted {
            1.0
        } else {
            self.pairs.clear();
            let side = self.lower.iter().zip(&self.upper).fold(0.0_f64, |side, (l, u)| side.max(u - l));
            let longest = steepest.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
            self.direction = steepest;
            self.options.first_step * side.min(f64::MAX) / longest
        };
        let reach = self.direction.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
        self.search =
            Search::from(if t * reach > self.options.max_step { self.options.max_step / reach } else { t });
        self.set_trial();
    }

    fn continue_search(&mut self, usable: bool, value: f64, gradient: &[f64]) {
        self.search.tries += 1;
        let step: Vec<f64> = self.trial.iter().zip(&self.x).map(|(t, x)| t - x).collect();
        let predicted = dot(&self.gradient, &step);
        let t = self.search.t;
        if usable && value <= self.value + C1 * predicted {
            let better = self.search.accepted.as_ref().is_none_or(|(_, best, _)| value < *best);
            if better {
                self.search.accepted = Some((self.trial.clone(), value, gradient.to_vec()));
            }
            let slope = dot(&self.direction, &self.gradient);
            let flat_enough = dot(&self.direction, gradient) >= C2 * slope;
            // At the boundary a longer step changes nothing in the clipped coordinates: take what there is.
            if flat_enough || !better || self.is_clipped() {
                return self.finish_search();
            }
            self.search.low = t;
        } else {
            self.search.high = t;
            if self.search.accepted.is_some() && self.search.tries > 3 {
                return self.finish_search();
            }
        }
        if self.search.tries >= MAX_SEARCH {
            return self.finish_search();
        }
        self.search.t = if self.search.high.is_finite() {
            let Search { low, high, .. } = self.search;
            if usable && low == 0.0 {
                // The minimum of the parabola through f(0), f'(0), f(t), kept away from both ends.
                let parabola = -0.5 * predicted * t / (value - self.value - predicted);
                if parabola.is_finite() { parabola.clamp(0.1 * t, 0.5 * t) } else { 0.3 * t }
            } else {
                0.5 * (low + high)
            }
        } else {
            4.0 * t
        };
        self.set_trial();
        if self.trial == self.x {
            self.finish_search();
        }
    }

    /// Moves to the accepted point, learns the curvature there and starts the next search; stops if there is none.
    fn finish_search(&mut self) {
        let Some((x, value, gradient)) = self.search.accepted.take() else {
            // A bad direction may come from stale curvature: try the gradient once before giving up.
            if self.pairs.is_empty() {
                self.done = true;
            } else {
                self.pairs.clear();
                self.begin_search();
            }
            return;
        };
        let s: Vec<f64> = x.iter().zip(&self.x).map(|(new, old)| new - old).collect();
        let y: Vec<f64> = gradient.iter().zip(&self.gradient).map(|(new, old)| new - old).collect();
        if dot(&s, &y) > f64::EPSILON * dot(&y, &y) {
            if self.pairs.len() >= self.options.memory.max(1) {
                self.pairs.remove(0);
            }
            self.pairs.push(Pair { s, y });
        }
        let decrease = self.value - value;
        (self.x, self.value, self.gradient) = (x, value, gradient);
        self.small_gains = if decrease <= self.options.value_tolerance { self.small_gains + 1 } else { 0 };
        if self.small_gains == 2 {
            self.done = true;
        } else {
            self.begin_search();
        }
    }

    fn set_trial(&mut self) {
        for i in 0..self.x.len() {
            let moved = self.x[i] + self.search.t * self.direction[i];
            self.trial[i] = if self.direction[i] == 0.0 {
                self.x[i]
            } else {
                project(moved, self.lower[i], self.upper[i])
            };
        }
    }

    /// Whether every coordinate that moves has reached a bound.
    fn is_clipped(&self) -> bool {
        (0..self.x.len()).all(|i| {
            self.direction[i] == 0.0
                || (self.direction[i] > 0.0 && self.trial[i] >= self.upper[i])
                || (self.direction[i] < 0.0 && self.trial[i] <= self.lower[i])
        })
    }

    /// A coordinate is free unless it sits at a bound that the gradient pushes against.
    fn is_free(&self, i: usize) -> bool {
        let (x, g) = (self.x[i], self.gradient[i]);
        !(self.lower[i] >= self.upper[i]
            || (x <= self.lower[i] && g > 0.0)
            || (x >= self.upper[i] && g < 0.0))
    }

    fn projected_gradient_norm(&self) -> f64 {
        (0..self.x.len()).filter(|&i| self.is_free(i)).fold(0.0, |m, i| m.max(self.gradient[i].abs()))
    }
}

/// −H∇f by the two-loop recursion over the free coordinates (Nocedal & Wright 2006, algorithm 7.4).
fn two_loop(pairs: &[Pair], steepest: &[f64], free: &[bool]) -> Vec<f64> {
    let mask =
        |v: &[f64]| -> Vec<f64> { v.iter().zip(free).map(|(&v, &f)| if f { v } else { 0.0 }).collect() };
    // A pair is of use here only if it has positive curvature among the free coordinates.
    let pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = pairs
        .iter()
        .map(|pair| (mask(&pair.s), mask(&pair.y)))
        .filter_map(|(s, y)| {
            let sy = dot(&s, &y);
            (sy > f64::EPSILON * dot(&y, &y)).then(|| (s, y, 1.0 / sy))
        })
        .collect();
    let mut q = steepest.to_vec();
    let mut a = vec![0.0; pairs.len()];
    for (k, (s, y, rho)) in pairs.iter().enumerate().rev() {
        a[k] = rho * dot(s, &q);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= a[k] * y);
    }
    if let Some((_, y, rho)) = pairs.last() {
        let scale = 1.0 / (rho * dot(y, y));
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (k, (s, y, rho)) in pairs.iter().enumerate() {
        let b = rho * dot(y, &q);
        q.iter_mut().zip(s).for_each(|(q, s)| *q += (a[k] - b) * s);
    }
    q
}

/// The nearest value in [low, high]; NaN goes to `low`, so that no input leaves the box.
fn project(x: f64, low: f64, high: f64) -> f64 {
    if x >= high {
        high
    } else if x > low {
        x
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimise(
        f: impl Fn(&[f64]) -> (f64, Vec<f64>),
        start: &[f64],
        low: f64,
        high: f64,
    ) -> (Vec<f64>, f64, usize) {
        let n = start.len();
        let options = Options { max_evaluations: 1_000, value_tolerance: 1e-14, ..Options::default() };
        let mut search = QuasiNewton::new(start, &vec![low; n], &vec![high; n], options);
        while let Some(x) = search.ask() {
            assert!(x.iter().all(|v| (low..=high).contains(v)), "{x:?} left the box");
            let (value, gradient) = f(x);
            search.tell(value, &gradient);
        }
        let (x, value) = search.best();
        (x.to_vec(), value, search.evaluations())
    }

    fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; x.len()];
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
            value += 100.0 * a * a + b * b;
            gradient[i] += -400.0 * a * x[i] - 2.0 * b;
            gradient[i + 1] += 200.0 * a;
        }
        (value, gradient)
    }

    #[test]
    fn rosenbrock_is_solved_in_about_as_many_evaluations_as_scipy_needs() {
        // SciPy's L-BFGS-B takes 45 to 60 evaluations from such starts.
        for start in [[-1.2, 1.0, -1.2, 1.0], [0.0, 0.0, 0.0, 0.0], [1.5, -1.5, 1.8, 0.3]] {
            let (x, value, evaluations) = minimise(rosenbrock, &start, -2.0, 2.0);
            assert!(value < 1e-8, "{value:e} after {evaluations}");
            assert!(x.iter().all(|v| (v - 1.0).abs() < 1e-3));
            assert!(evaluations < 120, "{evaluations} evaluations");
        }
    }

    #[test]
    fn a_minimum_on_the_boundary_is_found_exactly() {
        // The unconstrained minimum lies outside in the first coordinate only.
        let f = |x: &[f64]| {
            let (a, b) = (x[0] - 2.0, x[1] - 0.25);
            (a * a + 10.0 * b * b + a * b, vec![2.0 * a + b, 20.0 * b + a])
        };
        let (x, _, evaluations) = minimise(f, &[0.1, 0.9], 0.0, 1.0);
        assert_eq!(x[0], 1.0);
        assert!((x[1] - 0.3).abs() < 1e-6, "{x:?}");
        assert!(evaluations < 20);
    }

    #[test]
    fn frozen_coordinates_keep_their_value_bit_for_bit() {
        let mut search = QuasiNewton::new(&[0.1, 0.3], &[0.1, 0.0], &[0.1, 1.0], Options::default());
        while let Some(x) = search.ask() {
            assert_eq!(x[0], 0.1);
            let (a, b) = (x[0] - 0.7, x[1] - 0.6);
            search.tell(a * a + b * b, &[2.0 * a, 2.0 * b]);
        }
        assert!((search.best().0[1] - 0.6).abs() < 1e-5);
    }

    #[test]
    fn an_undefined_region_is_backed_out_of() {
        let f = |x: &[f64]| if x[0] > 0.6 { (f64::NAN, vec![f64::NAN]) } else { (-x[0], vec![-1.0]) };
        let (x, _, _) = minimise(f, &[0.2], 0.0, 1.0);
        assert!(x[0] > 0.59 && x[0] <= 0.6, "{x:?}");
    }

    #[test]
    fn odd_input_ends_at_once_instead_of_panicking() {
        let mut search = QuasiNewton::new(&[f64::NAN], &[0.0], &[1.0], Options::default());
        assert_eq!(search.ask(), Some([0.0].as_slice()));
        search.tell(f64::NAN, &[]);
        assert_eq!(search.ask(), None);
        let empty = QuasiNewton::new(&[], &[0.0], &[1.0], Options::default());
        assert_eq!(empty.best().0, &[] as &[f64]);
    }
}
