//! Colors for a terminal; `anstream` removes them everywhere else.

use anstyle::{AnsiColor, Style};

/// Something failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something is as it should be.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Something needs attention.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Less important than the rest.
pub const DIM: Style = Style::new().dimmed();
/// More important than the rest.
pub const BOLD: Style = Style::new().bold();

/// Makes a hidden cursor visible again.
pub const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// Every sequence of these styles, the one that ends them, and the one that shows the cursor.
pub fn sequences() -> Vec<String> {
    let all = [BAD, GOOD, WARN, DIM, BOLD];
    let mut all: Vec<String> = all.iter().map(|style| style.render().to_string()).collect();
    all.push(BOLD.render_reset().to_string());
    all.push(SHOW_CURSOR.to_owned());
    all
}
