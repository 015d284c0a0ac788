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
use super::plan::{Entry, Plan};
use super::start::Start;
use super::summary::{WITHIN, time_unit};
use super::table::brief;
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
const TOP: f64 = 58.0;
const ROW_TITLE: f64 = 22.0;
const GAP: f64 = 78.0;
/// Below a panel: its ticks, its label, and air.
const BELOW: f64 = 62.0;
const BOTTOM: f64 = 22.0;
const LEGEND: f64 = 216.0;
const LEGEND_LINE: f64 = 26.0;

/// The figure as SVG: a row for each of the plan's, or one for all.
pub fn draw(plan: &Plan, curves: &[Curve], letters: Letters) -> Result<String> {
    let rows = rows(plan);
    let table = plan.pipeline.problem.table();
    let full: f64 = plan.pipeline.costs.iter().sum();
    // What a table charges is seconds, and people think of a day's work in hours.
    let (unit, cost_label) = match table {
        Some(_) => {
            let (name, seconds) = time_unit(plan.budget_cost());
            (seconds, format!("{name} spent (a full run takes {} s)", brief(full)))
        }
        None => (1.0, format!("cost spent (a full run costs {full})")),
    };
    let lines: Vec<Line> =
        rows.iter().flat_map(|row| &row.labels).map(|label| Line::of(plan, curves, label, unit)).collect();
    let all = |of: fn(&Line) -> &Series| -> Vec<&Series> { lines.iter().map(of).collect() };
    let within = plan.thresholds().into_iter().find(|(name, _)| *name == WITHIN);
    let level = within.map(|(_, regret)| (regret, "within 5% of the best"));
    let regret_label = match table {
        Some(table) => format!("regret: {} missing to the best, range mapped to [0, 1]", table.metric()),
        None => REGRET.to_owned(),
    };
    let starting_points: Vec<f64> = rows.iter().map(|row| starting_points(plan, row)).collect();
    // The same axes in every row: what is higher in one is higher in another.
    let columns = [
        Column {
            x_label: cost_label,
            y_label: regret_label.clone(),
            x: Axis::new(Scale::Linear, 0.0, plan.budget_cost() / unit),
            y: Axis::fitting(&all(|line| &line.by_cost)),
            markers: rows.iter().map(|row| starting_cost(plan, curves, row) / unit).collect(),
            level,
            of: |line| &line.by_cost,
        },
        Column {
            x_label: ITERATIONS.to_owned(),
            y_label: regret_label,
            x: Axis::new(Scale::Linear, 0.0, series::last_x(&all(|line| &line.by_iteration))),
            y: Axis::fitting(&all(|line| &line.by_iteration)),
            markers: starting_points.clone(),
            level,
            of: |line| &line.by_iteration,
        },
        Column {
            x_label: ITERATIONS.to_owned(),
            y_label: format!("cumulative movement regret, λ = {}", plan.lambda),
            x: Axis::new(Scale::Linear, 0.0, series::last_x(&all(|line| &line.movement))),
            y: Axis::new(Scale::Linear, 0.0, series::highest(&all(|line| &line.movement))),
            markers: starting_points,
            level: None,
            of: |line| &line.movement,
        },
    ];
    let columns = if plan.movement { &columns[..] } else { &columns[..2] };
    compose(plan, &rows, columns, &lines, letters)
}

const REGRET: &str = "regret f(best) − f*, range of f mapped to [0, 1]";
const ITERATIONS: &str = "iterations (starting points included)";

/// A row as it is drawn.
struct Row<'a> {
    title: Option<&'a str>,
    labels: Vec<&'a str>,
}

