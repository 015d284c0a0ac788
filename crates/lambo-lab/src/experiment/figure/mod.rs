//! The figure of an experiment: regret against cost and against iterations, with 95% bands, as SVG and PNG.
//!
//! The SVG is written by hand: the picture is lines, bands and text, which take fewer lines than fitting a plotting crate to them, and
//! no build time. The PNG is drawn by `resvg` from the same SVG with outlines in place of letters, so that it looks the same everywhere.

mod axis;
mod canvas;
mod panel;
mod series;
mod style;

use super::curve::Curve;
use super::plan::Plan;
use anyhow::{Context, Result};
use axis::{Axis, Scale};
use canvas::{Canvas, Font, PLAIN};
use panel::Panel;
use series::Series;
use style::Style;

pub use canvas::Letters;

/// Sizes in pixels.
const PANEL_WIDTH: f64 = 470.0;
const PANEL_HEIGHT: f64 = 330.0;
const LEFT: f64 = 66.0;
const TOP: f64 = 62.0;
const GAP: f64 = 78.0;
const BOTTOM: f64 = 84.0;
const LEGEND: f64 = 190.0;

/// The figure as SVG.
pub fn draw(plan: &Plan, curves: &[Curve], letters: Letters) -> Result<String> {
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
    compose(plan, &panels, &labels, &styles, letters)
}

/// An SVG whose letters are outlines as PNG, at twice its size.
pub fn png(svg: &str) -> Result<Vec<u8>> {
    use resvg::{tiny_skia, usvg};
    const ZOOM: f32 = 2.0;
    let tree = usvg::Tree::from_str(svg, &usvg::Options::default()).context("the figure is not an SVG")?;
    let size = tree.size();
    let (width, height) = ((size.width() * ZOOM) as u32, (size.height() * ZOOM) as u32);
    let mut canvas = tiny_skia::Pixmap::new(width, height).context("the figure has no size")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut canvas.as_mut());
    canvas.encode_png().context("cannot encode the figure")
}

fn compose(
    plan: &Plan,
    panels: &[Panel],
    labels: &[&str],
    styles: &[Style],
    letters: Letters,
) -> Result<String> {
    let width = LEFT + panels.len() as f64 * (PANEL_WIDTH + GAP) - GAP + 24.0 + LEGEND;
    let rows = labels.len() as f64 * 20.0 + 60.0;
    let height = TOP + PANEL_HEIGHT.max(rows) + BOTTOM;
    let mut canvas = Canvas::new(letters, width, height)?;
    let (title, subtitle) = titles(plan);
    canvas.text((LEFT, 24.0), Font { size: 16.0, ..PLAIN }, &title);
    canvas.text((LEFT, 44.0), Font { colour: "#555", ..PLAIN }, &subtitle);
    for (i, panel) in panels.iter().enumerate() {
        let corner = (LEFT + i as f64 * (PANEL_WIDTH + GAP), TOP);
        panel.draw(&mut canvas, corner, (PANEL_WIDTH, PANEL_HEIGHT), styles, i);
    }
    legend(&mut canvas, width - LEGEND, labels, styles);
    let note = format!(
        "Lines: mean of {} runs; bands: 95% bootstrap interval of the mean. A line ends where the first run of its strategy does.",
        plan.sims
    );
    canvas.text((LEFT, height - 12.0), Font { size: 11.0, colour: "#555", ..PLAIN }, &note);
    Ok(canvas.finish())
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

fn legend(canvas: &mut Canvas, left: f64, labels: &[&str], styles: &[Style]) {
    for (row, (label, style)) in labels.iter().zip(styles).enumerate() {
        let y = TOP + 12.0 + 20.0 * row as f64;
        canvas.shape(format_args!("<path d=\"M{left} {y}h34\" {}/>", style.stroke()));
        canvas.text((left + 42.0, y + 4.0), PLAIN, label);
    }
}
