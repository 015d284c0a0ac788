//! The whole of what can be tuned: modules in order, checked once, with the way to the unit cube and back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::cut::Cut;
use super::expr::{Expr, ExprError, Verdict};
use super::module::{Module, ModuleError};
use super::param::{Param, ParamError};
use super::point::{Point, PointError};
use super::reach::{Coded, CubeBox, Typed};
use super::region::RegionError;
use super::wiring::Wiring;

/// The most parameters of a space: surrogates over more than a few dozen already learn little.
pub const MAX_PARAMS: usize = 1_000;

/// The most modules of a space.
pub const MAX_MODULES: usize = 1_000;

/// The most coordinates of the unit cube, which small choices use one per value.
pub const MAX_DIM: usize = 5_000;

/// The most forbidden regions, of modules and joint ones together.
pub const MAX_FORBIDDEN: usize = 1_000;

/// Modules in order with their parameters, and the coding of their points in the unit cube.
#[derive(Clone, Debug)]
pub struct Space {
    modules: Vec<Module>,
    params: Arc<[Param]>,
    pub(super) names: Arc<[Arc<str>]>,
    by_name: BTreeMap<Arc<str>, usize>,
    /// The first coordinate of each parameter, and the dimension at the end.
    starts: Vec<usize>,
    /// The first parameter of each module, and their number at the end.
    firsts: Vec<usize>,
    axes: Vec<Axis>,
    /// The parameter of each coordinate.
    owners: Vec<usize>,
    cuts: Vec<Vec<Cut>>,
    /// Every forbidden region, of modules and joint, over all parameters.
    forbidden: Vec<Expr>,
    pub(super) wiring: Wiring,
}

/// How a coordinate of the unit cube can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Axis {
    /// Anywhere in [0, 1].
    Continuous,
    /// Between `len` codes, see [`Space::grid_code`].
    Grid {
        /// How many codes there are.
        len: u64,
    },
    /// Between `len` codes as well, of a choice of many values: neighbours on it have nothing in common.
    Category {
        /// How many codes there are.
        len: u64,
    },
    /// One of `len` coordinates from `first` on, of which one is 1 and the others are 0.
    OneHot {
        /// The first coordinate of the group.
        first: usize,
        /// How many coordinates the group has.
        len: usize,
    },
}

/// Why a space, or something asked of it, makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// A parameter cannot be made.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A module cannot be made.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// Values do not make a point.
    #[error(transparent)]
    Point(#[from] PointError),
    /// A condition cannot be read.
    #[error(transparent)]
    Expr(#[from] ExprError),
    /// Nothing is allowed.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// Nothing to tune.
    #[error("the space has no parameters; give a module at least one")]
    NoParams,
    /// Past [`MAX_PARAMS`], [`MAX_MODULES`], [`MAX_DIM`] or [`MAX_FORBIDDEN`].
    #[error("the space has {found} {what}; use at most {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many are possible.
        limit: usize,
    },
    /// Two modules with one name.
    #[error("two modules are called `{name}`; rename one")]
    DuplicateModule {
        /// Their name.
        name: Arc<str>,
    },
    /// Parameters of two modules with one name.
    #[error("modules `{first}` and `{second}` both have a parameter `{name}`; rename one")]
    DuplicateParam {
        /// The parameters' name.
        name: Arc<str>,
        /// The earlier module.
        first: Arc<str>,
        /// The later module.
        second: Arc<str>,
    },
    /// Not one list of needed modules per module.
    #[error("there are {modules} modules but {found} lists of what they need; give one for each")]
    WiringLength {
        /// How many modules there are.
        modules: usize,
        /// How many lists were given.
        found: usize,
    },
    /// A module that needs itself, a later one, or one that does not exist.
    #[error(
        "module `{module}` (number {number}, counted from 0) cannot need module number {needs}; put what it needs before it"
    )]
    WiringOrder {
        /// The module.
        module: Arc<str>,
        /// Its number, counted from 0.
        number: usize,
        /// The number of what it was said to need.
        needs: usize,
    },
    /// A point or a box of the wrong dimension.
    #[error("the unit cube has {expected} coordinates, not {found}; give one number for each")]
    Dimension {
        /// The space's dimension.
        expected: usize,
        /// How many numbers were given.
        found: usize,
    },
    /// A coordinate that is NaN or outside [0, 1].
    #[error("coordinate {coordinate} (parameter `{param}`) is {value}; give a number from 0 to 1")]
    Coordinate {
        /// The coordinate, counted from 0.
        coordinate: usize,
        /// Its parameter.
        param: Arc<str>,
        /// What was given.
        value: f64,
    },
    /// A box whose lower end is above its upper end.
    #[error(
        "coordinate {coordinate} (parameter `{param}`): the box goes from {lower} down to {upper}; swap them"
    )]
    Box {
        /// The coordinate, counted from 0.
        coordinate: usize,
        /// Its parameter.
        param: Arc<str>,
        /// The lower end.
        lower: f64,
        /// The upper end.
        upper: f64,
    },
    /// A point of another space.
    #[error("the point {point} is not one of this space; make it with this space's `point` or `decode`")]
    ForeignPoint {
        /// The point.
        point: String,
    },
    /// A condition over the parameters of another space.
    #[error(
        "the condition `{source_text}` was read for other parameters; read it with this space's `condition`"
    )]
    ForeignExpr {
        /// The condition.
        source_text: Arc<str>,
    },
}

