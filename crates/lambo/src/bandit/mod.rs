//! The module tree and the slowly moving bandit.