/// Panels one below the other.
struct Column {
    x_label: String,
    y_label: String,
    x: Axis,
    y: Axis,
    /// Where the start of each row ends.
    markers: Vec<f64>,
    level: Option<(f64, &'static str)>,
    of: fn(&Line) -> &Series,
}

/// All lines of a competitor.
struct Line {
    label: String,
    runs: usize,
    by_cost: Series,
    by_iteration: Series,
    movement: Series,
}

impl Line {
    /// With costs in this unit.
    fn of(plan: &Plan, curves: &[Curve], label: &str, unit: f64) -> Self {
        let runs: Vec<&Curve> = curves.iter().filter(|curve| curve.strategy == label).collect();
        Self {
            label: label.to_owned(),
            runs: runs.len(),
            by_cost: series::against_cost(&runs, plan.budget_cost()).with_unit(unit),
            by_iteration: series::against_iterations(&runs, |row| row.regret),
            movement: series::against_iterations(&runs, |row| row.movement_regret),
        }
    }
}

/// The plan's rows without those who do not compete today; all in one where it has none.
fn rows(plan: &Plan) -> Vec<Row<'_>> {
    let labels: Vec<&str> = plan.entries.iter().map(|entry| entry.label.as_str()).collect();
    let row = |row: &'_ super::plan::Row| -> Vec<&str> {
        labels.iter().copied().filter(|label| row.show.iter().any(|shown| shown == label)).collect()
    };
    let rows: Vec<Row<'_>> =
        plan.rows.iter().map(|r| Row { title: Some(&r.title), labels: row(r) }).collect();
    let rows: Vec<Row<'_>> = rows.into_iter().filter(|row| !row.labels.is_empty()).collect();
    if rows.is_empty() { vec![Row { title: None, labels }] } else { rows }
}

/// The start of a row: the plan's if anybody in it has that, else that of the first.
fn start_of(plan: &Plan, row: &Row<'_>) -> Start {
    let own = || plan.entries.iter().filter(|entry| row.labels.contains(&entry.label.as_str()));
    let entry = own().find(|entry| entry.start.is_none()).or(own().next());
    entry.map_or(Start::Design(plan.start), |entry| plan.start_of(entry))
}

/// What the start of a row costs.
fn starting_cost(plan: &Plan, curves: &[Curve], row: &Row<'_>) -> f64 {
    let start = start_of(plan, row);
    let shares = |entry: &&Entry| plan.start_of(entry) == start && row.labels.contains(&entry.label.as_str());
    let sharing: Vec<&str> = plan.entries.iter().filter(shares).map(|entry| entry.label.as_str()).collect();
    let began = curves.iter().filter(|curve| sharing.contains(&curve.strategy.as_str()));
    began.map(Curve::starting_cost).fold(0.0, f64::max)
}