impl Space {
    /// Checks the modules together: names, limits, and that the forbidden regions leave something.
    pub fn new(modules: impl IntoIterator<Item = Module>) -> Result<Self, SpaceError> {
        let modules: Vec<Module> = modules.into_iter().collect();
        limit("modules", modules.len(), MAX_MODULES)?;
        let params: Arc<[Param]> = modules.iter().flat_map(|module| module.params()).cloned().collect();
        limit("parameters", params.len(), MAX_PARAMS)?;
        if params.is_empty() {
            return Err(SpaceError::NoParams);
        }
        limit("coordinates", params.iter().map(Param::width).sum(), MAX_DIM)?;
        let by_name = unique_names(&modules)?;

        let mut space = Self {
            names: params.iter().map(|param| param.name().clone()).collect(),
            by_name,
            starts: vec![0],
            firsts: vec![0],
            axes: Vec::new(),
            owners: Vec::new(),
            cuts: Vec::new(),
            forbidden: Vec::new(),
            wiring: Wiring::Chain,
            modules,
            params,
        };
        for (p, param) in space.params.iter().enumerate() {
            let (first, len) = (space.axes.len(), param.width());
            let axis = match param.count() {
                None => Axis::Continuous,
                Some(_) if param.is_one_hot() => Axis::OneHot { first, len },
                Some(len) if len > 2 && param.kind() == "choice" => Axis::Category { len },
                Some(len) => Axis::Grid { len },
            };
            space.axes.extend(std::iter::repeat_n(axis, len));
            space.owners.extend(std::iter::repeat_n(p, len));
            space.starts.push(first + len);
        }
        for module in &space.modules {
            let first = space.firsts.last().copied().unwrap_or(0);
            let start = space.starts.get(first).copied().unwrap_or(0);
            space.cuts.push(module.cuts().iter().map(|cut| cut.shifted(first, start)).collect());
            space.firsts.push(first + module.params().len());
            for expr in module.forbidden() {
                space.forbidden.push(Expr::parse(expr.source(), &space.params)?);
            }
        }
        limit("forbidden regions", space.forbidden.len(), MAX_FORBIDDEN)?;
        space.check_something_allowed()?;
        Ok(space)
    }

