//! Which module needs the output of which: a chain, or any graph in which modules come after those they need.
//!
//! ```text
//! k feeds m   k = m, or k is needed by a module that feeds m, directly or not
//! ```

use super::space::{Space, SpaceError};
use super::stage_set::StageSet;

/// Which module needs the output of which.
///
/// Two wirings are equal when the same modules feed the same modules, however that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wiring {
    /// Every module needs the one before it.
    #[default]
    Chain,
    /// Every module needs some of those before it.
    Graph(Graph),
}

/// A directed acyclic graph of modules that is not a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// For each module those before it that feed it.
    upstream: Vec<StageSet>,
}

impl Wiring {
    /// Whether module `m` must run when module `k` has changed; a module feeds itself.
    pub fn feeds(&self, k: usize, m: usize) -> bool {
        match self {
            Self::Chain => k <= m,
            Self::Graph(graph) => k == m || graph.feeds(k, m),
        }
    }

    /// The modules that `m` needs and that feed no other module that it needs: the fewest that say all.
    pub fn needs(&self, m: usize) -> Vec<usize> {
        match self {
            Self::Chain => m.checked_sub(1).into_iter().collect(),
            Self::Graph(graph) => {
                let direct = |k: usize| !(k + 1..m).any(|j| graph.feeds(k, j) && graph.feeds(j, m));
                (0..m).filter(|&k| graph.feeds(k, m) && direct(k)).collect()
            }
        }
    }
}

impl Graph {
    fn feeds(&self, k: usize, m: usize) -> bool {
        self.upstream.get(m).is_some_and(|feeding| feeding.contains(k))
    }
}

impl Space {
    /// The same space where module `m` needs the outputs of the modules `after[m]`, all before it, and of those that they need.
    pub fn wired(self, after: &[Vec<usize>]) -> Result<Self, SpaceError> {
        let modules = self.modules();
        if after.len() != modules.len() {
            return Err(SpaceError::WiringLength { modules: modules.len(), found: after.len() });
        }
        let mut upstream: Vec<StageSet> = Vec::with_capacity(after.len());
        for (m, (needs, module)) in after.iter().zip(modules).enumerate() {
            let mut feeding = StageSet::empty();
            for &k in needs {
                let Some(above) = upstream.get(k) else {
                    return Err(SpaceError::WiringOrder {
                        module: module.name().clone(),
                        number: m,
                        needs: k,
                    });
                };
                feeding = feeding.union(above);
                feeding.insert(k);
            }
            upstream.push(feeding);
        }
        let chain = upstream.iter().enumerate().all(|(m, feeding)| *feeding == StageSet::first(m));
        let wiring = if chain { Wiring::Chain } else { Wiring::Graph(Graph { upstream }) };
        let mut space = self;
        space.wiring = wiring;
        Ok(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param};

    fn space(modules: usize) -> Space {
        let module = |m: usize| Module::new(&format!("m{m}"), [Param::bool(&format!("x{m}")).unwrap()]);
        Space::new((0..modules).map(|m| module(m).unwrap())).unwrap()
    }

    fn wired(after: &[&[usize]]) -> Result<Space, SpaceError> {
        space(after.len()).wired(&after.iter().map(|needs| needs.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn two_branches_feed_what_joins_them_and_not_each_other() {
        let space = wired(&[&[], &[0], &[0], &[1, 2]]).unwrap();
        let fed = |k: usize| (0..4).filter(|&m| space.wiring().feeds(k, m)).collect::<Vec<_>>();
        assert_eq!([fed(0), fed(1), fed(2), fed(3)], [vec![0, 1, 2, 3], vec![1, 3], vec![2, 3], vec![3]]);
        assert_eq!(space.wiring().needs(3), [1, 2]);
        assert!(!space.wiring().feeds(0, 9));
    }

    #[test]
    fn a_chain_is_a_chain_however_it_is_said() {
        for after in [&[&[][..], &[0], &[1]][..], &[&[], &[0], &[0, 1]], &[&[], &[0, 0], &[1, 0, 1]]] {
            assert_eq!(wired(after).unwrap().wiring(), &Wiring::Chain);
        }
        assert_eq!(Wiring::Chain.needs(2), [1]);
        assert!(Wiring::Chain.needs(0).is_empty());
    }

    #[test]
    fn graphs_are_equal_when_the_same_modules_feed_the_same() {
        let said = wired(&[&[], &[], &[0], &[0, 2]]).unwrap();
        let shorter = wired(&[&[], &[], &[0], &[2]]).unwrap();
        assert_eq!(said.wiring(), shorter.wiring());
        assert_eq!(said.wiring().needs(3), [2]);
    }

    #[test]
    fn modules_come_after_those_that_they_need() {
        let error = wired(&[&[], &[1]]).unwrap_err().to_string();
        assert_eq!(
            error,
            "module `m1` (number 1, counted from 0) cannot need module number 1; put what it needs before it"
        );
        assert!(matches!(
            wired(&[&[usize::MAX], &[]]),
            Err(SpaceError::WiringOrder { number: 0, needs: usize::MAX, .. })
        ));
        let error = space(2).wired(&[vec![]]).unwrap_err().to_string();
        assert_eq!(error, "there are 2 modules but 1 lists of what they need; give one for each");
    }
}
