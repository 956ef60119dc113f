//! What the scoreboard is told: `tests/hostile/run` reads these lines and judges them.

/// Tells a line of the scoreboard what was tried and what came of it.
pub(crate) fn score(line: &str, figures: &[(&str, u64)]) {
    let figures: Vec<_> = figures.iter().map(|(name, value)| format!("{name}={value}")).collect();
    eprintln!("SCORE {line} {}", figures.join(" "));
}
