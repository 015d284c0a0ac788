//! Tests of the tidy check, on sources made up here.

use super::arrow::arrows;
use super::{Source, check};

fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

/// The findings about one file beside a map that names everything used here.
fn findings(path: &str, text: &str) -> Vec<String> {
    let map = source("ARCHITECTURE.md", "`numeric/` `space/` `surrogate/` `acquisition/` `bandit/` `dream/`");
    check(&[map, source(path, text)])
}

#[track_caller]
fn assert_finds(path: &str, text: &str, what: &str) {
    let found = findings(path, text);
    assert!(found.len() == 1 && found[0].contains(what), "{found:?} instead of one finding on {what}");
}

#[test]
fn a_file_without_a_first_line_on_its_purpose_is_found() {
    assert_finds("xtask/src/tidy/a.rs", "use std::fs;\n", "open with a //!");
    assert_finds("xtask/peers/a.py", "import os\n", "docstring");
    assert!(findings("xtask/src/tidy/a.rs", "//! Why.\n").is_empty());
    assert!(findings("xtask/peers/a.py", "\"\"\"Why.\"\"\"\n").is_empty());
}

#[test]
fn a_file_of_more_than_five_hundred_lines_is_found() {
    assert!(findings("xtask/src/tidy/a.rs", &"//! Why.\n".repeat(500)).is_empty());
    assert_finds("xtask/src/tidy/a.rs", &"//! Why.\n".repeat(501), "501 lines");
    assert!(findings("docs/page.md", &"text\n".repeat(501)).is_empty());
}

#[test]
fn directories_of_one_machine_are_found_and_relative_ones_are_not() {
    for directory in ["work", "tmp", "root", "home"] {
        assert_finds("README.md", &format!("see /{directory}/x"), "one machine");
        assert_finds("a/run", &format!("cd \"/{directory}/x\""), "one machine");
        assert!(findings("README.md", &format!("see notes/{directory}/x")).is_empty());
    }
}

#[test]
fn left_overs_are_found() {
    for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("db", "g!(x)"), concat!("to", "do!()")] {
        assert_finds("xtask/src/tidy/a.rs", &format!("//! Why.\n// {word}\n"), "a.rs:2");
    }
    assert_finds("xtask/src/tidy/a.rs", concat!("//! Why.\n#[ign", "ore]\n"), "does not run");
}

#[test]
fn a_use_against_the_arrow_is_found_however_it_is_written() {
    let space = |code: &str| findings("crates/stagetune/src/space/a.rs", &format!("//! Why.\n{code}\n"));
    for code in [
        "use crate::surrogate::Hyper;",
        "use crate::{numeric::f, surrogate::Hyper};",
        "use crate::{\n    numeric::{f, g},\n    surrogate,\n};",
        "fn f() { crate::surrogate::fit() }",
        "use super::super::surrogate::Hyper;",
        "pub(crate) use crate::surrogate;",
        "use crate::{numeric::{f}, surrogate::{a::{b}, c}};",
        "use crate::surrogate as numeric;",
        "let text = \"//\"; crate::surrogate::fit();",
    ] {
        let found = space(code);
        assert!(found.len() == 1 && found[0].contains("must not use `surrogate`"), "{code}: {found:?}");
    }
    assert_eq!(space("use crate::Hyper;").len(), 1, "a re-export would hide the module");
    for code in [
        "use crate::numeric::f;",
        "use crate::space::Batch;",
        "use super::batch::Batch;",
        "/// See [`crate::surrogate`].",
        "let x = 1; // crate::surrogate reads it.",
        "use crate::{numeric::{surrogate_free, g}};",
        "pub(in crate::surrogate) fn f() {}",
        "let text = \"\n crate::surrogate \";",
    ] {
        assert!(space(code).is_empty(), "{code}: {:?}", space(code));
    }
}

#[test]
fn a_module_of_any_crate_that_is_not_on_its_arrow_is_found() {
    assert_finds("crates/stagetune/src/dream/mod.rs", "//! Why.\n", "not on the arrow");
    for folder in [
        "crates/stagetune-pipeline/src",
        "crates/stagetune-cli/src",
        "crates/stagetune-lab/src",
        "examples/quickstart/src",
        "examples/microct/src",
        "xtask/src",
        "fuzz/targets",
    ] {
        assert_finds(&format!("{folder}/dream.rs"), "//! Why.\n", "not on the arrow");
    }
}

