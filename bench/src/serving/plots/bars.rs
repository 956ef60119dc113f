//! Bars: how fast everybody is beside the fastest, and how much everybody takes.

use std::fmt::Write as _;

use super::{INK, MUTED, WIDTH, colour, escaped, framed};
use crate::report::time;
use crate::serving::case::{Case, RATE};
use crate::serving::who::Who;

const LABELS: f64 = 170.0;
const BAR: f64 = 20.0;
/// Room for the figures behind a bar.
const FIGURES: f64 = 170.0;

/// How much everybody takes of something: less is better.
pub(in crate::serving) struct Amounts<'a> {
    pub(in crate::serving) title: &'a str,
    pub(in crate::serving) bars: Vec<(Who, f64)>,
    pub(in crate::serving) show: fn(f64) -> String,
}

/// How fast everybody is in each case: the longest bar is the fastest.
pub(in crate::serving) fn bars(title: &str, cases: &[Case]) -> String {
    let mut drawing = Drawing::new(title);
    for case in cases {
        let speeds = || case.entries.iter().map(|entry| (entry.who, case.speed(entry.who)));
        let best = speeds().filter_map(|(_, speed)| speed).fold(0.0, f64::max);
        drawing.heading(&case.name);
        for (who, speed) in speeds() {
            let bar = speed.map(|speed| (speed / best, figure(case, who, speed)));
            drawing.bar(who, bar);
        }
    }
    drawing.end("longer is faster; behind each, its part of the fastest")
}

/// What stands behind a bar: the figure, and what it is beside the fastest.
fn figure(case: &Case, who: Who, speed: f64) -> String {
    let entry = case.entries.iter().find(|entry| entry.who == who);
    let is_rate = entry.is_some_and(|entry| entry.rounds.median(RATE).is_some());
    match case.amount {
        Some((amount, unit)) => format!("{} {unit}/s", grouped(amount * speed)),
        None if is_rate => format!("{}/s", grouped(speed)),
        None => time(1e9 / speed),
    }
}

/// A figure without digits that say nothing, in groups of three.
fn grouped(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How much everybody takes: the shortest bar is the best.
pub(in crate::serving) fn amounts(title: &str, groups: &[Amounts<'_>]) -> String {
    let mut drawing = Drawing::new(title);
    for Amounts { title, bars, show } in groups {
        let most = bars.iter().map(|(_, amount)| *amount).fold(0.0, f64::max);
        drawing.heading(title);
        for (who, amount) in bars {
            let text = Behind { figure: show(*amount), part: None };
            drawing.draw(*who, Some(&(amount / most, text)));
        }
    }
    drawing.end("shorter is better")
}

/// What is written behind a bar.
struct Behind {
    figure: String,
    /// Beside the longest.
    part: Option<f64>,
}

/// A drawing that grows downwards.
struct Drawing {
    body: String,
    title: String,
    y: f64,
}

impl Drawing {
    fn new(title: &str) -> Self {
        Self { body: String::new(), title: escaped(title), y: 44.0 }
    }

    fn heading(&mut self, text: &str) {
        self.y += 26.0;
        let (x, y, text) = (LABELS + 10.0, self.y, escaped(text));
        _ = writeln!(self.body, r#"<text x="{x}" y="{y:.0}" font-weight="600">{text}</text>"#);
        self.y += 8.0;
    }

    fn bar(&mut self, who: Who, bar: Option<(f64, String)>) {
        let bar = bar.map(|(part, figure)| (part, Behind { figure, part: Some(part) }));
        self.draw(who, bar.as_ref());
    }

    fn draw(&mut self, who: Who, bar: Option<&(f64, Behind)>) {
        let (y, name) = (self.y, escaped(who.name()));
        let text = y + BAR - 6.0;
        let weight = if who.is_ours() { "600" } else { "400" };
        _ = writeln!(
            self.body,
            r#"<text x="{LABELS}" y="{text:.0}" text-anchor="end" font-weight="{weight}">{name}</text>"#
        );
        let (x, height, colour) = (LABELS + 10.0, BAR - 4.0, colour(who));
        let (length, behind) = match bar {
            // Whoever is hundreds of times slower still has a bar.
            Some((part, behind)) => (((WIDTH - LABELS - FIGURES) * part).max(1.5), behind.text()),
            None => (0.0, format!(r#"<tspan fill="{MUTED}">not possible</tspan>"#)),
        };
        _ = writeln!(
            self.body,
            r#"<rect x="{x}" y="{y:.0}" width="{length:.1}" height="{height}" rx="2" fill="{colour}"/>"#
        );
        let after = x + length + 6.0;
        _ = writeln!(self.body, r#"<text x="{after:.1}" y="{text:.0}">{behind}</text>"#);
        self.y += BAR;
    }

    fn end(self, note: &str) -> String {
        framed(&self.title, note, self.y + 18.0, &self.body)
    }
}

impl Behind {
    fn text(&self) -> String {
        let figure = escaped(&self.figure);
        match self.part {
            Some(part) => {
                let part = if part < 0.1 { format!("{part:.3}") } else { format!("{part:.2}") };
                format!(
                    r#"<tspan fill="{INK}">{figure}</tspan> <tspan fill="{MUTED}">{part}</tspan>"#
                )
            }
            None => format!(r#"<tspan fill="{INK}">{figure}</tspan>"#),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_a_drawing() {
        assert!(bars("a < b & c", &[]).contains("a &lt; b &amp; c"));
    }

    #[test]
    fn long_figures_are_grouped() {
        assert_eq!(
            [1.0, 999.0, 1000.0, 1_234_567.0].map(grouped),
            ["1", "999", "1,000", "1,234,567"]
        );
    }
}
