//! A space as text: equal texts mean that the trials of one study are trials of the other.

use std::fmt::Write;

use crate::space::{Cost, Domain, Param, Space, Wiring};

/// One line for each module, parameter, cut and forbidden region; in a graph also for what each module needs.
pub(super) fn fingerprint(space: &Space) -> String {
    let mut lines = Vec::new();
    for (m, module) in space.modules().iter().enumerate() {
        let cost = match module.cost_kind() {
            Cost::Given(cost) => format!("{cost:?}"),
            Cost::Measured => "measured".into(),
            Cost::Unknown => "unknown".into(),
        };
        lines.push(format!("module {}, cost {cost}", module.name()));
        lines.extend(after(space, m));
        lines.extend(module.params().iter().map(param));
        lines.extend(space.cuts(m).iter().map(|cut| format!("cut {cut}")));
    }
    lines.extend(space.forbidden().iter().map(|condition| format!("forbid {}", condition.source().trim())));
    lines.join("\n")
}

/// The first line of each text that the other does not have in its place.
pub(super) fn first_difference(a: &str, b: &str) -> (String, String) {
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        let (a, b) = (a.next(), b.next());
        if a != b || a.is_none() {
            let line = |line: Option<&str>| line.map_or("at its end".into(), |line| format!("`{line}`"));
            return (line(a), line(b));
        }
    }
}

/// What a module of a graph needs; chains say nothing, as they did before there were graphs.
fn after(space: &Space, m: usize) -> Option<String> {
    if *space.wiring() == Wiring::Chain {
        return None;
    }
    let name = |k: usize| space.modules().get(k).map(|module| module.name().to_string());
    let needs: Vec<String> = space.wiring().needs(m).into_iter().filter_map(name).collect();
    Some(if needs.is_empty() { "after nothing".into() } else { format!("after {}", needs.join(" ")) })
}

fn param(param: &Param) -> String {
    let name = param.name();
    match param.domain() {
        Domain::Float(range) => {
            format!("param {name}, float {:?} to {:?}{}", range.low(), range.high(), log(range.is_log()))
        }
        Domain::Int(range) => {
            let (low, high, step) = (range.low(), range.high(), range.step());
            format!("param {name}, int {low} to {high} step {step}{}", log(range.is_log()))
        }
        Domain::Choice(values) => {
            let mut text = format!("param {name}, choice");
            for value in values.iter() {
                // Writing to a string cannot fail.
                let _ = write!(text, " {value:?}");
            }
            text
        }
        Domain::Bool => format!("param {name}, bool"),
    }
}

fn log(is_log: bool) -> &'static str {
    if is_log { " log" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Module;

    fn space(high: f64) -> Space {
        let first = Module::new("load", [Param::float("x", 0.5, high).unwrap().log().unwrap()]).unwrap();
        let second = [Param::int("n", 2, 14).unwrap().step(2).unwrap(), Param::bool("b").unwrap()];
        let second = Module::new("fit", second).unwrap().cost(Cost::Given(0.1)).unwrap();
        let third = Module::new("score", [Param::choice("c", ["a", "b c"]).unwrap()]).unwrap();
        let third = third.cost(Cost::Measured).unwrap();
        let second = second.cut("n", [8.0]).unwrap().forbid("n > 10 and b").unwrap();
        Space::new([first, second, third]).unwrap().forbid("x > 1 and n < 4").unwrap()
    }

    #[test]
    fn it_says_all_that_makes_two_spaces_different() {
        let expected = [
            "module load, cost unknown",
            "param x, float 0.5 to 2.0 log",
            "module fit, cost 0.1",
            "param n, int 2 to 14 step 2",
            "param b, bool",
            "cut n < 8",
            "module score, cost measured",
            "param c, choice \"a\" \"b c\"",
            "forbid n > 10 and b",
            "forbid x > 1 and n < 4",
        ];
        assert_eq!(fingerprint(&space(2.0)).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_graph_says_what_each_module_needs_and_a_chain_does_not() {
        let graph = space(2.0).wired(&[vec![], vec![], vec![0, 1]]).unwrap();
        let text = fingerprint(&graph);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("after")).collect();
        assert_eq!(lines, ["after nothing", "after nothing", "after load fit"]);
        let chain = space(2.0).wired(&[vec![], vec![0], vec![1]]).unwrap();
        assert_eq!(fingerprint(&chain), fingerprint(&space(2.0)));
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let (a, b) = (fingerprint(&space(2.0)), fingerprint(&space(3.0)));
        let shown = ("`param x, float 0.5 to 2.0 log`".into(), "`param x, float 0.5 to 3.0 log`".into());
        assert_eq!(first_difference(&a, &b), shown);
        assert_eq!(first_difference("a", "a\nb"), ("at its end".into(), "`b`".into()));
    }
}
