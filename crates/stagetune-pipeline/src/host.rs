//! The name of this machine, for records and for names of files that only this machine may remove.

use std::sync::OnceLock;

/// The longest part of a host's name that goes into a file name.
const LONGEST: usize = 40;

/// The name of this machine as it calls itself.
pub fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

/// The same for file names: letters, digits and `-`, with a hash so that different names stay different.
pub fn file_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| file_name_of(name()))
}

/// A host's name for file names.
pub fn file_name_of(host: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let readable: String = host.chars().take(LONGEST).map(plain).collect();
    let hash: String = blake3::hash(host.as_bytes()).to_hex().chars().take(6).collect();
    format!("{readable}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_similar_names_have_different_file_names() {
        let names = ["node.1", "node-1", "NODE-1", "../etc", ""].map(file_name_of);
        for (i, a) in names.iter().enumerate() {
            assert!(a.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{a}");
            assert!(names.iter().skip(i + 1).all(|b| a != b), "{a}");
        }
    }
}