#[test]
fn every_crate_has_an_arrow_that_is_held() {
    for (path, code, what) in [
        ("crates/stagetune-pipeline/src/disk.rs", "use crate::cache::Cache;", "`disk` must not use `cache`"),
        ("crates/stagetune-cli/src/report/a.rs", "use crate::commands;", "`report` must not use `commands`"),
        ("crates/stagetune-lab/src/peers/a.rs", "use crate::experiment::plan;", "must not use `experiment`"),
        ("xtask/src/step.rs", "use crate::{tidy, step};", "`step` must not use `tidy`"),
        ("examples/quickstart/src/picture.rs", "use crate::train::f;", "`picture` must not use `train`"),
        ("examples/quickstart/src/picture.rs", "use super::survey;", "`picture` must not use `survey`"),
        ("examples/microct/src/volume.rs", "use crate::unet::CROPS;", "`volume` must not use `unet`"),
        ("examples/microct/src/unet/net.rs", "use crate::{table::{Grid}};", "`unet` must not use `table`"),
        ("fuzz/targets/journal.rs", "use crate::expressions::f;", "must not use `expressions`"),
    ] {
        assert_finds(path, &format!("//! Why.\n{code}\n"), what);
    }
    let code = "//! Why.\nlet text = \"crate::cache and super::cache\";\n";
    assert!(findings("crates/stagetune-pipeline/src/disk.rs", code).is_empty(), "strings use nothing");
    let code = "//! Why.\nuse crate::{Failure, arguments::Arguments};\nmod tests { use super::*; }\n";
    assert!(findings("examples/quickstart/src/data.rs", code).is_empty());
}

#[test]
fn the_rooms_of_the_strategies_have_an_arrow() {
    let strategy = |file: &str, code: &str| {
        let map =
            source("ARCHITECTURE.md", "`strategy/` `strategy/parts/` `strategy/rivals/` `strategy/auto/`");
        check(&[
            map,
            source(&format!("crates/stagetune/src/strategy/{file}"), &format!("//! Why.\n{code}\n")),
        ])
    };
    for (file, code, what) in [
        ("parts/a.rs", "use crate::strategy::auto::Auto;", "`parts` must not use `auto`"),
        ("auto/a.rs", "use crate::strategy::rivals::pbgi;", "`auto` must not use `rivals`"),
        ("auto/a.rs", "use crate::strategy::{View, lambo::Alpha};", "`auto` must not use `lambo`"),
        ("rivals/a.rs", "use super::b::helper;", "a rival must not use `b`"),
        ("rivals/a.rs", "use crate::strategy::rivals::b::helper;", "a rival must not use `b`"),
        ("rivals/carbo.rs", "use crate::strategy::GpUcb;", "`rivals` must not use `GpUcb`"),
        ("rivals/carbo.rs", "use crate::strategy::{View, Auto};", "`rivals` must not use `Auto`"),
        ("rivals/carbo.rs", "use crate::strategy::Lambo;", "`rivals` must not use `lambo`"),
        ("rivals/carbo.rs", "use crate::{strategy::{auto::Auto}};", "`rivals` must not use `auto`"),
        ("rivals/carbo.rs", "use super::{GpUcb};", "a rival must not use `GpUcb`"),
        ("rivals/carbo.rs", "use super::*;", "a rival must not use `*`"),
        ("rivals/carbo.rs", "use crate::strategy::rivals;", "a rival must not use `*`"),
        ("rivals/carbo.rs", "mod tests { use super::super::gp_ucb; }", "a rival must not use `gp_ucb`"),
        ("rivals/carbo.rs", "use crate::strategy as all;", "`rivals` must not use `*`"),
        ("parts/a.rs", "use super::super::{Design, GpEi};", "`parts` must not use `GpEi`"),
        ("past.rs", "use super::View;", "`past` must not use `view`"),
        ("dream.rs", "", "not on the arrow"),
    ] {
        let found = strategy(file, code);
        assert!(found.len() == 1 && found[0].contains(what), "{file}, {code}: {found:?}");
    }
    for (file, code) in [
        ("rivals/a.rs", "use crate::strategy::parts::model::Model;\nmod tests { use super::*; }"),
        ("rivals/mod.rs", "pub use a::A;"),
        ("auto/a.rs", "use crate::strategy::{Design, View};"),
        ("mod.rs", "pub use crate::strategy::rivals::*;"),
    ] {
        assert!(strategy(file, code).is_empty(), "{file}, {code}: {:?}", strategy(file, code));
    }
}

