//! The time of day, as seconds since 1970.

use std::time::SystemTime;

/// Now; 0 on a machine whose clock stands before 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
