//! Colours, where they are wanted.

use crate::cli::Colour;
use crate::terminal;
use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

static COLOURED: AtomicBool = AtomicBool::new(false);

/// What is better, what ended well.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// What surprises.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Names and headings.
pub const STRONG: Style = Style::new().bold();
/// What matters less.
pub const FAINT: Style = Style::new().dimmed();

/// Decides once, at the start.
pub fn choose(when: Colour) {
    let on = match when {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused
                && std::io::stdout().is_terminal()
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    };
    COLOURED.store(on, Ordering::Relaxed);
}

/// Whether colours are wanted.
pub fn is_on() -> bool {
    COLOURED.load(Ordering::Relaxed)
}

/// A text in a style, or plain; what is printed by [`terminal`] keeps the style.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    if is_on() { terminal::styled(style, text) } else { text.to_string() }
}
