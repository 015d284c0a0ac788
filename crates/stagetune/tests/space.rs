//! What a space promises: checked once, coded without loss, searched within bounds, charged as the paper charges.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests may fail loudly, too.

use stagetune::space::*;

fn unet() -> Module {
    Module::new(
        "unet",
        [
            Param::float("lr", 1e-5, 1e-1).unwrap().log().unwrap(),
            Param::int("batch", 2, 14).unwrap().step(2).unwrap(),
            Param::choice("norm", ["batch", "group", "none"]).unwrap(),
            Param::bool("augment").unwrap(),
        ],
    )
    .unwrap()
}

fn denoise() -> Module {
    Module::new("denoise", [Param::float("strength", 1.0, 15.0).unwrap()]).unwrap()
}

fn space() -> Space {
    Space::new([denoise(), unet()]).unwrap()
}

fn point(space: &Space, strength: f64, batch: i64) -> Point {
    let rest = [("norm", Value::from("none")), ("augment", true.into()), ("lr", 0.05.into())];
    space.point([("strength", strength.into()), ("batch", batch.into())].into_iter().chain(rest)).unwrap()
}

#[test]
fn a_space_lays_its_modules_out_in_order() {
    let space = space();
    assert_eq!(space.dim(), 7);
    assert_eq!((space.module_coordinates(0), space.module_coordinates(1)), (0..1, 1..7));
    assert_eq!((space.module_params(1), space.module_coordinates(2)), (1..5, 7..7));
    let one_hot = Axis::OneHot { first: 3, len: 3 };
    let grid = |len| Axis::Grid { len };
    let axes = [Axis::Continuous, Axis::Continuous, grid(7), one_hot, one_hot, one_hot, grid(2)];
    assert_eq!(space.axes(), axes);
    assert_eq!((space.grid_len(2), space.grid_len(0), space.grid_len(99)), (Some(7), None, None));
    for i in 0..7 {
        let code = space.grid_code(2, i).unwrap();
        assert_eq!(space.grid_index(2, code), Some(i));
    }
    assert_eq!((space.grid_code(2, 7), space.grid_code(6, 1)), (None, Some(1.0)));
    assert_eq!((space.grid_index(2, f64::NAN), space.grid_index(2, 1.5)), (None, None));
}

