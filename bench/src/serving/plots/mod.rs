//! Plots as SVG, drawn by hand.

mod bars;
mod curves;

use super::who::Who;

pub(super) use bars::bars;
pub(super) use curves::{Curve, curves};

const WIDTH: f64 = 760.0;

fn colour(who: Who) -> &'static str {
    match who {
        Who::Host => "#1f5fa8",
        Who::Relaxed => "#3b7cc4",
        Who::Memory => "#6ea3db",
        Who::Store => "#a3c5ea",
        Who::Nginx => "#3a9b57",
        Who::Dufs => "#d98c2b",
        Who::SandboxAgent => "#b5483a",
        Who::Program(_) => "#777777",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn framed(title: &str, note: &str, height: f64, body: &str) -> String {
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="8" y="20" font-size="15" font-weight="bold">{title}</text>
<text x="{WIDTH}" y="20" dx="-8" text-anchor="end" fill="#555555">{note}</text>
{body}</svg>
"##
    )
}
