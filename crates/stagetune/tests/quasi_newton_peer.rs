//! Our bounded quasi-Newton method beside L-BFGS-B as `basin` ports it: same minima, about as many evaluations.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use basin::{
    BoxBounds, ConstraintSet, Constraints, CostFunction, Executor, FirstOrderState, Gradient, Lbfgs,
};
use stagetune::numeric::quasi_newton::{Options, QuasiNewton};
use stagetune::numeric::sobol::Sobol;

type Function = fn(&[f64]) -> (f64, Vec<f64>);

struct Boxed {
    function: Function,
    lower: Vec<f64>,
    upper: Vec<f64>,
    evaluations: Rc<Cell<usize>>,
}

impl Constraints for Boxed {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;
    fn constraints(&self) -> <Self::Set as basin::ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.lower), Some(&self.upper)))
    }
}

impl CostFunction for Boxed {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;
    fn cost(&self, x: &Vec<f64>) -> Result<f64, Infallible> {
        self.evaluations.set(self.evaluations.get() + 1);
        Ok((self.function)(x).0)
    }
}

impl Gradient for Boxed {
    type Gradient = Vec<f64>;
    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok((self.function)(x).1)
    }
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

/// Curvatures from 1 to 1,000, and a minimum outside the box in every other coordinate.
fn stretched(x: &[f64]) -> (f64, Vec<f64>) {
    let n = x.len();
    let mut gradient = vec![0.0; n];
    let mut value = 0.0;
    for i in 0..n {
        let (c, centre) = (10f64.powf(3.0 * i as f64 / (n - 1) as f64), if i % 2 == 0 { 3.0 } else { 0.4 });
        value += 0.5 * c * (x[i] - centre).powi(2);
        gradient[i] = c * (x[i] - centre);
    }
    (value, gradient)
}

fn compare(function: Function, dim: usize, low: f64, high: f64) {
    let (lower, upper) = (vec![low; dim], vec![high; dim]);
    let (mut ours, mut theirs) = (0, 0);
    let (mut wins, mut losses) = (0, 0);
    let mut sobol = Sobol::new(dim, 4);
    for _ in 0..20 {
        let mut start = vec![0.0; dim];
        sobol.next_into(&mut start).unwrap();
        start.iter_mut().for_each(|v| *v = low + *v * (high - low));

        let options = Options { value_tolerance: 1e-12, max_evaluations: 2_000, ..Options::default() };
        let mut search = QuasiNewton::new(&start, &lower, &upper, options);
        while let Some(x) = search.ask() {
            let (value, gradient) = function(x);
            search.tell(value, &gradient);
        }
        ours += search.evaluations();

        let evaluations = Rc::new(Cell::new(0));
        let problem =
            Boxed { function, lower: lower.clone(), upper: upper.clone(), evaluations: evaluations.clone() };
        let solver = Lbfgs::new().with_absolute_projected_gradient_tolerance(1e-6);
        let result =
            Executor::new(problem, solver, FirstOrderState::new(start)).max_iter(2_000).run().unwrap();
        theirs += evaluations.get();
        // Both methods may fall into one of several minima; then the other must be at least as often the lucky one.
        wins += usize::from(search.best().1 <= result.cost() + 1e-6);
        losses += usize::from(result.cost() <= search.best().1 + 1e-6);
        let (x, _) = search.best();
        for (v, g) in x.iter().zip(function(x).1) {
            let held = (*v == low && g > 0.0) || (*v == high && g < 0.0);
            assert!(held || g.abs() < 1e-2, "{x:?} is no minimum: slope {g}");
        }
    }
    assert!(wins + 3 >= losses, "as good in {wins} of 20 starts, L-BFGS-B in {losses}");
    println!("{ours} evaluations, L-BFGS-B {theirs}");
    assert!(ours <= 2 * theirs, "{ours} evaluations, L-BFGS-B needs {theirs}");
}

#[test]
fn rosenbrock_takes_about_as_many_evaluations() {
    compare(rosenbrock, 4, -2.0, 2.0);
    compare(rosenbrock, 8, -2.0, 0.8);
}

#[test]
fn a_stretched_bowl_with_its_minimum_on_the_boundary_takes_about_as_many_evaluations() {
    compare(stretched, 10, 0.0, 1.0);
}