#[test]
fn points_are_coded_and_decoded() {
    let space = space();
    let p = point(&space, 8.0, 4);
    let u = space.encode(&p).unwrap();
    assert_eq!(u[0], 0.5);
    assert!((u[1] - (3.0 + 5.0_f64.log10()) / 4.0).abs() < 1e-15);
    assert_eq!(u[2..], [1.5 / 7.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(space.decode_after(&p, 2, &u).unwrap(), p);
    assert_eq!(p.to_string(), "strength=8.0 lr=0.05 batch=4 norm=none augment=true");
    assert_eq!((p.get("batch"), p.get("bath")), (Some(&Value::Int(4)), None));

    let mut v = [0.3, 0.6, 0.2, 0.4, 0.7, 0.7, 0.49];
    space.snap(&mut v).unwrap();
    assert_eq!(v, [0.3, 0.6, 1.5 / 7.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn earlier_modules_keep_their_values_bit_for_bit() {
    let space = space();
    let kept = point(&space, 1.1, 4);
    let next = space.decode_after(&kept, 1, &[0.9; 7]).unwrap();
    assert_eq!(next.values()[0], kept.values()[0]);
    assert_eq!(next.values()[1..], space.decode(&[0.9; 7]).unwrap().values()[1..]);
    assert_eq!(space.decode_after(&kept, 0, &[0.9; 7]), space.decode(&[0.9; 7]));
    assert_eq!(space.decode_after(&kept, usize::MAX, &[0.9; 7]), Ok(kept));
}

#[test]
fn wrong_values_are_refused_with_a_remedy() {
    let space = space();
    let complain = |name: &'static str, value: Value| {
        let others = point(&space, 2.0, 2);
        let values = others.iter().filter(|(n, _)| *n != name).map(|(n, v)| (n, v.clone()));
        space.point(values.chain([(name, value)])).unwrap_err().to_string()
    };
    assert_eq!(
        complain("strenght", 1.0.into()),
        "there is no parameter `strenght`; did you mean `strength`?"
    );
    assert_eq!(
        complain("batch", 5.into()),
        "parameter `batch` cannot be 5, which lies between two steps; give 4 or 6"
    );
    assert_eq!(
        complain("batch", 16.into()),
        "parameter `batch` cannot be 16; give a whole number from 2 to 14 in steps of 2"
    );
    assert_eq!(
        complain("lr", f64::NAN.into()),
        "parameter `lr` cannot be NaN; give a number from 1e-5 to 0.1"
    );
    assert_eq!(
        complain("norm", "layer".into()),
        "parameter `norm` cannot be \"layer\"; give one of \"batch\", \"group\", \"none\""
    );
    assert_eq!(complain("augment", 1.into()), "parameter `augment` takes true or false, not the int 1");
    let twice = [("strength", 1.0), ("strength", 2.0)];
    assert!(matches!(space.point(twice), Err(SpaceError::Point(PointError::Twice { .. }))));
    assert_eq!(
        space.point([("strength", 1.0)]).unwrap_err().to_string(),
        "parameter `lr` has no value; give a number from 1e-5 to 0.1"
    );
    // A whole number is a real number.
    assert!(Space::new([denoise()]).unwrap().point([("strength", 3)]).is_ok());
}

#[test]
fn wrong_cube_points_are_refused() {
    let space = space();
    assert_eq!(space.decode(&[0.5; 3]), Err(SpaceError::Dimension { expected: 7, found: 3 }));
    let mut u = vec![0.5; 7];
    u[2] = 1.5;
    assert_eq!(
        space.decode(&u).unwrap_err().to_string(),
        "coordinate 2 (parameter `batch`) is 1.5; give a number from 0 to 1"
    );
    assert!(!space.allows_coded(&u));
    assert!(!space.allows_coded(&[f64::NAN; 7]));
    assert!(space.allows_coded(&[0.5; 7]));
}

#[test]
fn what_belongs_to_another_space_is_refused() {
    let space = space();
    let other = Space::new([denoise()]).unwrap();
    let foreign = other.point([("strength", 2.0)]).unwrap();
    assert!(matches!(space.encode(&foreign), Err(SpaceError::ForeignPoint { .. })));
    assert!(!space.allows(&foreign));
    assert!(matches!(space.movement(None, &foreign), Err(SpaceError::ForeignPoint { .. })));
    let condition = other.condition("strength > 2").unwrap();
    assert!(matches!(space.holds(&condition, &point(&space, 2.0, 2)), Err(SpaceError::ForeignExpr { .. })));
    // The same names over another range: the value decides.
    let wider = Module::new("denoise", [Param::float("strength", 1.0, 99.0).unwrap()]).unwrap();
    let wider = Space::new([wider]).unwrap();
    assert!(wider.encode(&foreign).is_ok());
    assert!(other.encode(&wider.point([("strength", 50.0)]).unwrap()).is_err());
}

#[test]
fn a_space_has_names_and_sizes_within_limits() {
    assert_eq!(Space::new([]).unwrap_err(), SpaceError::NoParams);
    assert_eq!(Space::new([Module::new("load", []).unwrap()]).unwrap_err(), SpaceError::NoParams);
    let many = (0..10_000).map(|i| Param::bool(&format!("p{i}")).unwrap());
    let error = Space::new([Module::new("wide", many).unwrap()]).unwrap_err();
    assert_eq!(error.to_string(), "the space has 10000 parameters; use at most 1000");
    let thousand = (0..1_000).map(|i| Param::bool(&format!("p{i}")).unwrap());
    assert_eq!(Space::new([Module::new("wide", thousand).unwrap()]).unwrap().dim(), 1000);
    let again = Module::new("again", [Param::bool("strength").unwrap()]).unwrap();
    assert_eq!(
        Space::new([denoise(), again]).unwrap_err().to_string(),
        "modules `denoise` and `again` both have a parameter `strength`; rename one"
    );
    assert!(matches!(Space::new([denoise(), denoise()]), Err(SpaceError::DuplicateModule { .. })));
    let twice = [Param::bool("a").unwrap(), Param::bool("a").unwrap()];
    assert!(matches!(Module::new("m", twice), Err(ModuleError::DuplicateParam { .. })));
    for cost in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(denoise().cost(Cost::Given(cost)), Err(ModuleError::Cost { .. })));
    }
}

#[test]
fn bad_parameters_are_refused_with_a_remedy() {
    let message = |result: Result<Param, ParamError>| result.unwrap_err().to_string();
    assert_eq!(
        message(Param::float("x", 2.0, 1.0)),
        "parameter `x`: the lower bound 2.0 is above the upper bound 1.0; swap them"
    );
    assert_eq!(
        message(Param::float("x", f64::NAN, 1.0)),
        "parameter `x`: the lower bound is NaN; give a finite number"
    );
    assert!(message(Param::float("x", 1.0, 1.0)).contains("drop the parameter"));
    assert!(message(Param::float("x", 0.0, 1.0).unwrap().log()).contains("above zero, not 0.0"));
    assert!(message(Param::int("n", -1, 1).unwrap().log()).contains("above zero, not -1"));
    assert!(message(Param::int("n", 2, 15).unwrap().step(2)).ends_with("use 14 or 16"));
    assert!(message(Param::int("n", i64::MIN, i64::MAX)).contains("18446744073709551616 values"));
    assert!(Param::stepped("n", i64::MIN, i64::MAX, 1 << 32).is_err());
    assert!(Param::stepped("n", 0, 1 << 62, 1 << 32).is_ok());
    assert!(message(Param::bool("b").unwrap().log()).contains("a log scale makes no sense for a bool"));
    assert!(
        message(Param::float("x", 0.0, 1.0).unwrap().step(2)).contains("a step makes no sense for a float")
    );
    assert!(message(Param::choice("c", ["a", "a"])).contains("\"a\" is given twice"));
    assert!(matches!(Param::choice::<&str>("c", []), Err(ParamError::NoChoices { .. })));
    let many = (0..2000).map(|i| i.to_string());
    assert!(matches!(Param::choice("c", many), Err(ParamError::TooManyChoices { .. })));
    assert!(matches!(Param::bool(""), Err(ParamError::Name(NameError::Empty))));
}

#[test]
fn forbidden_regions_are_kept_out() {
    let space = Space::new([denoise(), unet().forbid("lr > 0.005 and batch <= 4").unwrap()]).unwrap();
    assert!(!space.allows(&point(&space, 2.0, 4)));
    assert!(space.allows(&point(&space, 2.0, 6)));
    let joint = space.forbid("strength > 10 and batch == 6").unwrap();
    assert!(!joint.allows(&point(&joint, 11.0, 6)));
    assert!(joint.allows(&point(&joint, 9.0, 6)));
    assert_eq!(joint.forbidden().len(), 2);
    let foreign = unet().forbid("strength > 10").unwrap_err();
    assert!(foreign.to_string().starts_with("there is no parameter `strength` here"));
}

#[test]
fn a_space_without_allowed_points_is_refused() {
    let nothing = |module: Module| Space::new([module]).unwrap_err().to_string();
    assert_eq!(
        nothing(denoise().forbid("strength >= 1").unwrap()),
        "nothing is left to try: `strength >= 1` forbids every point; loosen or remove one"
    );
    assert_eq!(
        nothing(denoise().forbid("strength < 7.3").unwrap().forbid("strength >= 7.2").unwrap()),
        "nothing is left to try: `strength < 7.3` and `strength >= 7.2` together forbid every point; \
         loosen or remove one"
    );
    let halves = unet().forbid("augment").unwrap().forbid("batch > 6").unwrap();
    let rest = halves.forbid("not augment and batch in [2, 4, 6]").unwrap();
    assert!(nothing(rest).contains("together forbid every point"));
    assert!(
        nothing(unet().forbid("norm != 'none'").unwrap().forbid("norm == 'none'").unwrap()).contains("norm")
    );
    let square = Module::new("m", ["x", "y"].map(|name| Param::float(name, -1.0, 1.0).unwrap())).unwrap();
    assert!(nothing(square.forbid("x^2 + y^2 < 2.5").unwrap()).contains("x^2 + y^2"));
}

#[test]
fn thin_allowed_parts_are_found() {
    let one = |condition: &str| {
        let module = Module::new("m", ["x", "y"].map(|name| Param::float(name, 0.0, 1.0).unwrap())).unwrap();
        let space = Space::new([module.forbid(condition).unwrap()]).unwrap_or_else(|error| panic!("{error}"));
        let u = space.find_allowed(&[0.0, 0.0], &[1.0, 1.0]).unwrap();
        assert!(space.allows_coded(&u), "{condition}");
        space.decode(&u).unwrap()
    };
    assert_eq!(one("x != 0.37").get("x"), Some(&Value::Float(0.37)));
    assert_eq!(one("x > 0 or y > 0").values(), [Value::Float(0.0), Value::Float(0.0)]);
    one("abs(x - 0.123456) > 1e-9");
    one("x * y < 0.9999");
}

#[test]
fn frozen_coordinates_stay_where_they_are() {
    let space = Space::new([denoise(), unet()]).unwrap().forbid("strength > 3 and batch < 12").unwrap();
    let (mut lower, mut upper) = (vec![0.0; 7], vec![1.0; 7]);
    (lower[0], upper[0]) = (0.5, 0.5);
    let u = space.find_allowed(&lower, &upper).unwrap();
    assert_eq!(u[0], 0.5);
    assert!(space.allows_coded(&u));
    let mut snapped = u.clone();
    space.snap(&mut snapped).unwrap();
    assert_eq!(u, snapped);
    (lower[2], upper[2]) = (0.0, 0.5);
    assert!(matches!(
        space.find_allowed(&lower, &upper),
        Err(SpaceError::Region(RegionError::NothingAllowed { .. }))
    ));
    assert_eq!(space.forbids(&lower, &upper), Ok(Verdict::Always));
    lower[2] = 0.6;
    assert!(matches!(space.find_allowed(&lower, &upper), Err(SpaceError::Box { coordinate: 2, .. })));
}

#[test]
fn verdicts_over_boxes_decide_what_can_be_decided() {
    let space = space();
    let (lower, upper) = ([0.5, 0.5, 0.5, 0.0, 0.6, 0.0, 0.5], [1.0, 1.0, 1.0, 0.5, 1.0, 0.5, 1.0]);
    // strength 8 … 15, lr 1e-3 … 0.1, batch 8 … 14, norm group, augment true.
    for (source, verdict) in [
        ("strength >= 8", Verdict::Always),
        ("strength < 8", Verdict::Never),
        ("strength < 9", Verdict::Sometimes),
        ("strength * batch >= 64 and augment", Verdict::Always),
        ("log10(lr) < -3.1 or norm == 'none'", Verdict::Never),
        ("norm == 'group' and not (sqrt(batch) < 2.8)", Verdict::Always),
        ("(strength - 16)^3 > 0", Verdict::Never),
        ("log(-strength) < 0", Verdict::Never),
        ("1 / (strength - 10) > 0", Verdict::Sometimes),
        ("batch in [2, 4]", Verdict::Never),
        ("batch not in [2, 4, 6]", Verdict::Always),
        ("8 <= batch % 100 <= 14", Verdict::Sometimes),
        ("max(strength, batch) >= 8 and abs(-lr) <= 0.1 and exp(lr) > 1", Verdict::Always),
    ] {
        let condition = space.condition(source).unwrap();
        assert_eq!(space.verdict(&condition, &lower, &upper), Ok(verdict), "{source}");
    }
}

#[test]
fn cuts_split_between_values() {
    let module = unet().cut("lr", [1e-3]).unwrap().cut("batch", [5.0, 6.0]).unwrap();
    let module = module.cut_where("batch <= 8").unwrap().cut_where("0.01 <= lr").unwrap();
    let module = module.cut_where("norm == 'group'").unwrap().cut_where("not augment").unwrap();
    let space = Space::new([denoise(), module]).unwrap();
    assert!(space.cuts(0).is_empty() && space.cuts(9).is_empty());
    let labels: Vec<&str> = space.cuts(1).iter().map(Cut::label).collect();
    assert_eq!(labels, ["lr < 0.001", "lr < 0.01", "batch < 6", "batch < 10", "norm == 'group'", "augment"]);
    let planes: Vec<(usize, usize)> = space.cuts(1).iter().map(|cut| (cut.param, cut.coordinate)).collect();
    assert_eq!(planes, [(1, 1), (1, 1), (2, 2), (2, 2), (3, 4), (4, 6)]);
    assert!((space.cuts(1)[0].at - 0.5).abs() < 1e-15);
    // Batch sizes 2 and 4 are the first two of seven cells.
    let batch = &space.cuts(1)[2];
    assert_eq!(space.grid_index(batch.coordinate, batch.at), Some(2));
    assert_eq!(space.grid_index(batch.coordinate, batch.at.next_down()), Some(1));

    for at in [f64::NAN, f64::INFINITY, 1e-5, 0.1, 5.0] {
        assert!(matches!(unet().cut("lr", [at]), Err(ModuleError::CutOutside { .. })), "{at}");
    }
    assert!(matches!(unet().cut("batch", [2.0]), Err(ModuleError::CutOutside { .. })));
    assert!(matches!(unet().cut("norm", [0.5]), Err(ModuleError::CutKind { .. })));
    assert!(matches!(unet().cut("bach", [3.0]), Err(ModuleError::UnknownCut { suggestion: Some(_), .. })));
    for condition in
        ["lr < batch", "batch == 4", "lr > 1e-3 and augment", "1e-4 < lr < 1e-2", "1 < 2", "true"]
    {
        let error = unet().cut_where(condition).unwrap_err().to_string();
        assert!(error.contains("one parameter compared with a constant"), "{condition}: {error}");
    }
}

/// Three modules with one variable each, at the costs of the paper's panel F.
fn chain() -> Space {
    let module = |name: &str, cost| {
        let param = Param::int(&format!("x_{name}"), 0, 9).unwrap();
        Module::new(name, [param]).unwrap().cost(Cost::Given(cost)).unwrap()
    };
    Space::new([module("a", 40.0), module("b", 10.0), module("c", 1.0)]).unwrap()
}

fn at(space: &Space, x: [i64; 3]) -> Point {
    space.point(["x_a", "x_b", "x_c"].into_iter().zip(x)).unwrap()
}

#[test]
fn movement_is_charged_as_in_the_paper() {
    let space = chain();
    let costs = space.given_costs().unwrap();
    assert_eq!(costs, [40.0, 10.0, 1.0]);
    // Per step: the point, Γ under `previous`, Γ under `cache`, the first changed module under each.
    let steps = [
        ([0, 0, 0], 51.0, 51.0, Some(0), Some(0)),
        ([0, 0, 0], 1.0, 0.0, None, None),
        ([0, 0, 1], 1.0, 1.0, Some(2), Some(2)),
        ([0, 1, 1], 11.0, 11.0, Some(1), Some(1)),
        ([1, 1, 1], 51.0, 51.0, Some(0), Some(0)),
        ([0, 1, 1], 51.0, 0.0, Some(0), None),
        ([0, 0, 2], 11.0, 1.0, Some(1), Some(2)),
        ([1, 1, 2], 51.0, 1.0, Some(0), Some(2)),
    ];
    let mut history = RunHistory::new();
    let mut last = None;
    for (x, previous, cache, first_previous, first_cache) in steps {
        let next = at(&space, x);
        let by_previous = history.movement(&space, CostModel::Previous, &next).unwrap();
        let by_cache = history.movement(&space, CostModel::Cache, &next).unwrap();
        assert_eq!(by_previous, space.movement(last.as_ref(), &next).unwrap());
        assert_eq!((by_previous.cost(&costs), by_cache.cost(&costs)), (Ok(previous), Ok(cache)), "{x:?}");
        assert_eq!(
            (by_previous.first_changed, by_cache.first_changed),
            (first_previous, first_cache),
            "{x:?}"
        );
        history.record(&space, &next).unwrap();
        last = Some(next);
    }
}

#[test]
fn a_failed_run_leaves_only_the_outputs_it_reached() {
    let space = chain();
    let mut history = RunHistory::new();
    history.record_until(&space, &at(&space, [1, 1, 1]), 1).unwrap();
    for model in [CostModel::Previous, CostModel::Cache] {
        let again = history.movement(&space, model, &at(&space, [1, 1, 1])).unwrap();
        assert_eq!(again.runs, [1, 2].into_iter().collect());
        assert_eq!(again.first_changed, Some(1));
    }
}

#[test]
fn costs_that_are_missing_or_wrong_are_refused() {
    let space = space();
    assert_eq!(
        space.given_costs().unwrap_err().to_string(),
        "the cost of module `denoise` is not known; give it a cost, or pass costs in"
    );
    let movement = space.movement(None, &point(&space, 2.0, 2)).unwrap();
    assert_eq!(movement.cost(&[1.0]), Err(MovementError::Length { modules: 2, costs: 1 }));
    assert!(matches!(movement.cost(&[1.0, f64::NAN]), Err(MovementError::Cost { module: 1, .. })));
    assert_eq!(movement.cost(&[f64::MAX, f64::MAX]), Err(MovementError::Overflow));
}

#[test]
fn single_values_have_a_place_in_the_cube() {
    let params = [Param::int("n", 3, 3).unwrap(), Param::choice("c", ["only"]).unwrap()];
    let space = Space::new([Module::new("m", params).unwrap()]).unwrap();
    let point = space.decode(&[0.9, 0.1]).unwrap();
    assert_eq!(point.to_string(), "n=3 c=only");
    assert_eq!(space.encode(&point).unwrap(), [0.5, 0.5]);
}

#[test]
fn negative_zero_is_zero() {
    let space = Space::new([Module::new("m", [Param::float("x", -1.0, 1.0).unwrap()]).unwrap()]).unwrap();
    assert_eq!(space.point([("x", -0.0)]).unwrap(), space.point([("x", 0.0)]).unwrap());
    assert_eq!(space.decode(&[0.5]).unwrap(), space.point([("x", 0.0)]).unwrap());
}
