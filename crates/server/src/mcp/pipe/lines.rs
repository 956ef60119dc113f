//! Lines of a bounded length.

use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::overlong::IdFinder;

/// A line, or what is left of one.
pub(super) enum Line<'a> {
    /// All of it, without its end.
    Whole(&'a [u8]),
    /// It was longer than a line may be, and nothing of it was kept but the id of its message.
    Overlong {
        /// The id, if it has one.
        id: Option<RequestId>,
        /// How long a line may be.
        most: usize,
    },
}

/// The lines that come in. A read that is given up goes on with the next.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    most: usize,
    /// What was read of the line, while it is short enough.
    line: Vec<u8>,
    /// What is looked for in a line that is too long.
    finder: Option<IdFinder>,
    /// Whether the line was handed out, so that the next begins.
    is_done: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, most: usize) -> Self {
        let input = BufReader::with_capacity(64 * 1024, input);
        Self { input, most, line: Vec::new(), finder: None, is_done: false }
    }

    /// The next line that is not empty; none at the end, or when nothing can be read.
    pub(super) async fn next(&mut self) -> Option<Line<'_>> {
        if std::mem::take(&mut self.is_done) {
            // A long line's memory is not kept for short ones.
            self.line = Vec::new();
        }
        loop {
            let piece = match self.input.fill_buf().await {
                Ok([]) => return None,
                Ok(piece) => piece,
                Err(err) => {
                    let error = &err as &dyn std::error::Error;
                    tracing::warn!(error, "the client cannot be read");
                    return None;
                }
            };
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (part, used) = match end {
                Some(end) => (piece.get(..end).unwrap_or_default(), end + 1),
                None => (piece, piece.len()),
            };
            match &mut self.finder {
                Some(finder) => finder.feed(part),
                None if self.line.len() + part.len() > self.most => {
                    let mut finder = IdFinder::default();
                    finder.feed(&std::mem::take(&mut self.line));
                    finder.feed(part);
                    self.finder = Some(finder);
                }
                None => self.line.extend_from_slice(part),
            }
            self.input.consume(used);
            if end.is_none() {
                continue;
            }
            if let Some(finder) = self.finder.take() {
                return Some(Line::Overlong { id: finder.found(), most: self.most });
            }
            if self.line.trim_ascii().is_empty() {
                self.line.clear();
                continue;
            }
            self.is_done = true;
            return Some(Line::Whole(self.line.trim_ascii()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str, most: usize) -> Vec<String> {
        let mut lines = Lines::new(text.as_bytes(), most);
        let mut told = Vec::new();
        while let Some(line) = lines.next().await {
            told.push(match line {
                Line::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                Line::Overlong { id, .. } => format!("overlong {id:?}"),
            });
        }
        told
    }

    #[tokio::test]
    async fn lines_end_with_a_line_feed_and_empty_ones_do_not_count() {
        assert_eq!(read("a\n\n \r\nb\r\nunfinished", 9).await, ["a", "b"]);
    }

    #[tokio::test]
    async fn of_a_line_that_is_too_long_only_the_id_is_kept() {
        let long = "x".repeat(200_000);
        let text = format!(
            "{{\"method\":\"m\",\"params\":{{\"id\":1,\"a\":[\"{long}\"]}},\"id\":7}}\nshort\n{{\"a\":\"{long}\"}}\n"
        );
        let told = read(&text, 100).await;
        assert_eq!(told, ["overlong Some(Number(7))", "short", "overlong None"]);
    }
}
