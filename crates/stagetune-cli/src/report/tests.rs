//! What every page holds, whatever the study went through.

use super::{Made, html};
use crate::sample;
use stagetune::objective::Direction;
use stagetune_pipeline::ledger::{CostUnit, Ledger, TrialState};

fn page(ledger: &Ledger) -> String {
    html(ledger, &made())
}

fn made() -> Made {
    Made {
        version: "0.1.0".into(),
        date: "2026-09-21".into(),
        command: "stagetune report pipeline.toml".into(),
    }
}

/// Studies that are unlike each other, by name.
fn studies() -> Vec<(&'static str, Ledger)> {
    let tiny: Vec<f64> = (0..30).map(|k| 1e-12 * f64::from(k)).collect();
    let huge: Vec<f64> = (0..30).map(|k| -1e300 * f64::from(k)).collect();
    let outlier: Vec<f64> = (0..40).map(|k| if k % 13 == 0 { 1e6 } else { f64::from(k % 7) - 3.0 }).collect();
    let mut units = sample::study(60);
    units.cost_unit = CostUnit::Units;
    let mut free = sample::study(20);
    for trial in &mut free.trials {
        trial.cost = Some(0.0);
        trial.stages.iter_mut().for_each(|stage| stage.cost = 0.0);
    }
    sample::settle(&mut free);
    vec![
        ("sixty", sample::study(60)),
        ("ten", sample::study(10)),
        ("one", sample::study(1)),
        ("empty", sample::empty()),
        ("failed", sample::all_failed(24)),
        ("many", sample::study(2_000)),
        ("vast", sample::study(20_000)),
        ("constant", sample::with_values(&[0.5; 30], Direction::Maximize)),
        ("tiny", sample::with_values(&tiny, Direction::Minimize)),
        ("huge", sample::with_values(&huge, Direction::Minimize)),
        ("outlier", sample::with_values(&outlier, Direction::Minimize)),
        (
            "magnitudes",
            sample::with_values(
                &(0..50).map(|k| 1.3f64.powi(50 - k)).collect::<Vec<_>>(),
                Direction::Minimize,
            ),
        ),
        ("units", units),
        ("free", free),
        ("nasty", sample::with_text("<script>alert(\"1\")</script>&'\u{202e}")),
    ]
}

#[test]
fn every_page_is_well_formed_loads_nothing_and_stays_small() {
    for (name, ledger) in studies() {
        let page = page(&ledger);
        well_formed(&page).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(page.len() < 3_000_000, "{name}: {} bytes", page.len());
        for outside in ["http://", "https://", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(outside), "{name} has {outside}");
        }
        for broken in ["NaN\"", "inf\"", "infinity"] {
            assert!(!page.contains(broken), "{name} has {broken}");
        }
        if let Some(folder) = std::env::var_os("STAGETUNE_PAGES") {
            let json = serde_json::to_vec(&ledger).unwrap();
            std::fs::write(std::path::Path::new(&folder).join(format!("{name}.json")), json).unwrap();
            std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), page).unwrap();
        }
    }
}

#[test]
fn no_text_of_the_user_becomes_markup() {
    let nasty = "<script>alert(\"1\")</script>&'";
    let page = page(&sample::with_text(nasty));
    assert_eq!(page.matches("<script").count(), 1, "only the page's own script");
    assert!(!page.contains("alert(\"1\")"));
    assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"));
}

#[test]
fn the_page_says_what_was_found_spent_and_saved() {
    let ledger = sample::study(60);
    let page = page(&ledger);
    let best = ledger.trials.iter().find(|trial| Some(trial.trial) == ledger.best_trial()).unwrap();
    for text in [
        crate::format::number(best.value.unwrap()),
        format!("in trial {}", best.trial),
        crate::format::duration(ledger.spent),
        crate::format::duration(ledger.saved),
        format!(
            "re-running everything: {} × the cost",
            crate::format::digits(crate::rows::times_dearer(&ledger).unwrap(), 3)
        ),
        "1 open".into(),
    ] {
        assert!(page.contains(&text), "{text}");
    }
    assert_eq!(page.matches("<tr class=").count(), 60);
}