#[test]
fn other_folders_of_the_engine_name_no_strategy() {
    let engine = |folder: &str, code: &str| {
        let map = source("ARCHITECTURE.md", "`forecast/` `study/`");
        let path = format!("crates/stagetune/src/{folder}/a.rs");
        check(&[map, source(&path, &format!("//! Why.\n{code}\n"))])
    };
    for (code, what) in [
        ("use crate::strategy::auto::Auto;", "`auto`"),
        ("use crate::strategy::Auto;", "`Auto`"),
        ("use crate::strategy::{View, GpUcb};", "`GpUcb`"),
        ("use crate::{strategy::{auto::Auto}};", "`auto`"),
        ("use crate::{numeric::f, strategy::{View, parts::{wide}, rivals::{carbo::{Carbo}}}};", "`rivals`"),
        ("use super::super::strategy::lambo;", "`lambo`"),
        ("use crate::strategy;", "`*`"),
        ("use crate::strategy::*;", "`*`"),
        ("use crate::strategy::{self, View};", "`*`"),
        ("fn f() { crate::strategy::Random::new() }", "`Random`"),
    ] {
        for folder in ["forecast", "study"] {
            let found = engine(folder, code);
            let what = format!("`{folder}` must not name {what} of `strategy`");
            assert!(found.len() == 1 && found[0].contains(&what), "{folder}, {code}: {found:?}");
        }
    }
    let by_name = "use crate::strategy::{by_name, Strategy};";
    assert_eq!(engine("forecast", by_name).len(), 2);
    for (folder, code) in [
        ("study", by_name),
        ("forecast", "use crate::strategy::parts::{model::Model, wide};"),
        ("forecast", "use crate::strategy::{ModelOptions, StrategyError, View};"),
    ] {
        assert!(engine(folder, code).is_empty(), "{folder}, {code}: {:?}", engine(folder, code));
    }
}

#[test]
fn a_crate_without_a_table_and_a_dependency_against_it_are_found() {
    let manifest = |path: &str, text: &str| {
        let map = source("ARCHITECTURE.md", "`crates/dream/` `crates/stagetune-cli/`");
        check(&[map, source(path, text)])
    };
    let found = manifest("crates/dream/Cargo.toml", "[package]\nname = \"dream\"\n");
    assert!(
        found.len() == 1 && found[0].contains("crate `dream` in crates/dream/ has no table"),
        "{found:?}"
    );
    for section in ["dependencies", "dev-dependencies"] {
        let text = format!("name = \"stagetune-cli\"\n[{section}]\nstagetune-lab.workspace = true\n");
        let found = manifest("crates/stagetune-cli/Cargo.toml", &text);
        let what = "`stagetune-cli` must not depend on `stagetune-lab`";
        assert!(found.len() == 1 && found[0].contains(what), "{found:?}");
    }
}

#[test]
fn the_front_page_may_name_every_module() {
    assert!(
        findings("crates/stagetune/src/lib.rs", "//! Why.\npub use crate::surrogate::Hyper;\n").is_empty()
    );
}

#[test]
fn the_arrow_goes_one_way() {
    for arrow in arrows() {
        for (i, (name, allowed)) in arrow.modules.iter().enumerate() {
            let above: Vec<_> = arrow.modules[..i].iter().map(|(name, _)| *name).collect();
            let goes_up = allowed.iter().all(|used| above.contains(used));
            assert!(goes_up, "{}{name} uses something below it", arrow.folder);
        }
    }
}

#[test]
fn folders_and_crates_that_are_not_on_the_map_are_found() {
    let sources = |map: &str| {
        check(&[
            source("ARCHITECTURE.md", map),
            source("crates/stagetune/Cargo.toml", "name = \"stagetune\"\n"),
            source("crates/stagetune/src/space/mod.rs", "//! Why.\n"),
            source("crates/stagetune/src/space/batch/tests.rs", "//! Why.\n"),
        ])
    };
    assert!(sources("`crates/stagetune/` holds `space/`").is_empty());
    assert_eq!(sources("`crates/stagetune/` holds `cyberspace/`").len(), 1);
    assert_eq!(sources("nothing").len(), 2);
    assert!(check(&[])[0].contains("the map is missing"));
}
