//! Random spaces and random garbage: codes round-trip bit for bit, verdicts are sound, and nothing panics.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests may fail loudly, too.

use std::sync::Arc;

use proptest::prelude::*;
use stagetune::space::*;

/// Numbers of every size, with those that break things over-represented.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>(),
        3 => any::<u64>().prop_map(f64::from_bits),
        3 => -10.0..10.0_f64,
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE,
            5e-324, -5e-324, f64::EPSILON, 1.0 + f64::EPSILON, 1e300, 1e-300,
        ]),
    ]
}

fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -20..20_i64,
        (0..10_i64).prop_map(|k| i64::MAX - k),
        (0..10_i64).prop_map(|k| i64::MIN + k),
        (0..63_u32).prop_map(|k| 1_i64 << k),
    ]
}

/// Positions in [0, 1], with the ends and their neighbours.
fn position() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..=1.0_f64,
        1 => prop::sample::select(vec![0.0, 1.0, 0.5, 0.5_f64.next_up(), 0.5_f64.next_down(), 1.0_f64.next_down(), 5e-324]),
        1 => (0..0x3FF0_0000_0000_0000_u64).prop_map(f64::from_bits),
    ]
}

/// A parameter from random bounds; garbage is filtered out by the constructors themselves.
fn param(name: &'static str) -> impl Strategy<Value = Param> {
    let float = (number(), number(), any::<bool>()).prop_filter_map("bounds", move |(a, b, log)| {
        let param = Param::float(name, a.min(b), a.max(b)).ok()?;
        if log { param.log().ok() } else { Some(param) }
    });
    let near = (1e-6..1e6_f64, 1e-12..10.0_f64, any::<bool>()).prop_filter_map("near", move |(a, d, log)| {
        let param = Param::float(name, a, a + a * d).ok()?;
        if log { param.log().ok() } else { Some(param) }
    });
    let int = (integer(), 0..1_000_000_u64, 1..1_000_000_i64, any::<bool>()).prop_filter_map(
        "range",
        move |(low, n, step, log)| {
            let high = i64::try_from(i128::from(low) + i128::from(n) * i128::from(step)).ok()?;
            let param = Param::stepped(name, low, high, step).ok()?;
            if log { param.log().ok() } else { Some(param) }
        },
    );
    let small =
        (-5..50_i64, 0..30_i64, 1..4_i64, any::<bool>()).prop_filter_map("small", move |(a, n, s, log)| {
            let param = Param::stepped(name, a, a + n * s, s).ok()?;
            if log { param.log().ok() } else { Some(param) }
        });
    let choice = (1..6_usize)
        .prop_filter_map("choice", move |k| Param::choice(name, &["a", "b", "c", "d", "e"][..k]).ok());
    prop_oneof![3 => float, 2 => near, 2 => int, 2 => small, 2 => choice, 1 => Just(Param::bool(name).unwrap())]
}

fn space() -> impl Strategy<Value = Space> {
    (param("x"), param("y"), param("ζ")).prop_map(|(x, y, z)| {
        let first = Module::new("first", [x]).unwrap();
        Space::new([first, Module::new("second", [y, z]).unwrap()]).unwrap()
    })
}

/// A space over which every condition of [`condition`] is well typed.
fn typed_space() -> Space {
    let params = [
        Param::float("x", -2.0, 3.0).unwrap(),
        Param::float("y", 1e-3, 1e2).unwrap().log().unwrap(),
        Param::int("n", -3, 9).unwrap().step(3).unwrap(),
        Param::int("k", 1, 40).unwrap().log().unwrap(),
        Param::choice("c", ["a", "b", "c"]).unwrap(),
        Param::choice("d", ["b", "z"]).unwrap(),
        Param::bool("t").unwrap(),
    ];
    Space::new([Module::new("m", params).unwrap()]).unwrap()
}

