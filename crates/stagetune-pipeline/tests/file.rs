//! A good file becomes the pipeline that it describes, on the text alone and on the disk.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::time::Duration;

use stagetune::space::{Cost, Domain};
use stagetune::study::{Direction, PRICE_SHARE};
use stagetune_pipeline::file::{Piece, Pipeline, Price, StageCost, fits_shape, schema};

const GOOD: &str = r#"
[study]
name = "scans"
metric = "dice"
direction = "maximize"
strategy = "lambo"
seed = 3
budget = { trials = 80, cost = "45 min", wall = "1 h 30 min", target = 0.9 }
outside = ["../shared"]
[study.options]
refinements = 4

[cache]
limit = "2 GB"

[[stage]]
name = "clean"
run = ["sh", "clean.sh", "--sigma={sigma}", "{out}"]
inputs = ["clean.sh", "./data/../data", "../shared/atlas.bin"]
env = { OMP_NUM_THREADS = "2" }
watch_env = ["CUDA_VISIBLE_DEVICES"]
timeout = "10 min"
retries = 2
cost = 12.5
[stage.params]
sigma = { float = [1, 15] }

[[stage]]
name = "seed"
after = []
run = ["sh", "seed.sh", "{out}"]

[[stage]]
name = "fit"
after = ["seed", "clean"]
run = ["sh", "fit.sh", "{clean}/x", "{seed}", "{lr}", "{batch}", "{norm}", "{flip}", "{{}}", "{out}"]
cost = "reported"
forbid = ["lr > 0.05 and batch < 4"]
cuts = { lr = [1e-3] }
[stage.params]
lr = { float = [1e-5, 8e-2], log = true }
batch = { int = [2, 14], step = 2 }
norm = { choice = ["batch", "group norm"] }
flip = { bool = true }
"#;

fn parse(text: &str) -> Result<Pipeline, String> {
    Pipeline::parse(text, Path::new("p.toml"), Path::new("/study")).map_err(|error| error.to_string())
}

#[test]
fn a_good_file_becomes_the_pipeline_that_it_describes() {
    let pipeline = parse(GOOD).unwrap_or_else(|error| panic!("{error}"));
    let plan = &pipeline.study;
    assert_eq!(
        (plan.name.as_str(), plan.metric.to_string().as_str(), plan.direction),
        ("scans", "dice", Direction::Maximize)
    );
    assert_eq!((plan.strategy.as_str(), plan.seed, plan.give_up_after), ("lambo", 3, 10));
    assert_eq!(plan.options["refinements"], 4);
    assert_eq!(plan.budget.trials, Some(80));
    assert_eq!(plan.budget.cost, Some(2700.0));
    assert_eq!(plan.budget.wall, Some(Duration::from_secs(5400)));
    assert_eq!(plan.budget.target, Some(0.9));
    assert_eq!(pipeline.cache_limit, Some(2_000_000_000));

    let [clean, seed, fit] = &pipeline.stages[..] else { panic!("three stages") };
    let inputs: Vec<_> = clean.inputs.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(inputs, ["clean.sh", "data", "/shared/atlas.bin"]);
    assert_eq!((clean.timeout, clean.retries), (Some(Duration::from_secs(600)), 2));
    assert_eq!(
        (clean.cost, seed.cost, fit.cost),
        (StageCost::Given(12.5), StageCost::Measured, StageCost::Reported)
    );
    assert_eq!((&clean.after[..], &seed.after[..], &fit.after[..]), (&[][..], &[][..], &[0, 1][..]));
    assert_eq!(fit.params, ["lr", "batch", "norm", "flip"]);
    assert_eq!(fit.run[2].pieces, [Piece::Stage(0), Piece::Text("/x".to_owned())]);
    assert_eq!(fit.run[8].as_literal(), Some("{}"));
    assert_eq!(fit.run[9].pieces, [Piece::Out]);

    let space = &pipeline.space;
    assert_eq!(space.modules().len(), 3);
    assert_eq!(space.modules()[0].cost_kind(), Cost::Given(12.5));
    assert_eq!(space.modules()[2].cost_kind(), Cost::Measured);
    assert!(matches!(space.params()[1].domain(), Domain::Float(_)));
    assert_eq!((space.forbidden().len(), space.cuts(2).len()), (1, 1));
    assert_eq!(fits_shape(GOOD), Ok(()));
}

