//! Bars: how fast everybody is beside the fastest.

use std::fmt::Write as _;

use super::{WIDTH, colour, escaped, framed};
use crate::serving::case::Case;
use crate::serving::who::Who;

const LABELS: f64 = 190.0;
const BAR: f64 = 16.0;

/// How fast everybody is in each case, beside the fastest.
pub(in crate::serving) fn bars(title: &str, cases: &[Case]) -> String {
    let mut drawing = Drawing::new(title);
    for case in cases {
        let speeds: Vec<_> =
            case.entries.iter().map(|entry| (entry.who, case.speed(entry.who))).collect();
        let best = speeds.iter().filter_map(|(_, speed)| *speed).fold(0.0, f64::max);
        drawing.heading(&case.name);
        for (who, speed) in speeds {
            drawing.bar(who, speed.map(|speed| speed / best));
        }
    }
    drawing.end()
}

/// A drawing that grows downwards.
struct Drawing {
    body: String,
    title: String,
    y: f64,
}

impl Drawing {
    fn new(title: &str) -> Self {
        Self { body: String::new(), title: escaped(title), y: 34.0 }
    }

    fn heading(&mut self, text: &str) {
        self.y += 22.0;
        let y = self.y;
        _ = writeln!(
            self.body,
            r#"<text x="8" y="{y:.0}" font-weight="bold">{}</text>"#,
            escaped(text)
        );
        self.y += 6.0;
    }

    fn bar(&mut self, who: Who, part: Option<f64>) {
        let (y, name) = (self.y, escaped(who.name()));
        let text = y + BAR - 4.0;
        _ = writeln!(
            self.body,
            r#"<text x="{LABELS}" y="{text:.0}" text-anchor="end">{name}</text>"#
        );
        let (length, said) = match part {
            Some(part) => ((WIDTH - LABELS - 60.0) * part, format!("{part:.2}")),
            None => (0.0, "–".to_owned()),
        };
        let (x, height, colour) = (LABELS + 8.0, BAR - 3.0, colour(who));
        _ = writeln!(
            self.body,
            r#"<rect x="{x}" y="{y:.0}" width="{length:.1}" height="{height}" fill="{colour}"/>"#
        );
        let behind = x + length + 4.0;
        _ = writeln!(self.body, r#"<text x="{behind:.1}" y="{text:.0}">{said}</text>"#);
        self.y += BAR;
    }

    fn end(self) -> String {
        let note = "beside the fastest; longer is better";
        framed(&self.title, note, self.y + 14.0, &self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_a_drawing() {
        assert!(bars("a < b & c", &[]).contains("a &lt; b &amp; c"));
    }
}
