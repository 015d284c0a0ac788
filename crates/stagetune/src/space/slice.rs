//! The values that a box of the unit cube leaves one parameter, to be picked from and halved.

use super::expr::Reaches;
use super::param::Param;
use super::space::Space;

/// The values that a sub-box leaves a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Slice {
    /// Codes of a float.
    Codes(f64, f64),
    /// Numbers of values, both included.
    Indices(u64, u64),
    /// Some of the values of a one-hot choice.
    Set(Vec<u64>),
}

/// One value of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    Code(f64),
    Index(u64),
}

impl Slice {
    /// The value at a position from 0 to 1.
    pub(super) fn pick(&self, t: f64) -> Pick {
        match self {
            Self::Codes(a, b) => Pick::Code((a + t * (b - a)).clamp(*a, *b)),
            Self::Indices(a, b) => Pick::Index(a + ((t * (b - a + 1) as f64) as u64).min(b - a)),
            Self::Set(values) => self.nth((t * values.len() as f64) as u64),
        }
    }

    /// Value number `k` of the slice, or its last one.
    pub(super) fn nth(&self, k: u64) -> Pick {
        match self {
            Self::Codes(a, _) => Pick::Code(*a),
            Self::Indices(a, b) => Pick::Index(a + k.min(b - a)),
            Self::Set(values) => {
                let k = (k as usize).min(values.len().saturating_sub(1));
                Pick::Index(values.get(k).copied().unwrap_or(0))
            }
        }
    }

    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Codes(a, b) => (a == b).then_some(1),
            Self::Indices(a, b) => Some(b - a + 1),
            Self::Set(values) => Some(values.len() as u64),
        }
    }

    pub(super) fn width(&self) -> f64 {
        match self {
            Self::Codes(a, b) => b - a,
            Self::Indices(a, b) => (b - a) as f64,
            Self::Set(values) => values.len().saturating_sub(1) as f64,
        }
    }

    /// Two slices that together cover this one; `None` for a single value.
    pub(super) fn halves(&self) -> Option<(Self, Self)> {
        match self {
            Self::Codes(a, b) if a < b => {
                let middle = a + 0.5 * (b - a);
                let adjacent = middle <= *a || middle >= *b;
                let (left, right) = if adjacent { (*a, *b) } else { (middle, middle) };
                Some((Self::Codes(*a, left), Self::Codes(right, *b)))
            }
            Self::Indices(a, b) if a < b => {
                let middle = a + (b - a) / 2;
                Some((Self::Indices(*a, middle), Self::Indices(middle + 1, *b)))
            }
            Self::Set(values) if values.len() > 1 => {
                let (left, right) = values.split_at(values.len() / 2);
                Some((Self::Set(left.to_vec()), Self::Set(right.to_vec())))
            }
            _ => None,
        }
    }
}

/// The values of parameter `p` whose codes are in the box; if there are none, those that codes of the box decode to.
pub(super) fn slice(space: &Space, p: usize, lower: &[f64], upper: &[f64]) -> Slice {
    let view = space.cube_box(lower, upper);
    let Some((param, lower, upper)) = view.of(p) else { return Slice::Indices(0, 0) };
    match (param.count(), lower, upper) {
        (None, &[a], &[b]) => Slice::Codes(a, b),
        (Some(len), &[a], &[b]) => {
            let (first, last) = (param.grid_index(a), param.grid_index(b));
            let inner_first = first + u64::from(param.grid_code(first) < a);
            let below = param.grid_code(last) <= b;
            match if below { Some(last) } else { last.checked_sub(1) } {
                Some(inner_last) if inner_first <= inner_last && inner_first < len => {
                    Slice::Indices(inner_first, inner_last)
                }
                _ => Slice::Indices(first, last.max(first)),
            }
        }
        (Some(len), _, _) => {
            let exact = |j: u64| {
                (0..lower.len()).all(|i| {
                    let code = f64::from(i as u64 == j);
                    lower[i] <= code && code <= upper[i]
                })
            };
            let values: Vec<u64> = (0..len).filter(|&j| exact(j)).collect();
            if !values.is_empty() {
                return Slice::Set(values);
            }
            Slice::Set((0..len).filter(|&j| view.can_be(p, j as usize)).collect())
        }
        (None, _, _) => Slice::Indices(0, 0),
    }
}

/// Writes a value as coordinates inside the box: its own code if that is inside, else the nearest that decodes to it.
pub(super) fn place(param: &Param, pick: Pick, lower: &[f64], upper: &[f64], u: &mut [f64]) {
    match pick {
        Pick::Code(code) => u.fill(code),
        Pick::Index(index) => {
            param.write_index(index, u);
            let inside = (0..u.len()).all(|i| lower[i] <= u[i] && u[i] <= upper[i]);
            if !inside {
                for i in 0..u.len() {
                    let wanted = !param.is_one_hot() || i as u64 == index;
                    u[i] = if wanted { u[i].clamp(lower[i], upper[i]) } else { lower[i] };
                }
            }
        }
    }
}
