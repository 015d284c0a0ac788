//! Whether forbidden regions leave anything, and a point that they leave.
//!
//! Three tries, cheapest first, over the parameters that the conditions speak of: fixed points spread over the box; all
//! combinations, if they are few; then branch and bound, which discards a sub-box once interval arithmetic shows that a
//! condition holds in all of it, accepts one in which none holds anywhere, and halves the others. The first half of its
//! boxes is taken in the order they came (wide search), the second half latest first (down to single doubles), so that
//! both large and thin allowed parts are found. Nothing here is random: the same question has the same answer.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::expr::{Assignment, Interval, Reaches, Verdict};
use super::param::{Domain, Param};
use super::slice::{Pick, Slice, place, slice};
use super::space::{Space, SpaceError};

/// Fixed points tried first, half of them with coordinates moved to the ends of the box.
const SAMPLES: u64 = 128;

/// Spaces with at most this many combinations are enumerated.
const MAX_COMBINATIONS: u64 = 1 << 16;

/// Boxes that branch and bound looks at before it gives up.
const MAX_BOXES: usize = 20_000;

/// Operations of conditions that a search may evaluate, about a tenth of a second.
const MAX_OPERATIONS: usize = 10_000_000;

/// Why no allowed point can be given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// Proven: the conditions cover everything.
    #[error("nothing is left to try: {} {} every point; loosen or remove one", quoted(.conditions), forbids(.conditions))]
    NothingAllowed {
        /// The conditions that together leave nothing.
        conditions: Vec<Arc<str>>,
    },
    /// No allowed point was found within the work that a search may do.
    #[error(
        "found no allowed point in {boxes} sub-boxes: {} may forbid all, or all but too thin a set; loosen one",
        quoted(.conditions)
    )]
    NoneFound {
        /// The conditions that ruled out the points tried.
        conditions: Vec<Arc<str>>,
        /// How many boxes were looked at.
        boxes: usize,
    },
}

impl Space {
    /// A point of the box that no forbidden region holds: the first that a fixed search finds, in bounded time.
    ///
    /// Coordinates where `lower` equals `upper` are frozen. Ints, bools and choices take values whose codes are in the
    /// box, where it has any.
    pub fn find_allowed(&self, lower: &[f64], upper: &[f64]) -> Result<Vec<f64>, SpaceError> {
        self.check_box(lower, upper)?;
        let search = Search::new(self, lower, upper);
        match search.run() {
            Ok(picks) => Ok(search.coordinates(&picks)),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn check_something_allowed(&self) -> Result<(), SpaceError> {
        let (lower, upper) = (vec![0.0; self.dim()], vec![1.0; self.dim()]);
        self.find_allowed(&lower, &upper).map(|_| ())
    }
}

/// A question: which of the points of this box are allowed?
struct Search<'a> {
    space: &'a Space,
    lower: &'a [f64],
    upper: &'a [f64],
    /// The parameters that conditions speak of, rising; the others can be anything.
    involved: Vec<usize>,
    root: Vec<Slice>,
    /// Operations that evaluating all conditions once takes.
    effort: usize,
}

/// What a search has spent and learnt.
#[derive(Default)]
struct Ledger {
    operations: usize,
    blamed: BTreeSet<usize>,
}

impl<'a> Search<'a> {
    fn new(space: &'a Space, lower: &'a [f64], upper: &'a [f64]) -> Self {
        let involved: BTreeSet<usize> =
            space.forbidden().iter().flat_map(|expr| expr.params()).copied().collect();
        let involved: Vec<usize> = involved.into_iter().collect();
        let root = involved.iter().map(|&p| slice(space, p, lower, upper)).collect();
        let effort = space.forbidden().iter().map(|expr| expr.size()).sum::<usize>().max(1);
        Self { space, lower, upper, involved, root, effort }
    }

    /// The first allowed combination of the involved parameters.
    fn run(&self) -> Result<Vec<Pick>, RegionError> {
        let mut ledger = Ledger::default();
        let sampled = (0..SAMPLES).map(|k| self.sample(k)).find(|picks| self.allowed(picks, &mut ledger));
        if let Some(picks) = sampled {
            return Ok(picks);
        }
        match self.combinations() {
            Some(total) => self.enumerate(total, &mut ledger),
            None => self.branch(&mut ledger),
        }
    }

