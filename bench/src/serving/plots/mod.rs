//! Plots as SVG, drawn by hand.

mod bars;
mod curves;

use super::who::Who;

pub(super) use bars::{Amounts, amounts, bars};
pub(super) use curves::{Curve, curves};

const WIDTH: f64 = 820.0;
/// Words, words that matter less, and lines behind the figures.
const INK: &str = "#1f2328";
const MUTED: &str = "#6b7280";
const GRID: &str = "#e5e7eb";

/// Ours are blue, each another blue; the others are as far from it and from each other as can be, for
/// those too who tell red from green badly.
fn colour(who: Who) -> &'static str {
    match who {
        Who::Host => "#0b4f9e",
        Who::Relaxed => "#2f7ed8",
        Who::Memory => "#29a5c9",
        Who::Store => "#8fc1ee",
        Who::Nginx => "#2e9e5b",
        Who::Dufs => "#e8a33d",
        Who::SandboxAgent => "#c8453b",
        Who::Sockets | Who::Program(_) => "#8b949e",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn framed(title: &str, note: &str, height: f64, body: &str) -> String {
    let font = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0}" font-family="{font}" font-size="12" fill="{INK}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="16" y="28" font-size="17" font-weight="600">{title}</text>
<text x="{WIDTH}" y="28" dx="-16" text-anchor="end" fill="{MUTED}">{note}</text>
{body}</svg>
"##
    )
}
