//! Which options belong to which name, and how a strategy is made of them.

use serde_json::{Map, Value};

use crate::space::Space;
use crate::strategy::*;

/// The options of a strategy, whichever it is.
macro_rules! kinds {
    ($($kind:ident: $options:ty => $strategy:ty,)*) => {
        // One lives for a moment at a time.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub(super) enum Kind {
            /// It has none.
            Random,
            $($kind($options),)*
        }

        impl Kind {
            /// The strategy with these options.
            pub(super) fn build(self, space: &Space, seed: u64) -> Result<Box<dyn Strategy>, StrategyError> {
                Ok(match self {
                    Self::Random => Box::new(Random::new(seed)),
                    $(Self::$kind(options) => Box::new(<$strategy>::new(space, options, seed)?),)*
                })
            }

            /// The options by name.
            pub(super) fn write(&self) -> serde_json::Result<Value> {
                match self {
                    Self::Random => Ok(Value::Object(Map::new())),
                    $(Self::$kind(options) => serde_json::to_value(options),)*
                }
            }

            /// Options of the same kind, all of them given.
            pub(super) fn read(&self, options: Value) -> serde_json::Result<Self> {
                Ok(match self {
                    Self::Random => Self::Random,
                    $(Self::$kind(_) => Self::$kind(serde_json::from_value(options)?),)*
                })
            }
        }
    };
}

kinds! {
    Auto: AutoOptions => Auto,
    GpUcb: GpUcbOptions => GpUcb,
    GpEi: GpEiOptions => GpEi,
    Mes: GpMesOptions => GpMes,
    Eipu: EipuOptions => Eipu,
    EipuPrefix: EipuPrefixOptions => EipuPrefix,
    Carbo: CarboOptions => Carbo,
    CaMobo: CaMoboOptions => CaMobo,
    Eeipu: EeipuOptions => Eeipu,
    SwitchEipu: SwitchEipuOptions => SwitchEipu,
    Pbgi: PbgiOptions => Pbgi,
    Thompson: ThompsonOptions => Thompson,
    Lambo: LamboOptions => Lambo,
}

impl Kind {
    /// The default options under a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto(AutoOptions::default()),
            "random" => Self::Random,
            "gp-ucb" => Self::GpUcb(GpUcbOptions::default()),
            "gp-ei" => Self::GpEi(GpEiOptions::default()),
            "mes" => Self::Mes(GpMesOptions::default()),
            "eipu" => Self::Eipu(EipuOptions::default()),
            "eipu-prefix" => Self::EipuPrefix(EipuPrefixOptions::default()),
            "carbo" => Self::Carbo(CarboOptions::default()),
            "ca-mobo" => Self::CaMobo(CaMoboOptions::default()),
            "eeipu" => Self::Eeipu(EeipuOptions::default()),
            "switch-eipu" => Self::SwitchEipu(SwitchEipuOptions::default()),
            "switch-eipu-ahead" => Self::SwitchEipu(SwitchEipuOptions::ahead()),
            "pbgi" => Self::Pbgi(PbgiOptions::default()),
            "pbgi-fixed" => Self::Pbgi(PbgiOptions::fixed()),
            "ts" => Self::Thompson(ThompsonOptions::default()),
            "lambo" => Self::Lambo(LamboOptions::default()),
            "lambo-paper" => Self::Lambo(LamboOptions::paper()),
            _ => return None,
        })
    }
}