fn arithmetic() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["x", "y", "n", "k", "0", "1", "2", "0.5", "1e300", "-3"])
            .prop_map(str::to_owned),
        (-5.0..5.0_f64).prop_map(|c| format!("{c:?}")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let op = prop::sample::select(vec!["+", "-", "*", "/", "%", "^"]);
        let function =
            prop::sample::select(vec!["abs", "log", "log10", "log2", "exp", "sqrt", "min", "max", "-"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (function, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("max(min({a}, {b}), {b})")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let compare = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let leaf = prop_oneof![
        4 => (arithmetic(), compare, arithmetic()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => (arithmetic(), arithmetic()).prop_map(|(a, b)| format!("{a} not in [{b}, 1, 2]")),
        1 => arithmetic().prop_map(|a| format!("{a} in [0, 3, x]")),
        2 => prop::sample::select(vec!["t", "c == 'a'", "c != 'b'", "c in ['a', 'c']", "c == d", "d != 'z'", "true", "t != false"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) == ({b}))")),
            inner.prop_map(|a| format!("not ({a})")),
        ]
    })
}

/// Words of the grammar in any order.
fn word_salad() -> impl Strategy<Value = String> {
    let words = vec![
        "x", "y", "c", "t", "and", "or", "not", "in", "true", "(", ")", "[", "]", ",", "<", "<=", "==", "!=",
        "+", "-", "*", "/", "%", "^", "1", "1e-3", "'a'", "\"", "`", "log", "min", "é", "\n", "=", "💥", ".",
    ];
    prop::collection::vec(prop::sample::select(words), 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decoded_points_round_trip_bit_for_bit(space in space(), seed in prop::collection::vec(position(), 32)) {
        let u: Vec<f64> = seed.iter().copied().cycle().take(space.dim()).collect();
        let point = space.decode(&u).unwrap();
        let code = space.encode(&point).unwrap();
        prop_assert_eq!(&space.decode(&code).unwrap(), &point);
        prop_assert_eq!(space.encode(&space.decode(&code).unwrap()).unwrap(), code.clone());
        let named = point.iter().map(|(name, value)| (name, value.clone()));
        prop_assert_eq!(&space.point(named).unwrap(), &point);
        let mut snapped = u.clone();
        space.snap(&mut snapped).unwrap();
        prop_assert_eq!(&space.decode(&snapped).unwrap(), &point);
        for (i, axis) in space.axes().iter().enumerate() {
            match axis {
                Axis::Continuous => prop_assert_eq!(snapped[i], u[i]),
                _ => prop_assert_eq!(snapped[i], code[i]),
            }
        }
    }

    #[test]
    fn typed_floats_come_back_within_the_resolution_of_their_code(
        param in param("x"), at in 0.0..=1.0_f64,
    ) {
        let Domain::Float(range) = *param.domain() else { return Ok(()) };
        let x = if range.is_log() {
            (range.low().ln() * (1.0 - at) + range.high().ln() * at).exp()
        } else {
            range.low() * (1.0 - at) + range.high() * at
        }.clamp(range.low(), range.high());
        let space = Space::new([Module::new("m", [param]).unwrap()]).unwrap();
        let u = space.encode(&space.point([("x", x)]).unwrap()).unwrap()[0];
        let value = |u: f64| space.decode(&[u.clamp(0.0, 1.0)]).unwrap().values()[0].as_float().unwrap();
        // Nothing that a neighbouring code gives is nearer.
        for other in [u.next_down(), u.next_up()] {
            prop_assert!((value(u) - x).abs() <= (value(other) - x).abs());
        }
    }

    #[test]
    fn every_grid_value_has_a_code_of_its_own(space in space(), index in any::<u64>()) {
        for coordinate in 0..space.dim() {
            let Some(len) = space.grid_len(coordinate) else { continue };
            for i in [0, 1, index % len, len / 2, len - 1] {
                let Some(code) = space.grid_code(coordinate, i) else { continue };
                prop_assert_eq!(space.grid_index(coordinate, code), Some(i));
                if let Some(next) = space.grid_code(coordinate, i + 1) {
                    prop_assert!(code < next);
                }
            }
        }
    }

    #[test]
    fn verdicts_are_sound(
        source in condition(),
        a in prop::collection::vec(position(), 9),
        b in prop::collection::vec(position(), 9),
        thin in prop::collection::vec(prop::bool::weighted(0.4), 9),
        inside in prop::collection::vec(prop::collection::vec(0.0..=1.0_f64, 9), 12),
    ) {
        let space = typed_space();
        let Ok(expr) = space.condition(&source) else { return Ok(()) };
        let lower: Vec<f64> = (0..9).map(|i| a[i].min(b[i])).collect();
        let upper: Vec<f64> = (0..9).map(|i| if thin[i] { lower[i] } else { a[i].max(b[i]) }).collect();
        let verdict = space.verdict(&expr, &lower, &upper).unwrap();
        let corner = |t: f64| vec![t; 9];
        for t in inside.into_iter().chain([corner(0.0), corner(1.0)]) {
            let u: Vec<f64> = (0..9).map(|i| (lower[i] + t[i] * (upper[i] - lower[i])).clamp(lower[i], upper[i])).collect();
            let holds = space.holds(&expr, &space.decode(&u).unwrap()).unwrap();
            prop_assert!(verdict != Verdict::Always || holds, "{source} at {u:?}");
            prop_assert!(verdict != Verdict::Never || !holds, "{source} at {u:?}");
        }
    }

    #[test]
    fn garbage_is_never_a_parameter(
        name in any::<String>(), a in number(), b in number(), i in integer(), j in integer(), s in integer(),
    ) {
        if let Ok(param) = Param::float(&name, a, b) {
            prop_assert!(a < b && a.is_finite() && b.is_finite());
            let _ = param.clone().step(s);
            prop_assert_eq!(param.log().is_ok(), a > 0.0);
        }
        if let Ok(param) = Param::stepped(&name, i, j, s) {
            let _ = (param.clone().log(), param.step(j));
        }
        let _ = Param::int(&name, i, j).map(|param| (param.clone().log(), param.step(s)));
        let _ = Param::choice(&name, [&name, "b"]);
        let _ = Param::bool(&name);
        let _ = Module::new(&name, []).map(|module| module.cost(Cost::Given(a)));
    }

    #[test]
    fn garbage_is_never_a_cube_point(
        space in space(), u in prop::collection::vec(number(), 0..12), i in any::<usize>(), k in any::<u64>(),
    ) {
        let _ = (space.decode(&u), space.allows_coded(&u), space.snap(&mut u.clone()));
        let _ = (space.find_allowed(&u, &u), space.forbids(&u, &u));
        let _ = (space.module_params(i), space.module_coordinates(i), space.param_coordinates(i), space.cuts(i));
        let _ = (space.grid_len(i), space.grid_code(i % 12, k), space.coordinate_param(i));
        for x in u {
            let _ = space.grid_index(i % 12, x);
            let _ = space.point([("x", x), ("y", x), ("ζ", x)]);
            let movement = space.movement(None, &space.decode(&vec![0.5; space.dim()]).unwrap()).unwrap();
            let _ = movement.cost(&[x, 1.0]);
        }
    }

    #[test]
    fn garbage_is_never_a_condition(
        text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..60), salad in word_salad(),
        at in number(),
    ) {
        let space = typed_space();
        for source in [text.clone(), String::from_utf8_lossy(&bytes).into_owned(), salad] {
            match space.condition(&source) {
                Ok(expr) => {
                    let point = space.decode(&vec![0.5; space.dim()]).unwrap();
                    let _ = (space.holds(&expr, &point), expr.params());
                }
                Err(error) => {
                    prop_assert!(error.span().end <= source.len());
                    prop_assert!(!error.to_string().is_empty());
                }
            }
            let module = space.modules()[0].clone();
            let _ = module.clone().cut_where(&source);
            let _ = module.clone().cut(&source, [at]);
            let _ = module.clone().cut("x", [at]);
            let _ = module.clone().cut("k", [at]);
            let _ = space.point([(source.as_str(), at)]);
        }
    }

    #[test]
    fn values_are_totally_ordered(a in number(), b in number()) {
        let (x, y) = (Value::from(a), Value::from(b));
        prop_assert_eq!(x == y, a.to_bits() == b.to_bits());
        prop_assert_eq!(x.cmp(&y), y.cmp(&x).reverse());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_a_search_finds_is_allowed(
        first in condition(), second in condition(),
        a in prop::collection::vec(position(), 9), b in prop::collection::vec(position(), 9),
    ) {
        let module = typed_space().modules()[0].clone();
        let Ok(module) = module.forbid(&first).and_then(|module| module.forbid(&second)) else { return Ok(()) };
        let space = match Space::new([module]) {
            Ok(space) => space,
            Err(error) => {
                // A refusal that claims proof must be right.
                prop_assert!(matches!(error, SpaceError::Region(_)), "{error}");
                if matches!(error, SpaceError::Region(RegionError::NothingAllowed { .. })) {
                    let whole = typed_space();
                    let conditions = [whole.condition(&first).unwrap(), whole.condition(&second).unwrap()];
                    let at = whole.decode(&a).unwrap();
                    prop_assert!(conditions.iter().any(|condition| whole.holds(condition, &at).unwrap()));
                }
                return Ok(());
            }
        };
        let lower: Vec<f64> = (0..9).map(|i| a[i].min(b[i])).collect();
        let upper: Vec<f64> = (0..9).map(|i| a[i].max(b[i])).collect();
        if let Ok(u) = space.find_allowed(&lower, &upper) {
            prop_assert!((0..9).all(|i| lower[i] <= u[i] && u[i] <= upper[i]), "{u:?}");
            prop_assert!(space.allows_coded(&u) && space.allows(&space.decode(&u).unwrap()));
            prop_assert_eq!(space.find_allowed(&lower, &upper).unwrap(), u);
        }
    }

    #[test]
    fn both_cost_models_agree_with_their_definitions(steps in prop::collection::vec((0..2_i64, 0..2_i64, 0..2_i64), 1..12)) {
        let module = |name: &str| Module::new(name, [Param::int(name, 0, 1).unwrap()]).unwrap();
        let space = Space::new(["a", "b", "c"].map(module)).unwrap();
        let mut history = RunHistory::new();
        let mut seen: Vec<[i64; 3]> = Vec::new();
        for (a, b, c) in steps {
            let x = [a, b, c];
            let next = space.point(["a", "b", "c"].into_iter().zip(x)).unwrap();
            let previous = history.movement(&space, CostModel::Previous, &next).unwrap();
            let cache = history.movement(&space, CostModel::Cache, &next).unwrap();
            for m in 0..3 {
                let changed = seen.last().is_none_or(|last| last[..=m] != x[..=m]);
                prop_assert_eq!(previous.runs.contains(m), changed || m == 2);
                prop_assert_eq!(cache.runs.contains(m), !seen.iter().any(|old| old[..=m] == x[..=m]));
            }
            history.record(&space, &next).unwrap();
            seen.push(x);
        }
    }
}

#[test]
fn conditions_share_their_source() {
    let expr = typed_space().condition(" x > 1 ").unwrap();
    assert_eq!((expr.to_string(), Arc::strong_count(expr.source())), (" x > 1 ".to_owned(), 1));
}
