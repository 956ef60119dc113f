//! The id of a message that is too long to be read.

use rmcp::model::RequestId;

/// How much of a name or a value is kept. An id that is longer is not told.
const LONGEST: usize = 256;

/// Finds the `id` of a JSON object that goes by piece by piece. Of a text that is no JSON, something
/// or nothing is found.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// What stands at the first level since the last separator.
    word: Vec<u8>,
    /// Whether that is the value of `id`.
    is_id: bool,
    id: Option<Vec<u8>>,
}

impl IdFinder {
    /// Looks at some more of the message.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        piece.iter().for_each(|byte| self.step(*byte));
    }

    /// The id, if there is one that can be used.
    pub(super) fn found(self) -> Option<RequestId> {
        serde_json::from_slice(&self.id?).ok()
    }

    fn step(&mut self, byte: u8) {
        if self.in_text {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.word.clear();
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_of_value(),
            b':' if self.depth == 1 => {
                self.is_id = self.word.trim_ascii() == b"\"id\"";
                self.word.clear();
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() <= LONGEST {
            self.word.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        if self.depth == 1 {
            if std::mem::take(&mut self.is_id) && self.word.len() <= LONGEST {
                self.id = Some(self.word.clone());
            }
            self.word.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<RequestId> {
        let mut finder = IdFinder::default();
        text.as_bytes().chunks(3).for_each(|piece| finder.feed(piece));
        finder.found()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(found(r#"{"id":7,"method":"m","params":{"id":8}}"#), seven);
        assert_eq!(found(r#"{"params":{"a":"}\"id\":9,{","id":[{"id":8}]},"id" : 7 }"#), seven);
        assert_eq!(found(r#"{"x":"id","id":"a,\"b"}"#), Some(RequestId::String("a,\"b".into())));
    }

    #[test]
    fn without_one_there_is_none() {
        for text in
            [r#"{"params":{"id":8}}"#, "[1,2]", "", "}}}}", r#"{"id":{"a":1}}"#, r#"{"id":"#]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
