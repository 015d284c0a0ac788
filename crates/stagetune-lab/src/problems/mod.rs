//! Test problems whose global minimum is known exactly: functions by name, `hartmann6`, `ackley8`,
//! `rastrigin6@7`, and tables by folder.
//!
//! A name is letters, a dimension and, for the shifted variant, `@` and a seed.
//!
//! **Shift.** An optimum in the middle of the box flatters methods that bisect it or favour its
//! centre. The variant `@s` is g(x) = f(x − δ) on the same box, with δⱼ uniform in
//! ±[`SHIFT_SHARE`]·mⱼ, where mⱼ is the distance of the minimiser x* from the nearer face in
//! coordinate j. Near the faces x − δ leaves the box, and f continues there by its own formula:
//! unlike reflection that adds no kink, unlike wrapping no jump. Every [`Formula`] argues in its
//! file that nothing outside the box is lower than f(x*), so that g's minimum is exactly f(x*), at
//! x* + δ, inside the box.
//!
//! **Range.** [`Problem::normalise`] maps [minimum, maximum] linearly to [0, 1]. The minimum is
//! exact; the maximum is a bound on the (shifted) box that each formula documents, exact where the
//! function is separable.
//!
//! **Draws.** `gp4@7` is not a shift but the draw of seed 7 from a Gaussian process in four
//! dimensions; its optimum is searched for.
//!
//! **Tables.** [`Table`] holds the score of every setting of a real pipeline; its minimum and
//! maximum are looked up.
//!
//! ```
//! use stagetune_lab::problems::Problem;
//! let problem: Problem = "ackley8@7".parse()?;
//! assert_eq!(problem.evaluate(problem.minimiser())?, 0.0);
//! # Ok::<(), stagetune_lab::problems::ProblemError>(())
//! ```

mod ackley;
mod draw;
mod formula;
mod griewank;
mod hartmann;
mod levy;
mod michalewicz;
mod problem;
mod rastrigin;
mod rosenbrock;
mod styblinski;
pub mod table;

pub use formula::{Dimensions, Formula};
pub use problem::{Problem, ProblemError, SHIFT_SHARE};
pub use table::{Seconds, Table, TableError, TableModule, TableParam};

/// Every formula, in the order in which messages list them.
pub const FORMULAS: [&'static dyn Formula; 8] = [
    &hartmann::Hartmann,
    &ackley::Ackley,
    &rastrigin::Rastrigin,
    &griewank::Griewank,
    &levy::Levy,
    &rosenbrock::Rosenbrock,
    &michalewicz::Michalewicz,
    &styblinski::Styblinski,
];

#[cfg(test)]
mod tests;
