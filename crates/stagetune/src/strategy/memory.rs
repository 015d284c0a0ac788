//! What a proposal remembers for its strategy.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StrategyError;

/// A value of a strategy's own type, as JSON: what its state cannot be worked out without when the proposal
/// is accepted.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stagetune::strategy::Memory;
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Price {
///     lambda: f64,
/// }
/// # fn main() -> Result<(), stagetune::strategy::StrategyError> {
/// let memory = Memory::of(&Price { lambda: 0.05 })?;
/// assert_eq!(memory.read::<Price>(), Ok(Price { lambda: 0.05 }));
/// assert!(Memory::of(&Price { lambda: f64::NAN }).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memory(Value);

impl Memory {
    /// Of a value that reads back as it is; refused where it holds a NaN or an infinity, which JSON has no
    /// word for.
    pub fn of<T: Serialize + DeserializeOwned + PartialEq>(value: &T) -> Result<Self, StrategyError> {
        let written = serde_json::to_value(value);
        let memory = Self(written.map_err(|error| StrategyError::Unwritable { problem: error.to_string() })?);
        match memory.read::<T>() {
            Ok(read) if read == *value => Ok(memory),
            Ok(_) => {
                let problem = format!("it would read back as another value, {}", memory.0);
                Err(StrategyError::Unwritable { problem })
            }
            Err(problem) => Err(StrategyError::Unwritable { problem }),
        }
    }

    /// The value, or in words why this is none of the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_value(self.0.clone()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Numbers {
        one: Option<f64>,
        many: Vec<f64>,
    }

    #[test]
    fn numbers_come_back_bit_for_bit_through_text() {
        let numbers = Numbers { one: Some(0.1 + 0.2), many: vec![5e-324, -0.0, f64::MAX] };
        let text = serde_json::to_string(&Memory::of(&numbers).unwrap()).unwrap();
        let read: Numbers = serde_json::from_str::<Memory>(&text).unwrap().read().unwrap();
        let bits = |numbers: &Numbers| numbers.many.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!((read.one, bits(&read)), (numbers.one, bits(&numbers)));
    }

    #[test]
    fn what_json_cannot_hold_is_refused_and_not_forgotten() {
        for lost in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
            assert!(Memory::of(&Numbers { one: Some(lost), many: vec![] }).is_err());
            assert!(Memory::of(&Numbers { one: None, many: vec![1.0, lost] }).is_err());
        }
    }

    #[test]
    fn garbage_is_an_error_in_words() {
        for text in ["null", "3", "\"x\"", "[]", "{\"one\":1,\"many\":[],\"more\":2}", "{\"many\":3}"] {
            let memory: Memory = serde_json::from_str(text).unwrap();
            assert!(!memory.read::<Numbers>().unwrap_err().is_empty(), "{text}");
        }
    }
}
