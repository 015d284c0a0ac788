//! A module: one stage of a pipeline, with its parameters, its cost, and what its user knows about it.

use std::sync::Arc;

use super::cut::Cut;
use super::expr::{Expr, ExprError};
use super::name::{NameError, check_name, hint, nearest};
use super::param::Param;

/// What running a module costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cost {
    /// Known beforehand; zero is allowed.
    Given(f64),
    /// Nobody knows and nobody measures: strategies that need costs refuse.
    Unknown,
    /// Learnt from the runs.
    Measured,
}

/// One stage: it runs again when one of its parameters, or of those before it, has changed.
#[derive(Clone, Debug)]
pub struct Module {
    name: Arc<str>,
    params: Arc<[Param]>,
    cost: Cost,
    forbidden: Vec<Expr>,
    cuts: Vec<Cut>,
}

/// Why a module cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// The name is not one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two parameters with one name.
    #[error("module `{module}`: two parameters are called `{name}`; rename one")]
    DuplicateParam {
        /// The module.
        module: Arc<str>,
        /// The parameters' name.
        name: Arc<str>,
    },
    /// A cost that is negative, infinite or NaN.
    #[error(
        "module `{module}`: the cost is {cost}; give a finite number of at least 0, `Unknown` or `Measured`"
    )]
    Cost {
        /// The module.
        module: Arc<str>,
        /// What was given.
        cost: f64,
    },
    /// A condition that cannot be read.
    #[error(transparent)]
    Expr(#[from] ExprError),
    /// A cut of a parameter that the module does not have.
    #[error("module `{module}`: cannot cut `{name}`, which is not one of its parameters{}", hint(.suggestion))]
    UnknownCut {
        /// The module.
        module: Arc<str>,
        /// What was given.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// A numeric cut of something that is not a number.
    #[error(
        "parameter `{name}` is a {kind} and cannot be cut at a number; use a condition such as `{name} == …`"
    )]
    CutKind {
        /// The parameter.
        name: Arc<str>,
        /// What it is.
        kind: &'static str,
    },
    /// A cut that leaves one side empty.
    #[error("parameter `{name}`: a cut at {at} has nothing on one side; it is {values}, cut strictly inside")]
    CutOutside {
        /// The parameter.
        name: Arc<str>,
        /// Where the cut was to be.
        at: f64,
        /// What the parameter can be.
        values: String,
    },
}

impl Module {
    /// A module of unknown cost; it may have no parameters, as a stage that only loads data.
    pub fn new(name: &str, params: impl IntoIterator<Item = Param>) -> Result<Self, ModuleError> {
        let module = check_name(name)?;
        let params: Vec<Param> = params.into_iter().collect();
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = params.iter().find(|param| !seen.insert(param.name())) {
            return Err(ModuleError::DuplicateParam { module, name: twice.name().clone() });
        }
        let (cost, forbidden, cuts) = (Cost::Unknown, Vec::new(), Vec::new());
        Ok(Self { name: module, params: params.into(), cost, forbidden, cuts })
    }

    /// The same module with this cost.
    pub fn cost(self, cost: Cost) -> Result<Self, ModuleError> {
        match cost {
            Cost::Given(c) if !(c.is_finite() && c >= 0.0) => {
                Err(ModuleError::Cost { module: self.name, cost: c })
            }
            _ => Ok(Self { cost, ..self }),
        }
    }

    /// The same module without the points where the condition holds; it speaks of this module's parameters only.
    pub fn forbid(mut self, condition: &str) -> Result<Self, ModuleError> {
        self.forbidden.push(Expr::parse(condition, &self.params)?);
        Ok(self)
    }

    /// The same module with a partition that splits the number `param` below each of the thresholds.
    pub fn cut(
        mut self,
        param: &str,
        thresholds: impl IntoIterator<Item = f64>,
    ) -> Result<Self, ModuleError> {
        let Some(p) = self.params.iter().position(|known| &**known.name() == param) else {
            let suggestion = nearest(param, self.params.iter().map(|known| &**known.name()));
            return Err(ModuleError::UnknownCut { module: self.name, name: param.to_owned(), suggestion });
        };
        for threshold in thresholds {
            let cut = Cut::number(&self.params, p, threshold, false)?;
            self.add(cut);
        }
        Ok(self)
    }

    /// The same module with a partition that splits where the condition turns: one parameter against a constant.
    pub fn cut_where(mut self, condition: &str) -> Result<Self, ModuleError> {
        let cut = Cut::condition(&self.params, &Expr::parse(condition, &self.params)?)?;
        self.add(cut);
        Ok(self)
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Its parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// What running it costs.
    pub fn cost_kind(&self) -> Cost {
        self.cost
    }

    /// The conditions that its points must not meet.
    pub fn forbidden(&self) -> &[Expr] {
        &self.forbidden
    }

    pub(super) fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// Keeps the cuts in order and each plane once.
    fn add(&mut self, cut: Cut) {
        let order = |known: &Cut| known.coordinate.cmp(&cut.coordinate).then(known.at.total_cmp(&cut.at));
        if let Err(place) = self.cuts.binary_search_by(order) {
            self.cuts.insert(place, cut);
        }
    }
}