/// How many points the start of a row has.
fn starting_points(plan: &Plan, row: &Row<'_>) -> f64 {
    match start_of(plan, row) {
        Start::Design(design) => design.len() as f64,
        Start::Own => 0.0,
    }
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
    rows: &[Row<'_>],
    columns: &[Column],
    lines: &[Line],
    letters: Letters,
) -> Result<String> {
    let width = LEFT + columns.len() as f64 * (PANEL_WIDTH + GAP) - GAP + 24.0 + LEGEND;
    let entries = rows.iter().map(|row| row.labels.len()).max().unwrap_or(0);
    let row_height = ROW_TITLE + PANEL_HEIGHT.max(entries as f64 * LEGEND_LINE + 20.0) + BELOW;
    let height = TOP + rows.len() as f64 * row_height + BOTTOM;
    let mut canvas = Canvas::new(letters, width, height)?;
    let (title, subtitle) = titles(plan);
    canvas.text((LEFT, 24.0), Font { size: 16.0, ..PLAIN }, &title);
    canvas.text((LEFT, 44.0), Font { colour: "#555", ..PLAIN }, &subtitle);
    let mut rest = lines;
    for (number, row) in rows.iter().enumerate() {
        let (own, others) = rest.split_at(row.labels.len());
        rest = others;
        let styles = style::styles(&row.labels);
        let top = TOP + number as f64 * row_height;
        if let Some(title) = row.title {
            canvas.text((LEFT, top + 12.0), Font { size: 14.0, ..PLAIN }, title);
        }
        for (i, column) in columns.iter().enumerate() {
            let panel = Panel {
                x_label: &column.x_label,
                y_label: &column.y_label,
                x: column.x,
                y: column.y,
                marker: (column.markers.get(number).copied().unwrap_or(0.0), "starting points"),
                level: column.level,
                series: own.iter().map(column.of).collect(),
            };
            let corner = (LEFT + i as f64 * (PANEL_WIDTH + GAP), top + ROW_TITLE);
            panel.draw(&mut canvas, corner, (PANEL_WIDTH, PANEL_HEIGHT), &styles, number * columns.len() + i);
        }
        legend(&mut canvas, (width - LEGEND, top + ROW_TITLE), plan.sims, own, &styles);
    }
    let note = "Lines: mean over runs; bands: 95% bootstrap interval of the mean. A line ends where the first run of its strategy does. Dashed vertical: end of the start that the row shares.";
    canvas.text((LEFT, height - 12.0), Font { size: 11.0, colour: "#555", ..PLAIN }, note);
    Ok(canvas.finish())
}

/// What is shown, and under which rules.
fn titles(plan: &Plan) -> (String, String) {
    let pipeline = &plan.pipeline;
    let join = |list: Vec<String>| list.join(", ");
    let split = join(pipeline.split.iter().map(usize::to_string).collect());
    let costs = join(pipeline.costs.iter().map(|cost| brief(*cost)).collect());
    let problem = pipeline.problem.name();
    let title = plan.title.as_ref().map_or(problem.to_owned(), |title| format!("{title} ({problem})"));
    let measured = match (pipeline.spread, pipeline.problem.table()) {
        (Some(_), _) => " (measured, varying)",
        (None, Some(_)) => " s",
        (None, None) => "",
    };
    let subtitle = format!(
        "modules of {split} variables, costs {costs}{measured}, {} outputs at hand, noise sd {}, {} runs per strategy, seed {}",
        match plan.cost_model {
            stagetune::space::CostModel::Previous => "last trial's",
            stagetune::space::CostModel::Cache => "all earlier",
        },
        pipeline.noise,
        plan.sims,
        plan.seed
    );
    (title, subtitle)
}

fn legend(canvas: &mut Canvas, (left, top): (f64, f64), sims: usize, lines: &[Line], styles: &[Style]) {
    for (row, (line, style)) in lines.iter().zip(styles).enumerate() {
        let y = top + 12.0 + LEGEND_LINE * row as f64;
        canvas.shape(format_args!("<path d=\"M{left} {y}h34\" {}/>", style.stroke()));
        canvas.text((left + 42.0, y + 4.0), PLAIN, &line.label);
        if line.runs != sims {
            let note = Font { size: 10.0, colour: "#777", ..PLAIN };
            canvas.text((left + 42.0, y + 15.0), note, &format!("{} runs", line.runs));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "problem = 'griewank2'\nsplit = [1, 1]\ncosts = [2, 1]\nbudget = 60\nstart = { uniform = 4 }\nstrategies = ['gp-ei', 'lambo']\n\
        [[variant]]\nsuffix = 'nested'\nstart = { nested = { points = 6, every = 3 } }\nstrategies = ['gp-ei', 'lambo']\n\
        [[row]]\ntitle = 'plain'\nshow = ['gp-ei', 'lambo']\n[[row]]\ntitle = 'nested'\nshow = ['gp-ei-nested', 'lambo-nested']\n\
        [[row]]\ntitle = 'both'\nshow = ['lambo-nested', 'lambo']\n";

    #[test]
    fn a_row_marks_the_start_that_it_shares_and_the_plans_where_it_is_mixed() {
        let plan = Plan::parse("plan.toml", PLAN).unwrap();
        let points: Vec<f64> = rows(&plan).iter().map(|row| starting_points(&plan, row)).collect();
        assert_eq!(points, [4.0, 6.0, 4.0]);
        let curve = |label: &str, cost: f64| {
            let (value, best, regret, movement_regret) = (0.5, 0.5, 0.5, 0.5);
            let row = super::super::curve::Row {
                cost,
                value,
                best,
                regret,
                movement_regret,
                first_changed_module: 1,
                ask_seconds: 0.0,
            };
            Curve { strategy: label.to_owned(), sim: 1, rows: vec![row], starting: 1, budget: 180.0 }
        };
        let curves = [
            curve("gp-ei", 12.0),
            curve("lambo", 12.0),
            curve("gp-ei-nested", 7.0),
            curve("lambo-nested", 7.0),
        ];
        let costs: Vec<f64> = rows(&plan).iter().map(|row| starting_cost(&plan, &curves, row)).collect();
        assert_eq!(costs, [12.0, 7.0, 12.0]);
    }
}
