//! Arguments as pairs of a name and a value, each used once.

use crate::Failure;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// What stands on the command line behind the subcommand.
#[derive(Debug)]
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads `--name value` pairs.
    pub fn read(words: impl IntoIterator<Item = String>) -> Result<Self, Failure> {
        let (mut pairs, mut words) = (BTreeMap::new(), words.into_iter());
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| format!("`{word}` is not of the form --name value"))?;
            let value = words.next().ok_or_else(|| format!("--{name} needs a value behind it"))?;
            if pairs.insert(name.to_owned(), value).is_some() {
                return Err(format!("--{name} is given twice").into());
            }
        }
        Ok(Self(pairs))
    }

    /// A value that has to be there.
    pub fn take<T: FromStr>(&mut self, name: &str) -> Result<T, Failure> {
        let text = self.0.remove(name).ok_or_else(|| format!("--{name} is missing"))?;
        text.parse().map_err(|_| format!("--{name} cannot be `{text}`").into())
    }

    /// A value that may be left out.
    pub fn take_or<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, Failure> {
        if self.0.contains_key(name) { self.take(name) } else { Ok(default) }
    }

    /// The directory `--out`, made if it is not there.
    pub fn out(&mut self) -> Result<PathBuf, Failure> {
        let out: PathBuf = self.take("out")?;
        std::fs::create_dir_all(&out).map_err(|error| format!("cannot make {}: {error}", out.display()))?;
        Ok(out)
    }

    /// Refuses what nobody asked for.
    pub fn end(self) -> Result<(), Failure> {
        match self.0.keys().next() {
            Some(name) => Err(format!("there is no --{name} here").into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Arguments, Failure> {
        Arguments::read(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn pairs_are_taken_by_name_and_the_rest_is_refused() {
        let mut arguments = read("--lr 0.5 --hidden 8 --odd 1").unwrap();
        assert_eq!(arguments.take::<f64>("lr").unwrap(), 0.5);
        assert_eq!(arguments.take_or("hidden", 3).unwrap(), 8);
        assert_eq!(arguments.take_or("seed", 1).unwrap(), 1);
        assert_eq!(arguments.take::<f64>("lr").unwrap_err().to_string(), "--lr is missing");
        assert_eq!(arguments.end().unwrap_err().to_string(), "there is no --odd here");
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        for (words, problem) in [
            ("lr 1", "`lr` is not of the form --name value"),
            ("--lr", "--lr needs a value behind it"),
            ("--lr 1 --lr 2", "--lr is given twice"),
        ] {
            assert_eq!(read(words).unwrap_err().to_string(), problem);
        }
        assert_eq!(read("--lr x").unwrap().take::<f64>("lr").unwrap_err().to_string(), "--lr cannot be `x`");
    }
}
