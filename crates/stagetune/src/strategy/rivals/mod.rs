//! The rivals: published and simple rules that LaMBO and `auto` are compared with, a file for each. None uses
//! another.

pub(super) mod ca_mobo;
pub(super) mod carbo;
pub(super) mod eeipu;
pub(super) mod eipu;
pub(super) mod eipu_prefix;
pub(super) mod gp_ei;
pub(super) mod gp_mes;
pub(super) mod gp_ucb;
pub(super) mod pbgi;
pub(super) mod random;
pub(super) mod switch_eipu;
pub(super) mod thompson;

pub use ca_mobo::{CaMobo, CaMoboOptions, Scalarisation};
pub use carbo::{Carbo, CarboOptions};
pub use eeipu::{Eeipu, EeipuOptions};
pub use eipu::{Eipu, EipuOptions};
pub use eipu_prefix::{EipuPrefix, EipuPrefixOptions};
pub use gp_ei::{GpEi, GpEiOptions};
pub use gp_mes::{GpMes, GpMesOptions};
pub use gp_ucb::{GpUcb, GpUcbOptions};
pub use pbgi::{Pbgi, PbgiOptions};
pub use random::Random;
pub use switch_eipu::{SwitchEipu, SwitchEipuOptions};
pub use thompson::{Thompson, ThompsonOptions};
