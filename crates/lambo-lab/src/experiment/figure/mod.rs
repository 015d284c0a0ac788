//! The figure of an experiment: regret against cost and against iterations, with 95% bands, as SVG and PNG.
//!
//! The SVG is written by hand: the picture is lines, bands and text, which take fewer lines than fitting a plotting crate to them, and
//! no build time. The PNG is drawn from the SVG with a font that is part of the program, so that it looks the same everywhere.

mod axis;
mod panel;
mod series;
mod style;

use super::curve::Curve;
use super::plan::Plan;
use anyhow::{Context, Result};
use axis::{Axis, Scale};
use panel::Panel;
use series::Series;
use std::fmt::Write;
use style::Style;

/// A subset of DejaVu Sans: Latin, Greek, super- and subscripts, a few signs. Its licence is in the same folder.
const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");

/// Sizes in pixels.
const PANEL_WIDTH: f64 = 470.0;
const PANEL_HEIGHT: f64 = 330.0;
const LEFT: f64 = 66.0;
const TOP: f64 = 62.0;
const GAP: f64 = 78.0;
const BOTTOM: f64 = 84.0;
const LEGEND: f64 = 190.0;

/// The figure as SVG.
pub fn draw(plan: &Plan, curves: &[Curve]) -> String {
    let labels: Vec<&str> = plan.entries.iter().map(|entry| entry.label.as_str()).collect();
    let styles = style::styles(&labels);
    let own = |label: &str| curves.iter().filter(|curve| curve.strategy == label).collect::<Vec<_>>();
    let runs: Vec<Vec<&Curve>> = labels.iter().map(|label| own(label)).collect();
    let by_cost: Vec<Series> =
        runs.iter().map(|runs| series::against_cost(runs, plan.budget_cost())).collect();
    let by_iteration: Vec<Series> =
        runs.iter().map(|runs| series::against_iterations(runs, |row| row.regret)).collect();
    let regret = "regret f(best) − f*, range of f mapped to [0, 1]";
    let start = curves.iter().map(Curve::starting_cost).fold(0.0, f64::max);
    let mut panels = vec![
        Panel {
            x_label: format!("cost spent (a full run costs {})", plan.pipeline.costs.iter().sum::<f64>()),
            y_label: regret.to_owned(),
            x: Axis::new(Scale::Linear, 0.0, plan.budget_cost()),
            y: Axis::fitting(&by_cost),
            marker: Some((start, "starting points")),
            series: by_cost,
        },
        Panel {
            x_label: "iterations (starting points included)".to_owned(),
            y_label: regret.to_owned(),
            x: Axis::new(Scale::Linear, 0.0, series::last_x(&by_iteration)),
            y: Axis::fitting(&by_iteration),
            marker: Some((plan.start.len() as f64, "starting points")),
            series: by_iteration,
        },
    ];
    if plan.movement {
        let movement: Vec<Series> =
            runs.iter().map(|runs| series::against_iterations(runs, |row| row.movement_regret)).collect();
        panels.push(Panel {
            x_label: "iterations (starting points included)".to_owned(),
            y_label: format!("cumulative movement regret, λ = {}", plan.lambda),
            x: Axis::new(Scale::Linear, 0.0, series::last_x(&movement)),
            y: Axis::new(Scale::Linear, 0.0, series::highest(&movement)),
            marker: Some((plan.start.len() as f64, "starting points")),
            series: movement,
        });
    }
    compose(plan, &panels, &labels, &styles)
}

/// The SVG as PNG, at twice its size.
pub fn png(svg: &str) -> Result<Vec<u8>> {
    use resvg::{tiny_skia, usvg};
    const ZOOM: f32 = 2.0;
    let mut options = usvg::Options { font_family: "DejaVu Sans".to_owned(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    let tree = usvg::Tree::from_str(svg, &options).context("the figure is not an SVG")?;
    let size = tree.size();
    let (width, height) = ((size.width() * ZOOM) as u32, (size.height() * ZOOM) as u32);
    let mut canvas = tiny_skia::Pixmap::new(width, height).context("the figure has no size")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut canvas.as_mut());
    canvas.encode_png().context("cannot encode the figure")
}

fn compose(plan: &Plan, panels: &[Panel], labels: &[&str], styles: &[Style]) -> String {
    let width = LEFT + panels.len() as f64 * (PANEL_WIDTH + GAP) - GAP + 24.0 + LEGEND;
    let rows = labels.len() as f64 * 20.0 + 60.0;
    let height = TOP + PANEL_HEIGHT.max(rows) + BOTTOM;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let (title, subtitle) = titles(plan);
    text(&mut svg, (LEFT, 24.0), "font-size=\"16\"", &title);
    text(&mut svg, (LEFT, 44.0), "fill=\"#555\"", &subtitle);
    for (i, panel) in panels.iter().enumerate() {
        panel.draw(
            &mut svg,
            (LEFT + i as f64 * (PANEL_WIDTH + GAP), TOP),
            (PANEL_WIDTH, PANEL_HEIGHT),
            styles,
            i,
        );
    }
    legend(&mut svg, width - LEGEND, labels, styles);
    let note = format!(
        "Lines: mean of {} runs; bands: 95% bootstrap interval of the mean. Iterations end where the first run of a strategy does.",
        plan.sims
    );
    text(&mut svg, (LEFT, height - 12.0), "font-size=\"11\" fill=\"#555\"", &note);
    svg.push_str("</svg>\n");
    svg
}

/// What is shown, and under which rules.
fn titles(plan: &Plan) -> (String, String) {
    let pipeline = &plan.pipeline;
    let join = |list: Vec<String>| list.join(", ");
    let split = join(pipeline.split.iter().map(usize::to_string).collect());
    let costs = join(pipeline.costs.iter().map(f64::to_string).collect());
    let problem = pipeline.problem.name();
    let title = plan.title.as_ref().map_or(problem.to_owned(), |title| format!("{title} ({problem})"));
    let measured = if pipeline.spread.is_some() { " (measured, varying)" } else { "" };
    let subtitle = format!(
        "modules of {split} variables, costs {costs}{measured}, {} outputs at hand, noise sd {}, {} runs per strategy, seed {}",
        match plan.cost_model {
            lambo::space::CostModel::Previous => "last trial's",
            lambo::space::CostModel::Cache => "all earlier",
        },
        pipeline.noise,
        plan.sims,
        plan.seed
    );
    (title, subtitle)
}

fn legend(svg: &mut String, left: f64, labels: &[&str], styles: &[Style]) {
    for (row, (label, style)) in labels.iter().zip(styles).enumerate() {
        let y = TOP + 12.0 + 20.0 * row as f64;
        let _ = writeln!(svg, "<path d=\"M{left} {y}h34\" {}/>", style.stroke());
        text(svg, (left + 42.0, y + 4.0), "", label);
    }
}

/// Text at a place, with attributes.
fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, content: &str) {
    // Writing into a string does not fail.
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escape(content));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
