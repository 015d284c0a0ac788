//! What strategies share: the model and what it is compared with, starting designs, prefixes at hand, prices,
//! random numbers.

pub(crate) mod design;
pub(crate) mod explain;
pub(crate) mod feasibility;
pub(crate) mod fresh;
pub(crate) mod improvement;
pub(crate) mod max_value;
pub(crate) mod model;
pub(crate) mod prefix;
pub(crate) mod price;
pub(crate) mod quantisation;
pub(crate) mod spread;
pub(crate) mod stage_cost;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod warping;
pub(crate) mod wide;
