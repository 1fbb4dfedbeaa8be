//! Colours for a terminal; `anstream` leaves them out everywhere else.

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
