//! How many points a space holds that no forbidden region does.

use std::collections::BTreeSet;

use super::param::Param;
use super::space::{Axis, Space};

/// Operations of conditions that counting may take, about a hundredth of a second.
const MAX_OPERATIONS: u64 = 1_000_000;

impl Space {
    /// How many points are allowed, exactly; `None` where they are more than `most`, without end, or too many to look at one by one.
    ///
    /// ```
    /// use stagetune::space::{Module, Param, Space};
    /// # fn main() -> Result<(), stagetune::space::SpaceError> {
    /// let module = Module::new("only", [Param::int("size", 1, 5)?, Param::bool("deep")?])?;
    /// let space = Space::new([module.forbid("deep and size < 3")?])?;
    /// assert_eq!(space.count_allowed(100), Some(8));
    /// assert_eq!(space.count_allowed(7), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn count_allowed(&self, most: u64) -> Option<u64> {
        let counts: Vec<u64> = self.params().iter().map(Param::count).collect::<Option<_>>()?;
        let involved: BTreeSet<usize> = self.forbidden().iter().flat_map(|e| e.params()).copied().collect();
        let product = |is_wanted: &dyn Fn(usize) -> bool| {
            let wanted = counts.iter().enumerate().filter(|(p, _)| is_wanted(*p));
            wanted.map(|(_, count)| *count).try_fold(1u64, u64::checked_mul)
        };
        // What no condition speaks of can be anything at every allowed combination of the others.
        let free = product(&|p| !involved.contains(&p))?;
        let combinations = product(&|p| involved.contains(&p))?;
        let size = self.forbidden().iter().map(|expr| expr.size()).sum::<usize>() + self.dim();
        if free > most || combinations.checked_mul(size as u64)? > MAX_OPERATIONS {
            return None;
        }
        let allowed =
            (0..combinations).filter(|&k| self.allows_coded(&self.combination(k, &involved, &counts)));
        let total = free.checked_mul(allowed.count() as u64)?;
        (total <= most).then_some(total)
    }

    /// Combination number `k` of these parameters as a point of the unit cube, the others at their first value.
    fn combination(&self, k: u64, involved: &BTreeSet<usize>, counts: &[u64]) -> Vec<f64> {
        let mut rest = k;
        let mut u = vec![0.0; self.dim()];
        for (p, count) in counts.iter().enumerate() {
            let mut index = 0;
            if involved.contains(&p) {
                (index, rest) = (rest % count, rest / count);
            }
            let start = self.param_coordinates(p).start;
            let (place, code) = match self.axes().get(start) {
                Some(Axis::OneHot { first, .. }) => (first.saturating_add(index as usize), 1.0),
                _ => (start, self.grid_code(start, index).unwrap_or(0.0)),
            };
            if let Some(coordinate) = u.get_mut(place) {
                *coordinate = code;
            }
        }
        u
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Module;

    fn space(conditions: &[&str]) -> Space {
        let module = Module::new(
            "only",
            [
                Param::int("i", 0, 8).unwrap().step(2).unwrap(),
                Param::choice("c", ["a", "b", "c"]).unwrap(),
                Param::bool("x").unwrap(),
            ],
        );
        let module = conditions.iter().fold(module.unwrap(), |module, text| module.forbid(text).unwrap());
        Space::new([module]).unwrap()
    }

    #[test]
    fn what_is_forbidden_is_not_counted() {
        assert_eq!(space(&[]).count_allowed(30), Some(30));
        assert_eq!(space(&["x"]).count_allowed(30), Some(15));
        assert_eq!(space(&["c == \"b\" and i > 3"]).count_allowed(30), Some(24));
        assert_eq!(space(&["x", "c == \"b\" and i > 3", "i == 0"]).count_allowed(30), Some(9));
        let joint = space(&["i > 0"]).forbid("x and c == \"a\"").unwrap();
        assert_eq!(joint.count_allowed(30), Some(5));
    }

    #[test]
    fn nobody_counts_what_is_without_end_or_too_much() {
        let counted = |params: Vec<Param>| {
            Space::new([Module::new("only", params).unwrap()]).unwrap().count_allowed(10_000)
        };
        assert_eq!(counted(vec![Param::float("f", 0.0, 1.0).unwrap(), Param::bool("x").unwrap()]), None);
        assert_eq!(counted(vec![Param::int("i", 1, 10_000).unwrap()]), Some(10_000));
        assert_eq!(counted(vec![Param::int("i", 0, 10_000).unwrap()]), None);
        let many = (0..70).map(|i| Param::bool(&format!("b{i}")).unwrap());
        assert_eq!(counted(many.collect()), None);
        let wide = Module::new("only", [Param::int("i", 0, 1 << 40).unwrap()]).unwrap();
        assert_eq!(Space::new([wide.forbid("i > 3").unwrap()]).unwrap().count_allowed(10), None);
    }
}