#[test]
fn a_budget_may_be_what_going_on_is_worth() {
    let limits = "{ trials = 80, cost = \"45 min\", wall = \"1 h 30 min\", target = 0.9 }";
    let budget = |text: &str| {
        let text = GOOD.replace(limits, text);
        assert_eq!(fits_shape(&text), Ok(()));
        parse(&text).unwrap_or_else(|error| panic!("{error}")).study.budget
    };
    let auto = budget("\"auto\"");
    assert_eq!((auto.price, auto.trials, auto.cost), (Some(Price::Auto), None, None));
    assert_eq!((auto.rules().price, auto.rules().price_share), (None, Some(PRICE_SHARE)));
    let priced = budget("{ trials = 300, price = \"0.36 per hour\" }");
    assert_eq!((priced.price, priced.trials), (Some(Price::PerCost(0.36 / 3600.0)), Some(300)));
    assert_eq!((priced.rules().price, priced.rules().price_share), (Some(0.36 / 3600.0), None));
    assert_eq!(budget("{ price = 0.5 }").price, Some(Price::PerCost(0.5)));
    assert_eq!(budget("{ price = 2 }").price, Some(Price::PerCost(2.0)));
    assert_eq!(budget("{ wall = \"2 h\", price = \"auto\" }").price, Some(Price::Auto));
    assert_eq!(budget(limits).rules().price, None);
}

#[test]
fn several_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = GOOD
        .replace("strategy = \"lambo\"", "strategy = \"lamdo\"")
        .replace("\"{seed}\"", "\"{sede}\"")
        .replace("retries = 2", "retries = -2")
        .replace("int = [2, 14]", "int = [14, 2]");
    let error = Pipeline::parse(&text, Path::new("p.toml"), Path::new("/study")).unwrap_err();
    let lines: Vec<usize> = error.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [6, 23, 36, 42], "{error}");
    assert_eq!(error.problems[0].help, "did you mean \"lambo\"?");
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(json["problems"][0]["line"], 6);
    assert_eq!(json["problems"][0]["column"], 12);
}

/// A hand-made look at the schema: that the good file has the required keys and no others, of the right types.
#[test]
fn the_schema_accepts_the_good_file() {
    let schema = schema();
    let document: serde_json::Value = toml::from_str(GOOD).unwrap();
    accepts(&schema, &schema, &document, "file");
}

fn accepts(whole: &serde_json::Value, schema: &serde_json::Value, value: &serde_json::Value, at: &str) {
    let any = |key: &str| schema[key].as_array().cloned();
    if let Some(name) = schema["$ref"].as_str() {
        return accepts(whole, &whole["$defs"][name.trim_start_matches("#/$defs/")], value, at);
    }
    if let Some(options) = any("anyOf") {
        let fits = |option: &&serde_json::Value| {
            std::panic::catch_unwind(|| accepts(whole, option, value, at)).is_ok()
        };
        assert!(options.iter().find(fits).is_some(), "{at}: {value} fits none of {schema}");
        return;
    }
    let kinds: Vec<String> = match &schema["type"] {
        serde_json::Value::String(kind) => vec![kind.clone()],
        serde_json::Value::Array(kinds) => {
            kinds.iter().map(|kind| kind.as_str().unwrap().to_owned()).collect()
        }
        _ => Vec::new(),
    };
    let kind = match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "boolean",
        serde_json::Value::Number(n) if n.is_f64() => "number",
        serde_json::Value::Number(_) => "integer",
        serde_json::Value::String(_) => "string",
        serde_json::Value::Array(_) => "array",
        serde_json::Value::Object(_) => "object",
    };
    let fits = kinds.is_empty()
        || kinds.iter().any(|known| known == kind || (known == "number" && kind == "integer"));
    assert!(fits, "{at}: {value} is no {kinds:?}");
    if let Some(required) = any("required") {
        assert!(
            required.iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "{at} lacks one of {required:?}"
        );
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let place = format!("{at}.{key}");
        match (schema["properties"].get(key), schema.get("additionalProperties")) {
            (Some(property), _) => accepts(whole, property, inner, &place),
            (None, Some(serde_json::Value::Bool(false))) => panic!("{place} is unknown"),
            (None, Some(property)) => accepts(whole, property, inner, &place),
            (None, None) => {}
        }
    }
    for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
        accepts(whole, &schema["items"], inner, &format!("{at}[{i}]"));
    }
}
