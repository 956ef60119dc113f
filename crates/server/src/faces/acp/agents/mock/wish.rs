//! What a prompt asks of the mock, line by line.
//!
//! ```text
//! read PATH         reads a text file at the client and says what is in it
//! write PATH TEXT   writes the text to a file at the client
//! wait SECONDS      does nothing for so long
//! ```
//!
//! Every other line is said back. A path has no spaces where a text follows it.

use std::collections::VecDeque;
use std::time::Duration;

use agent_client_protocol_schema::v1::ContentBlock;

use crate::jsonrpc::Failure;

/// How many wishes of one prompt are granted.
pub(super) const MOST: usize = 32;
/// How long a prompt may be: the mock holds it as long as its turn takes.
const LONGEST: usize = 64 * 1024;
/// How long one wait may be.
const LONGEST_WAIT: f64 = 60.0;

/// One thing that a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Lines to say back.
    Repeat(String),
    /// A file to read at the client.
    Read(String),
    /// A file to write at the client.
    Write { path: String, text: String },
    /// A while to do nothing.
    Wait(Duration),
}

/// The words of a prompt: its texts, and where its links lead.
pub(super) fn words(prompt: &[ContentBlock]) -> Result<String, Failure> {
    let mut words = String::new();
    for block in prompt {
        let text = match block {
            ContentBlock::Text(text) => &text.text,
            ContentBlock::ResourceLink(link) => &link.uri,
            ContentBlock::Image(_) | ContentBlock::Audio(_) | ContentBlock::Resource(_) | _ => {
                let message = "the mock understands blocks of type text and resource_link";
                return Err(Failure::invalid_params(message));
            }
        };
        if words.len() + text.len() > LONGEST {
            let message = format!("a prompt for the mock has at most {LONGEST} bytes");
            return Err(Failure::invalid_params(message));
        }
        if !words.is_empty() {
            words.push('\n');
        }
        words.push_str(text);
    }
    Ok(words)
}

/// What the words of a prompt ask for, in their order. Lines that ask for nothing else stay together.
pub(super) fn wishes(words: &str) -> VecDeque<Wish> {
    let mut wishes: VecDeque<Wish> = VecDeque::new();
    for line in words.lines() {
        match (wish(line), wishes.back_mut()) {
            (Some(wish), _) => wishes.push_back(wish),
            (None, Some(Wish::Repeat(lines))) => {
                lines.push('\n');
                lines.push_str(line);
            }
            (None, _) => wishes.push_back(Wish::Repeat(line.to_owned())),
        }
    }
    wishes
}

/// What a line asks for, if it asks for more than to be said back.
fn wish(line: &str) -> Option<Wish> {
    let (verb, rest) = line.trim_end_matches('\r').split_once(' ')?;
    match verb {
        "read" if !rest.trim().is_empty() => Some(Wish::Read(rest.trim().to_owned())),
        "write" => {
            let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
            (!path.is_empty()).then(|| Wish::Write { path: path.into(), text: text.into() })
        }
        "wait" => {
            let seconds: f64 = rest.trim().parse().ok()?;
            let is_sane = (0.0..=LONGEST_WAIT).contains(&seconds);
            is_sane.then(|| Wish::Wait(Duration::from_secs_f64(seconds)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::{ImageContent, ResourceLink, TextContent};

    use super::*;

    fn all(words: &str) -> Vec<Wish> {
        wishes(words).into()
    }

    fn repeat(text: &str) -> Wish {
        Wish::Repeat(text.to_owned())
    }

    #[test]
    fn lines_that_ask_for_nothing_stay_together() {
        assert_eq!(all("hello\nthere"), [repeat("hello\nthere")]);
        assert_eq!(all(""), []);
    }

    #[test]
    fn wishes_are_granted_in_their_order() {
        let write = Wish::Write { path: "b.txt".into(), text: "two  words".into() };
        let wait = Wish::Wait(Duration::from_millis(1500));
        assert_eq!(
            all("first\nread a b.txt \nwrite b.txt two  words\r\nwait 1.5\nlast"),
            [repeat("first"), Wish::Read("a b.txt".into()), write, wait, repeat("last")]
        );
    }

    #[test]
    fn a_file_may_be_written_empty() {
        assert_eq!(all("write a"), [Wish::Write { path: "a".into(), text: String::new() }]);
    }

    #[test]
    fn what_only_looks_like_a_wish_is_said_back() {
        for line in
            ["read", "read  ", "reads a", "Read a", "write  a", "wait", "wait 61", "wait -1"]
        {
            assert_eq!(all(line), [repeat(line)]);
        }
        for line in ["wait NaN", "wait inf", "wait 1e999", " read a"] {
            assert_eq!(all(line), [repeat(line)]);
        }
    }

    #[test]
    fn texts_and_links_are_words_and_images_are_not() {
        let text = |text: &str| ContentBlock::Text(TextContent::new(text));
        let link = ContentBlock::ResourceLink(ResourceLink::new("a", "file:///a"));
        assert_eq!(words(&[text("look at"), link]).unwrap(), "look at\nfile:///a");
        let image = ContentBlock::Image(ImageContent::new("", "image/png"));
        assert_eq!(words(&[text("a"), image]).unwrap_err().code, Failure::INVALID_PARAMS);
    }

    #[test]
    fn a_prompt_has_a_longest_length() {
        let text = |len| vec![ContentBlock::Text(TextContent::new("a".repeat(len)))];
        assert!(words(&text(LONGEST)).is_ok());
        assert_eq!(words(&text(LONGEST + 1)).unwrap_err().code, Failure::INVALID_PARAMS);
    }
}
