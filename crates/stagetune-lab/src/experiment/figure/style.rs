//! Lines that can be told apart, also by readers who do not see all colours: eight colours by Okabe and Ito, then the same with dashes.

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Hexadecimal.
    pub colour: &'static str,
    dashes: &'static str,
    width: f64,
}

/// Okabe and Ito, *Color universal design*, 2008, with grey in place of their yellow, which vanishes on white.
const COLOURS: [&str; 8] =
    ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c8c"];

const DASHES: [&str; 3] = ["", "7 3", "2 3"];

/// Strategies that look the same in every figure, in the order of their looks.
const KNOWN: [&str; 22] = [
    "lambo",
    "gp-ei",
    "eipu-prefix",
    "mes",
    "carbo",
    "eeipu",
    "gp-ucb",
    "random",
    "lambo-paper",
    "pbgi",
    "switch-eipu",
    "ts",
    "eipu",
    "switch-eipu-ahead",
    "ca-mobo",
    "pbgi-fixed",
    "lambo-nested",
    "optuna-tpe",
    "optuna-gp",
    "botorch-logei",
    "smac3",
    "auto",
];

/// What labels of versions end with: a version looks like its strategy.
const VERSIONS: [&str; 4] = ["-paper", "-modern", "-nested", "-own"];

/// A style for each label.
pub fn styles(labels: &[&str]) -> Vec<Style> {
    let mut strangers = KNOWN.len();
    let mut taken: Vec<usize> = labels.iter().filter_map(|label| place(label)).collect();
    labels
        .iter()
        .map(|label| {
            let version = VERSIONS.iter().find_map(|version| label.strip_suffix(version));
            let free = version.and_then(place).filter(|place| !taken.contains(place));
            let place = place(label).or(free).unwrap_or_else(|| {
                strangers += 1;
                strangers - 1
            });
            taken.push(place);
            let round = (place / COLOURS.len()) % DASHES.len();
            let width = if label.starts_with("lambo") { 2.6 } else { 1.7 };
            Style { colour: COLOURS[place % COLOURS.len()], dashes: DASHES[round], width }
        })
        .collect()
}

fn place(label: &str) -> Option<usize> {
    KNOWN.iter().position(|known| *known == label)
}

impl Style {
    /// As attributes of a path.
    pub fn stroke(&self) -> String {
        let dashes = if self.dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{}\"", self.dashes)
        };
        format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dashes}",
            self.colour, self.width
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_looks_like_its_strategy_unless_both_are_shown() {
        let [alone, plain] = [styles(&["pbgi-nested"])[0], styles(&["pbgi"])[0]];
        assert_eq!(alone, plain);
        let both = styles(&["pbgi-nested", "pbgi"]);
        assert_eq!(both[1], plain);
        assert_ne!(both[0], plain);
    }

    #[test]
    fn no_two_of_twenty_four_lines_look_alike() {
        let mut labels = KNOWN.to_vec();
        labels.extend(["a", "b"]);
        let styles = styles(&labels);
        for (i, a) in styles.iter().enumerate() {
            assert!(
                styles[i + 1..].iter().all(|b| (a.colour, a.dashes) != (b.colour, b.dashes)),
                "{}",
                labels[i]
            );
        }
    }
}
