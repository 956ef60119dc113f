//! Curves: what an operation takes as something grows.

use std::fmt::Write as _;

use super::{GRID, MUTED, WIDTH, colour, escaped, framed};
use crate::serving::who::Who;

/// What somebody takes at each size, in nanoseconds.
pub(in crate::serving) struct Curve {
    pub(in crate::serving) who: Who,
    pub(in crate::serving) points: Vec<(f64, f64)>,
}

/// Where curves are drawn, and of what powers of ten.
struct Axes {
    x: (f64, f64),
    y: (f64, f64),
}

const LEFT: f64 = 74.0;
const RIGHT: f64 = WIDTH - 180.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 376.0;
/// How far names are kept apart.
const LINE: f64 = 15.0;

/// Curves over sizes; both axes go by powers of ten.
pub(in crate::serving) fn curves(title: &str, below: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let axes =
        Axes { x: powers(points().map(|point| point.0)), y: powers(points().map(|point| point.1)) };
    let mut body = axes.grid();
    for curve in curves {
        axes.draw(&mut body, curve);
    }
    axes.names(&mut body, curves);
    let (x, y) = ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0);
    let below = escaped(below);
    _ = writeln!(
        body,
        r#"<text x="{x}" y="{y}" text-anchor="middle" fill="{MUTED}">{below}</text>"#
    );
    framed(&escaped(title), "time of one operation; lower is better", BOTTOM + 54.0, &body)
}

/// The powers of ten around some figures.
fn powers(figures: impl Iterator<Item = f64>) -> (f64, f64) {
    let logs: Vec<_> = figures.map(f64::log10).collect();
    let least = logs.iter().copied().fold(f64::INFINITY, f64::min).floor();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil();
    if least.is_finite() { (least, most.max(least + 1.0)) } else { (0.0, 1.0) }
}

impl Axes {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let part = |log: f64, (least, most): (f64, f64)| (log - least) / (most - least);
        (
            LEFT + part(x.log10(), self.x) * (RIGHT - LEFT),
            BOTTOM - part(y.log10(), self.y) * (BOTTOM - TOP),
        )
    }

    fn draw(&self, body: &mut String, curve: &Curve) {
        let at = curve.points.iter().map(|point| self.place(*point));
        let line: Vec<_> = at.clone().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let colour = colour(curve.who);
        _ = writeln!(
            body,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-linejoin="round"/>"#,
            line.join(" ")
        );
        for (x, y) in at {
            _ = writeln!(
                body,
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}" stroke="#ffffff" stroke-width="1.5"/>"##
            );
        }
    }

    /// Who a curve is of, at its end; where ends meet, the names are moved apart.
    fn names(&self, body: &mut String, curves: &[Curve]) {
        let mut ends: Vec<_> = curves
            .iter()
            .filter_map(|curve| Some((self.place(*curve.points.last()?).1, curve.who)))
            .collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = TOP;
        for (number, (y, who)) in ends.iter().enumerate() {
            let below = (ends.len() - number) as f64 * LINE;
            let y = y.max(free).min(BOTTOM + LINE - below);
            free = y + LINE;
            let (x, y, colour, name) = (RIGHT + 14.0, y + 4.0, colour(*who), escaped(who.name()));
            _ = writeln!(
                body,
                r#"<text x="{x}" y="{y:.1}" fill="{colour}" font-weight="600">{name}</text>"#
            );
        }
    }

    /// A line and a word for every power of ten.
    fn grid(&self) -> String {
        let mut grid = String::new();
        for power in self.x.0 as i32..=self.x.1 as i32 {
            let (x, _) = self.place((10_f64.powi(power), 10_f64.powf(self.y.0)));
            _ = writeln!(grid, r#"<path d="M{x:.1} {TOP}V{BOTTOM}" stroke="{GRID}"/>"#);
            let (y, word) = (BOTTOM + 18.0, size(power));
            _ = writeln!(
                grid,
                r#"<text x="{x:.1}" y="{y}" text-anchor="middle" fill="{MUTED}">{word}</text>"#
            );
        }
        for power in self.y.0 as i32..=self.y.1 as i32 {
            let (_, y) = self.place((10_f64.powf(self.x.0), 10_f64.powi(power)));
            _ = writeln!(grid, r#"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{GRID}"/>"#);
            let (x, text, word) = (LEFT - 8.0, y + 4.0, unit(power));
            _ = writeln!(
                grid,
                r#"<text x="{x}" y="{text:.1}" text-anchor="end" fill="{MUTED}">{word}</text>"#
            );
        }
        grid
    }
}

/// A power of ten of things.
fn size(power: i32) -> String {
    match power {
        ..3 => format!("{}", 10_f64.powi(power)),
        3..6 => format!("{},000", 10_f64.powi(power - 3)),
        _ => format!("{} million", 10_f64.powi(power - 6)),
    }
}

/// A power of ten of nanoseconds.
fn unit(power: i32) -> String {
    let (least, unit) = match power {
        ..3 => (0, "ns"),
        3..6 => (3, "µs"),
        6..9 => (6, "ms"),
        _ => (9, "s"),
    };
    format!("{} {unit}", 10_f64.powi(power - least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_lies_between_the_powers_of_ten_around_it() {
        let axes = Axes { x: powers([100.0, 1e6].into_iter()), y: powers([2e3, 3e4].into_iter()) };
        assert_eq!(axes.place((100.0, 1e3)), (LEFT, BOTTOM));
        assert_eq!(axes.place((1e6, 1e5)), (RIGHT, TOP));
    }

    #[test]
    fn sizes_are_words() {
        assert_eq!([0, 3, 5, 6].map(size), ["1", "1,000", "100,000", "1 million"]);
    }
}
