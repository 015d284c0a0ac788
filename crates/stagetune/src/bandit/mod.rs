//! Where to stay: regions of modules, the tree of arms and the slowly moving bandit.
//!
//! A [`Partition`] divides a module into boxes. Every arm of the bandit is a joint choice of one box for each module but the last: the
//! [`Regions`] of a space. The [`Tree`] puts arms that share the
//! regions of early, expensive modules close together; the bandit ([`SlowlyMovingBandit`]) learns which arm is good while it moves
//! far in the tree only rarely. It needs no modules for that: [`Tree::from_levels`] makes any tree.
//!
//! ```
//! use stagetune::bandit::{SlowlyMovingBandit, Tree, draw_signs};
//! use rand::SeedableRng;
//! let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
//! let mut bandit = SlowlyMovingBandit::new(Tree::new(&[2, 2], &[1, 1])?, 1.0)?;
//! for _ in 0..200 {
//!     let arm = bandit.draw(&mut rng);
//!     assert!(arm < 4);
//!     let signs = draw_signs(bandit.tree().height(), &mut rng);
//!     bandit.update(&[0.9, 0.8, 0.1, 0.7], &signs)?;
//! }
//! assert!(bandit.p()[2] > 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod partition;
mod regions;
mod smb;
mod tree;

pub use partition::{Cell, Partition, PartitionError};
pub use regions::{PriorScore, Regions};
pub use smb::{BanditError, Sign, SlowlyMovingBandit, Step, draw_signs, moving_level};
pub use tree::{MAX_ARMS, MAX_HEIGHT, Tree, TreeError};
