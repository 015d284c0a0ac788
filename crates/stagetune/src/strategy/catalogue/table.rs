//! The table of all strategies, in the order in which they are shown.

use crate::strategy::descriptor::Descriptor;
use crate::strategy::rivals::{
    ca_mobo, carbo, eeipu, eipu, eipu_prefix, gp_ei, gp_mes, gp_ucb, pbgi, random, switch_eipu, thompson,
};
use crate::strategy::{auto, lambo};

/// All strategies.
pub(super) const TABLE: &[Descriptor] = &[
    auto::DESCRIPTOR,
    random::DESCRIPTOR,
    gp_ucb::DESCRIPTOR,
    gp_ei::DESCRIPTOR,
    gp_mes::DESCRIPTOR,
    eipu::DESCRIPTOR,
    eipu_prefix::DESCRIPTOR,
    carbo::DESCRIPTOR,
    ca_mobo::DESCRIPTOR,
    eeipu::DESCRIPTOR,
    switch_eipu::DESCRIPTOR,
    switch_eipu::AHEAD,
    pbgi::DESCRIPTOR,
    pbgi::FIXED,
    thompson::DESCRIPTOR,
    lambo::DESCRIPTOR,
    lambo::PAPER,
];

/// Their names.
pub(super) const fn names<const N: usize>() -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = TABLE[i].name;
        i += 1;
    }
    names
}
