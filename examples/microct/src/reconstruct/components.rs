//! Connected components (6 neighbours) by runs: stretches of set voxels along x, joined where rows touch.
//!
//! Union-find over runs (Wu, Otoo & Suzuki 2009): the root of a set is its first run in reading order, so that
//! components are numbered by their first voxel.

use super::bits::Bits;
use crate::volume::Size;

/// Set voxels start..end of one row; rows are counted through z, then y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) row: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The runs of a mask in reading order, each with the number of its component from 0.
#[derive(Debug)]
pub(super) struct Components {
    pub(super) size: Size,
    pub(super) runs: Vec<Run>,
    pub(super) component: Vec<usize>,
    pub(super) count: usize,
}

/// The connected components of `mask`.
pub(super) fn components(mask: &Bits) -> Components {
    let size = mask.size();
    let (runs, starts) = runs(mask);
    let mut parent: Vec<usize> = (0..runs.len()).collect();
    for row in 0..size.0 * size.1 {
        if row % size.1 > 0 {
            join(&mut parent, &runs, starts[row - 1]..starts[row], starts[row]..starts[row + 1]);
        }
        if row >= size.1 {
            let above = row - size.1;
            join(&mut parent, &runs, starts[above]..starts[above + 1], starts[row]..starts[row + 1]);
        }
    }
    let mut component = vec![0; runs.len()];
    let mut count = 0;
    for run in 0..runs.len() {
        // A root comes before its members, so its number is known by now.
        let root = find(&mut parent, run);
        component[run] = if root == run { count } else { component[root] };
        count += usize::from(root == run);
    }
    Components { size, runs, component, count }
}

/// The runs of all rows, and where each row's runs start.
fn runs(mask: &Bits) -> (Vec<Run>, Vec<usize>) {
    let mut runs: Vec<Run> = Vec::new();
    let mut starts = vec![0];
    for (row, words) in mask.rows().enumerate() {
        for (i, &word) in words.iter().enumerate() {
            let mut rest = word;
            let mut at = 64 * i;
            while rest != 0 {
                let gap = rest.trailing_zeros() as usize;
                rest >>= gap;
                let length = rest.trailing_ones() as usize;
                let start = at + gap;
                match runs.last_mut() {
                    // A run that reaches the end of a word goes on in the next.
                    Some(last) if last.row == row && last.end == start => last.end = start + length,
                    _ => runs.push(Run { row, start, end: start + length }),
                }
                rest = rest.checked_shr(length as u32).unwrap_or(0);
                at = start + length;
            }
        }
        starts.push(runs.len());
    }
    (runs, starts)
}

/// Joins the runs of two neighbouring rows that share an x.
fn join(parent: &mut [usize], runs: &[Run], one: std::ops::Range<usize>, other: std::ops::Range<usize>) {
    let (mut i, mut j) = (one.start, other.start);
    while i < one.end && j < other.end {
        if runs[i].start < runs[j].end && runs[j].start < runs[i].end {
            let (a, b) = (find(parent, i), find(parent, j));
            parent[a.max(b)] = a.min(b);
        }
        if runs[i].end < runs[j].end { i += 1 } else { j += 1 }
    }
}

/// The root of a run, with the path to it halved.
fn find(parent: &mut [usize], mut run: usize) -> usize {
    while parent[run] != run {
        parent[run] = parent[parent[run]];
        run = parent[run];
    }
    run
}
