//! What we believe.