    /// The same space without the points where the condition holds; it may speak of all parameters.
    pub fn forbid(mut self, condition: &str) -> Result<Self, SpaceError> {
        self.forbidden.push(self.condition(condition)?);
        limit("forbidden regions", self.forbidden.len(), MAX_FORBIDDEN)?;
        self.check_something_allowed()?;
        Ok(self)
    }

    /// The modules in order.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The parameters of all modules in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The index of a parameter by its name.
    pub fn param_index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The dimension of the unit cube.
    pub fn dim(&self) -> usize {
        self.axes.len()
    }

    /// How each coordinate of the unit cube can move.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Which coordinates code a large choice: of two values there they only say whether they are the same.
    pub fn categories(&self) -> Vec<bool> {
        self.axes.iter().map(|axis| matches!(axis, Axis::Category { .. })).collect()
    }

    /// The squared distance between two points of the unit cube; different values of a large choice are 1 apart.
    pub fn squared_distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = a.iter().zip(b).zip(&self.axes).map(|((a, b), axis)| match axis {
            Axis::Category { .. } => f64::from(a != b),
            Axis::Continuous | Axis::Grid { .. } | Axis::OneHot { .. } => (a - b).powi(2),
        });
        terms.sum()
    }

    /// Which module needs the output of which.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// The parameters of module `m`; none if there is no such module.
    pub fn module_params(&self, m: usize) -> Range<usize> {
        let end = self.params.len();
        let at = |m: usize| self.firsts.get(m).copied().unwrap_or(end);
        at(m)..at(m.saturating_add(1))
    }

    /// The coordinates of module `m`; none if there is no such module.
    pub fn module_coordinates(&self, m: usize) -> Range<usize> {
        let params = self.module_params(m);
        let at = |p: usize| self.starts.get(p).copied().unwrap_or(self.dim());
        at(params.start)..at(params.end)
    }

    /// The coordinates of parameter `p`; none if there is no such parameter.
    pub fn param_coordinates(&self, p: usize) -> Range<usize> {
        let at = |p: usize| self.starts.get(p).copied().unwrap_or(self.dim());
        at(p)..at(p.saturating_add(1))
    }

    /// The parameter that a coordinate belongs to.
    pub fn coordinate_param(&self, coordinate: usize) -> Option<usize> {
        self.owners.get(coordinate).copied()
    }

    /// The user's cuts of module `m`, by coordinate and position; none if there is no such module.
    pub fn cuts(&self, m: usize) -> &[Cut] {
        self.cuts.get(m).map_or(&[], |cuts| cuts)
    }

    /// The forbidden regions of the modules and the joint ones.
    pub fn forbidden(&self) -> &[Expr] {
        &self.forbidden
    }

    /// Whether the point is one of this space and in no forbidden region.
    pub fn allows(&self, point: &Point) -> bool {
        let at = Typed { params: &self.params, values: point.values() };
        self.owns(point) && !self.forbidden.iter().any(|expr| expr.holds(&at))
    }

    /// Whether a point of the unit cube decodes to one in no forbidden region; `false` for what is no such point.
    pub fn allows_coded(&self, u: &[f64]) -> bool {
        self.check_cube(u).is_ok() && !self.forbidden.iter().any(|expr| expr.holds(&self.coded(u)))
    }

    /// Reads a condition over all parameters.
    pub fn condition(&self, source: &str) -> Result<Expr, ExprError> {
        Expr::parse(source, &self.params)
    }

    /// Whether a condition holds at a point.
    pub fn holds(&self, condition: &Expr, point: &Point) -> Result<bool, SpaceError> {
        self.check_expr(condition)?;
        if !self.owns(point) {
            return Err(SpaceError::ForeignPoint { point: point.to_string() });
        }
        Ok(condition.holds(&Typed { params: &self.params, values: point.values() }))
    }

    /// Whether a condition holds everywhere, nowhere or somewhere in a closed box of the unit cube.
    pub fn verdict(&self, condition: &Expr, lower: &[f64], upper: &[f64]) -> Result<Verdict, SpaceError> {
        self.check_expr(condition)?;
        self.check_box(lower, upper)?;
        Ok(condition.verdict(&self.cube_box(lower, upper)))
    }

    /// Whether a closed box of the unit cube is forbidden everywhere, nowhere or somewhere.
    pub fn forbids(&self, lower: &[f64], upper: &[f64]) -> Result<Verdict, SpaceError> {
        self.check_box(lower, upper)?;
        let over = self.cube_box(lower, upper);
        let mut result = Verdict::Never;
        for expr in &self.forbidden {
            match expr.verdict(&over) {
                Verdict::Always => return Ok(Verdict::Always),
                Verdict::Sometimes => result = Verdict::Sometimes,
                Verdict::Never => {}
            }
        }
        Ok(result)
    }

    /// Whether the point has this space's names and values.
    pub(super) fn owns(&self, point: &Point) -> bool {
        if Arc::ptr_eq(point.names(), &self.names) {
            return true;
        }
        *point.names() == self.names
            && self.params.iter().zip(point.values()).all(|(param, value)| match param.check(value.clone()) {
                Ok(checked) => checked == *value,
                Err(_) => false,
            })
    }

    pub(super) fn coded<'a>(&'a self, u: &'a [f64]) -> Coded<'a> {
        Coded { params: &self.params, starts: &self.starts, u }
    }

    pub(super) fn cube_box<'a>(&'a self, lower: &'a [f64], upper: &'a [f64]) -> CubeBox<'a> {
        CubeBox { params: &self.params, starts: &self.starts, lower, upper }
    }

    pub(super) fn check_box(&self, lower: &[f64], upper: &[f64]) -> Result<(), SpaceError> {
        self.check_cube(lower)?;
        self.check_cube(upper)?;
        match (0..self.dim()).find(|&i| lower[i] > upper[i]) {
            None => Ok(()),
            Some(coordinate) => Err(SpaceError::Box {
                coordinate,
                param: self.names[self.owners[coordinate]].clone(),
                lower: lower[coordinate],
                upper: upper[coordinate],
            }),
        }
    }

    pub(super) fn check_cube(&self, u: &[f64]) -> Result<(), SpaceError> {
        if u.len() != self.dim() {
            return Err(SpaceError::Dimension { expected: self.dim(), found: u.len() });
        }
        match u.iter().position(|x| !(0.0..=1.0).contains(x)) {
            None => Ok(()),
            Some(coordinate) => Err(SpaceError::Coordinate {
                coordinate,
                param: self.names[self.owners[coordinate]].clone(),
                value: u[coordinate],
            }),
        }
    }

    fn check_expr(&self, expr: &Expr) -> Result<(), SpaceError> {
        if expr.belongs_to(&self.params) {
            return Ok(());
        }
        Err(SpaceError::ForeignExpr { source_text: expr.source().clone() })
    }
}

fn limit(what: &'static str, found: usize, limit: usize) -> Result<(), SpaceError> {
    if found > limit { Err(SpaceError::TooMany { what, found, limit }) } else { Ok(()) }
}

/// Checks that modules, and parameters across modules, have names of their own.
fn unique_names(modules: &[Module]) -> Result<BTreeMap<Arc<str>, usize>, SpaceError> {
    let mut seen = BTreeSet::new();
    let mut owners: BTreeMap<&Arc<str>, &Module> = BTreeMap::new();
    let mut by_name = BTreeMap::new();
    for module in modules {
        if !seen.insert(module.name()) {
            return Err(SpaceError::DuplicateModule { name: module.name().clone() });
        }
        for param in module.params() {
            if let Some(first) = owners.insert(param.name(), module) {
                let (first, second) = (first.name().clone(), module.name().clone());
                return Err(SpaceError::DuplicateParam { name: param.name().clone(), first, second });
            }
            by_name.insert(param.name().clone(), by_name.len());
        }
    }
    Ok(by_name)
}
