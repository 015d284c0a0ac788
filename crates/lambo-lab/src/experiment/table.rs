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

/// An interval.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", number(low), number(high))
}