    /// Fixed point number `k`: the middle, the two ends, then well-mixed positions.
    fn sample(&self, k: u64) -> Vec<Pick> {
        let position = |j: usize| match k {
            0 => 0.5,
            1 => 0.0,
            2 => 1.0,
            _ => {
                let t = mixed(k, j as u64);
                // Allowed parts often touch the ends of the ranges.
                if k % 2 == 1 { ((t - 0.5) * 2.0 + 0.5).clamp(0.0, 1.0) } else { t }
            }
        };
        self.root.iter().enumerate().map(|(j, slice)| slice.pick(position(j))).collect()
    }

    /// How many combinations there are, if they are few enough to try all.
    fn combinations(&self) -> Option<u64> {
        let total = self.root.iter().try_fold(1_u64, |total, slice| total.checked_mul(slice.count()?))?;
        let work = usize::try_from(total).ok()?.checked_mul(self.effort)?;
        (total <= MAX_COMBINATIONS && work <= MAX_OPERATIONS).then_some(total)
    }

    fn enumerate(&self, total: u64, ledger: &mut Ledger) -> Result<Vec<Pick>, RegionError> {
        for mut number in 0..total {
            let picks: Vec<Pick> = self
                .root
                .iter()
                .map(|slice| {
                    let count = slice.count().unwrap_or(1).max(1);
                    let pick = slice.nth(number % count);
                    number /= count;
                    pick
                })
                .collect();
            if self.allowed(&picks, ledger) {
                return Ok(picks);
            }
        }
        Err(RegionError::NothingAllowed { conditions: self.blamed(ledger) })
    }

    fn branch(&self, ledger: &mut Ledger) -> Result<Vec<Pick>, RegionError> {
        let mut queue = VecDeque::from([self.root.clone()]);
        let mut boxes = 0;
        while let Some(slices) = if boxes < MAX_BOXES / 2 { queue.pop_front() } else { queue.pop_back() } {
            if boxes == MAX_BOXES || ledger.operations > MAX_OPERATIONS {
                return Err(RegionError::NoneFound { conditions: self.blamed(ledger), boxes });
            }
            boxes += 1;
            let Some(doubtful) = self.doubtful(&slices, ledger) else { continue };
            for position in [0.5, 0.0, 1.0] {
                let picks: Vec<Pick> = slices.iter().map(|slice| slice.pick(position)).collect();
                if self.allowed(&picks, ledger) {
                    return Ok(picks);
                }
            }
            let width = |&j: &usize| slices[j].width() / self.root[j].width().max(f64::MIN_POSITIVE);
            let split = doubtful
                .into_iter()
                .filter(|&j| slices[j].halves().is_some())
                .max_by(|a, b| width(a).total_cmp(&width(b)));
            // A box of one point was tried above.
            let Some(j) = split else { continue };
            if let Some((left, right)) = slices[j].halves() {
                for half in [left, right] {
                    let mut child = slices.clone();
                    child[j] = half;
                    queue.push_back(child);
                }
            }
        }
        Err(RegionError::NothingAllowed { conditions: self.blamed(ledger) })
    }

    /// Which slices the undecided conditions speak of; `None` if a condition holds in the whole box.
    fn doubtful(&self, slices: &[Slice], ledger: &mut Ledger) -> Option<Vec<usize>> {
        let view = View { search: self, slices };
        let mut params = BTreeSet::new();
        ledger.operations += self.effort;
        for (e, expr) in self.space.forbidden().iter().enumerate() {
            match expr.verdict(&view) {
                Verdict::Always => {
                    ledger.blamed.insert(e);
                    return None;
                }
                Verdict::Sometimes => params.extend(expr.params()),
                Verdict::Never => {}
            }
        }
        Some(params.into_iter().filter_map(|p| self.involved.binary_search(&p).ok()).collect())
    }

    fn allowed(&self, picks: &[Pick], ledger: &mut Ledger) -> bool {
        ledger.operations += self.effort;
        let at = Picked { search: self, picks };
        match self.space.forbidden().iter().position(|expr| expr.holds(&at)) {
            Some(e) => {
                ledger.blamed.insert(e);
                false
            }
            None => true,
        }
    }

