//! Tests of the checks of the book, on pages made up here.

use super::{links, markdown, places};
use std::path::PathBuf;

#[test]
fn a_page_has_the_links_and_the_anchors_of_its_tags() {
    let page = links::page(
        r##"<h2 id="costs"><a href="#costs">Costs</a></h2> href="no" <script>"<a href=\"x\">"</script><img alt="" src="a.svg">"##,
    );
    assert_eq!(page.links, ["#costs", "a.svg"]);
    assert!(page.anchors.contains("costs") && page.anchors.len() == 1);
}

#[test]
fn a_built_page_whose_link_leads_nowhere_is_found() {
    let folder = std::env::temp_dir().join(format!("stagetune-book-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("a.html", r##"<h1 id="top"></h1><a href="inner/b.html#here"></a><a href="https://x.y/z"></a>"##);
    write("inner/b.html", r##"<p id="here"></p><a href="../a.html#top"></a>"##);
    assert_eq!(links::check(&folder).unwrap(), Vec::<String>::new());
    write("inner/b.html", r##"<a href="../a.html#gone"></a><a href="c.html"></a>"##);
    let found = links::check(&folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("inner/b.html#here") && found[0].contains("no heading"));
    assert!(found[1].contains("../a.html#gone") && found[2].contains("leads to no file"));
}

fn page(path: &str, text: &str) -> markdown::Page {
    markdown::Page { path: PathBuf::from(path), text: text.to_owned() }
}

#[test]
fn a_link_of_markdown_that_leads_nowhere_is_found() {
    let root = crate::step::root();
    let found = |text: &str| markdown::check(&page("docs/src/a.md", text), &root);
    let fine = "[a](../../README.md) ![b](../../examples/quickstart/report.png) [c](https://x.y) `[d](e.md)`";
    assert!(found(fine).is_empty(), "{:?}", found(fine));
    assert_eq!(found("[a](gone.md)").len(), 1);
    assert_eq!(found("[a][b]\n\n[b]: ../gone.md").len(), 1);
    assert_eq!(found("[a](../../CONTRIBUTING.md#no-such-heading)").len(), 1);
    assert!(found("[a](../../CONTRIBUTING.md#house-rules)").is_empty());
}

#[test]
fn a_page_that_the_table_of_contents_leaves_out_is_found() {
    let nowhere = PathBuf::from("no-such-folder");
    let found = |path: &str| super::unlisted(&PathBuf::from(path), &nowhere);
    assert!(found("docs/src/guides/gone.md").is_some_and(|words| words.contains("SUMMARY.md")));
    assert!(found("docs/src/SUMMARY.md").is_none() && found("README.md").is_none());
}

#[test]
fn a_place_or_a_test_that_is_not_there_is_found() {
    let root = crate::step::root();
    let functions = places::functions(&root.join("xtask/src/book")).unwrap();
    let found = |path: &str, text: &str| places::check(&page(path, text), &root, &functions);
    assert_eq!(found("docs/src/a.md", "see `crates/gone/src/lib.rs`").len(), 1);
    assert!(found("docs/src/a.md", "see `xtask/src/book.rs` and `crates/*/tests`").is_empty());
    assert!(found("CHANGELOG.md", "see `crates/gone/src/lib.rs`").is_empty());
    assert_eq!(found("docs/src/a.md", "see `a_test_that_nobody_wrote`").len(), 1);
    let this = "see `a_place_or_a_test_that_is_not_there_is_found` and `give_up_after`";
    assert!(found("docs/src/a.md", this).is_empty());
}

#[test]
fn anchors_are_those_that_hosts_make() {
    assert_eq!(markdown::slug("`study.name`"), "studyname");
    assert_eq!(markdown::slug("What survives what?"), "what-survives-what");
}
