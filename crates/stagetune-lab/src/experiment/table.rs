//! A table of text whose columns line up.

/// Lines of cells as text: the first column to the left, the others to the right.
pub fn table(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            match column {
                0 => row.extend([cell.as_str(), &gap]),
                _ => row.extend(["  ", &gap, cell.as_str()]),
            }
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// A number with four digits that count.
pub fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".to_owned(),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.3}"),
        _ if size >= 1e-3 => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// A number as it is where that is short, else with three digits that count: what was measured has no more.
pub fn brief(value: f64) -> String {
    let exact = value.to_string();
    if exact.len() <= 5 || value == 0.0 || !value.is_finite() {
        return exact;
    }
    let decimals = (2 - value.abs().log10().floor() as i64).clamp(0, 300) as usize;
    format!("{value:.decimals$}")
}

/// An interval.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", number(low), number(high))
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn what_was_measured_shows_three_digits_and_what_was_given_all() {
        let shown = [325.0, 0.5, 40.25, 9.33315294575, 0.026079152875000004, 123456.78, 0.0].map(brief);
        assert_eq!(shown, ["325", "0.5", "40.25", "9.33", "0.0261", "123457", "0"]);
    }
}