    /// The conditions that ruled something out; only one of them if that rules out everything.
    fn blamed(&self, ledger: &Ledger) -> Vec<Arc<str>> {
        let forbidden = self.space.forbidden();
        let view = View { search: self, slices: &self.root };
        let alone = forbidden.iter().find(|expr| expr.verdict(&view) == Verdict::Always);
        match alone {
            Some(expr) => vec![expr.source().clone()],
            None => ledger.blamed.iter().filter_map(|&e| Some(forbidden.get(e)?.source().clone())).collect(),
        }
    }

    /// The point of the cube with these values, and any value of the box for the other parameters.
    fn coordinates(&self, picks: &[Pick]) -> Vec<f64> {
        let mut u = vec![0.0; self.space.dim()];
        for (p, param) in self.space.params().iter().enumerate() {
            let range = self.space.param_coordinates(p);
            let (lower, upper) = (&self.lower[range.clone()], &self.upper[range.clone()]);
            let pick = match self.involved.binary_search(&p) {
                Ok(j) => picks[j],
                Err(_) => slice(self.space, p, self.lower, self.upper).pick(0.5),
            };
            place(param, pick, lower, upper, &mut u[range]);
        }
        u
    }
}

/// A sub-box of a search, read by parameter.
struct View<'a> {
    search: &'a Search<'a>,
    slices: &'a [Slice],
}

impl Reaches for View<'_> {
    fn number(&self, param: usize) -> Interval {
        let slice = self.search.involved.binary_search(&param).ok().and_then(|j| self.slices.get(j));
        match (self.search.space.params().get(param).map(Param::domain), slice) {
            (Some(Domain::Float(range)), Some(Slice::Codes(a, b))) => {
                let (low, high) = range.reach(*a, *b);
                Interval::new(low, high)
            }
            (Some(Domain::Int(range)), Some(Slice::Indices(a, b))) => {
                Interval::new(range.value(*a) as f64, range.value(*b) as f64)
            }
            _ => Interval::LINE,
        }
    }

    fn can_be(&self, param: usize, index: usize) -> bool {
        let slice = self.search.involved.binary_search(&param).ok().and_then(|j| self.slices.get(j));
        let index = index as u64;
        match slice {
            Some(Slice::Indices(a, b)) => *a <= index && index <= *b,
            Some(Slice::Set(values)) => values.contains(&index),
            _ => true,
        }
    }
}

/// One point of a search, read by parameter.
struct Picked<'a> {
    search: &'a Search<'a>,
    picks: &'a [Pick],
}

impl Picked<'_> {
    fn pick(&self, param: usize) -> Option<Pick> {
        self.search.involved.binary_search(&param).ok().and_then(|j| self.picks.get(j)).copied()
    }
}

impl Assignment for Picked<'_> {
    fn number(&self, param: usize) -> f64 {
        match (self.search.space.params().get(param).map(Param::domain), self.pick(param)) {
            (Some(Domain::Float(range)), Some(Pick::Code(u))) => range.decode(u),
            (Some(Domain::Int(range)), Some(Pick::Index(i))) => range.value(i) as f64,
            _ => f64::NAN,
        }
    }

    fn index(&self, param: usize) -> usize {
        match self.pick(param) {
            Some(Pick::Index(i)) => i as usize,
            _ => 0,
        }
    }
}

/// A position in [0, 1) from two numbers, by the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(k: u64, j: u64) -> f64 {
    let mut z = k.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(j.wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    // The upper 53 bits are a whole number of 2⁻⁵³.
    ((z ^ (z >> 31)) >> 11) as f64 * (0.5 * f64::EPSILON)
}

fn quoted(conditions: &[Arc<str>]) -> String {
    let shown: Vec<String> = conditions.iter().take(5).map(|condition| format!("`{condition}`")).collect();
    let rest = conditions.len().saturating_sub(shown.len());
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(" and "))
}

fn forbids(conditions: &[Arc<str>]) -> &'static str {
    if conditions.len() == 1 { "forbids" } else { "together forbid" }
}