#[test]
fn every_metric_of_a_stage_has_its_least_median_greatest_and_best_value() {
    let mut ledger = sample::study(60);
    for (trial, loss) in ledger.trials.iter_mut().zip(1..) {
        if let Some(unet) = trial.stages.iter_mut().find(|row| row.stage == "unet") {
            unet.metrics = [("loss".to_owned(), f64::from(loss))].into();
        }
    }
    let page = page(&ledger);
    let metrics = &page[page.find("id=\"metrics\"").unwrap()..page.find("id=\"failures\"").unwrap()];
    let metric = stagetune::objective::Metric::of("unet", "loss");
    let mut values: Vec<f64> =
        ledger.trials.iter().filter_map(|trial| crate::rows::metric(trial, &metric)).collect();
    values.sort_by(f64::total_cmp);
    let best = crate::rows::metric(crate::rows::best(&ledger).unwrap(), &metric).unwrap();
    let median = super::relation::median(values.iter().copied());
    let numbers: String = [values[0], median, values[values.len() - 1], best]
        .iter()
        .map(|number| format!("<td>{}</td>", crate::format::number(*number)))
        .collect();
    let row = format!("unet</td><th scope=\"row\">loss</th><td>{}</td>{numbers}", values.len());
    assert!(metrics.contains(&row), "{row}\n{metrics}");
    assert!(metrics.contains("psnr") && metrics.contains("iou") && metrics.contains("f1 ★"), "{metrics}");
    let heads = &page[page.find("class=\"trials sortable\"").unwrap()..];
    let heads = &heads[..heads.find("</thead>").unwrap()];
    for name in ["denoise.psnr", "unet.loss", "reconstruct.iou"] {
        assert!(heads.contains(&format!(">{name}</th>")), "{heads}");
    }
    assert!(!super::html(&sample::empty(), &made()).contains("id=\"metrics\""));
}

#[test]
fn the_footer_says_once_what_the_trials_ran_with() {
    let page = page(&sample::study(60));
    let footer = &page[page.find("<footer>").unwrap()..];
    assert!(footer.contains("45 trials ran with stagetune 0.1.0 on lab"), "{footer}");
    assert!(footer.contains("15 trials ran with stagetune 0.2.0 on attic"), "{footer}");
    assert!(footer.contains("Python 3.12.3 (/usr/bin/python3), commit 0123abc"), "{footer}");
    assert_eq!(page.matches("0123abc").count(), 1);
}

#[test]
fn trials_that_were_given_up_or_withdrawn_are_called_so() {
    let mut ledger = sample::study(60);
    for (trial, state) in [(3, TrialState::Abandoned), (4, TrialState::Withdrawn), (5, TrialState::Withdrawn)]
    {
        (ledger.trials[trial].state, ledger.trials[trial].reason) = (state, Some("not worth it".into()));
    }
    sample::settle(&mut ledger);
    let page = page(&ledger);
    assert!(page.contains("1 abandoned, 2 withdrawn, 1 open"), "tiles");
    assert_eq!(page.matches("<tr class=\"aside\"").count(), 3);
}

#[test]
fn of_many_trials_the_best_are_always_drawn() {
    let ledger = sample::study(20_000);
    let page = page(&ledger);
    let curve = &page[page.find("id=\"curve\"").unwrap()..page.find("id=\"timeline\"").unwrap()];
    for trial in crate::rows::ranked(&ledger).iter().take(100) {
        assert!(curve.contains(&format!("data-t=\"{}\"", trial.trial)));
    }
    assert!(curve.matches("<circle").count() < 8_000);
}

/// Checks that every element is closed in order, and that quotes of attributes are closed.
fn well_formed(page: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').ok_or("an element without an end")? + at;
        let tag = &rest[at + 1..end];
        if tag.matches('"').count() % 2 != 0 {
            return Err(format!("quotes in <{tag}>"));
        }
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        rest = &rest[end + 1..];
        if tag.starts_with('/') {
            let last = open.pop();
            if last != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
        } else if !tag.ends_with('/') && name != "meta" {
            open.push(name);
        }
        if !tag.starts_with('/') && ["style", "script"].contains(&name) {
            rest = &rest[rest.find(&format!("</{name}>")).ok_or("an open style or script")?..];
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("still open: {open:?}")) }
}
