//! What the mock says, in the types of the protocol.

use std::sync::Arc;

use agent_client_protocol_schema::rpc::{JsonRpcMessage, Notification};
use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, ContentBlock, ContentChunk, Request, RequestId, SessionId,
    SessionNotification, SessionUpdate, TextContent,
};
use serde::Serialize;
use serde_json::Value;

use crate::faces::acp::agents::Said;

/// How much of a text is said.
const LONGEST: usize = 4096;
/// In how many pieces a text is said at most.
const MOST_PIECES: usize = 8;

/// Who said a piece of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    Client,
    Mock,
}

/// A text that is said as it is thought of: a few words after the other.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let least = text.len().div_ceil(MOST_PIECES).max(1);
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let from = rest.ceil_char_boundary(least);
        let space = rest.get(from..).and_then(|rest| rest.find(char::is_whitespace));
        let (piece, more) = rest.split_at(space.map_or(rest.len(), |at| from + at));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

/// The beginning of a text, as much of it as is said.
pub(super) fn cut(text: &str) -> String {
    match text.get(..text.floor_char_boundary(LONGEST)) {
        Some(beginning) if beginning.len() < text.len() => format!("{beginning}…"),
        Some(_) | None => text.to_owned(),
    }
}

/// A piece of a conversation, told to the client.
pub(super) fn update(session: &SessionId, speaker: Speaker, text: &str) -> Said {
    let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
    let update = match speaker {
        Speaker::Client => SessionUpdate::UserMessageChunk(chunk),
        Speaker::Mock => SessionUpdate::AgentMessageChunk(chunk),
    };
    let params = SessionNotification::new(session.clone(), update);
    let method = Arc::from(CLIENT_METHOD_NAMES.session_update);
    said(Notification { method, params: Some(params) })
}

/// Something that is asked of the client.
pub(super) fn request<P: Serialize>(id: &str, method: &str, params: P) -> Said {
    let id = RequestId::Str(id.to_owned());
    said(Request { id, method: Arc::from(method), params: Some(params) })
}

fn said<M: Serialize>(message: M) -> Said {
    Said::Message(json(JsonRpcMessage::wrap(message)))
}

/// A value of the wire. The types of the protocol have no maps with odd keys, so that this cannot fail.
pub(super) fn json<T: Serialize>(value: T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_said_in_a_few_pieces_that_make_it_whole() {
        for text in ["", "word", "mock: hello there", "ü 文 🦀 a  b\n\nc", &"a b ".repeat(999)]
        {
            let pieces = pieces(text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() <= MOST_PIECES, "{text}: {}", pieces.len());
        }
        assert_eq!(pieces("mock: hello there"), ["mock:", " hello", " there"]);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = "ü".repeat(LONGEST);
        let said = cut(&long);
        assert!(said.len() <= LONGEST + '…'.len_utf8() && said.ends_with("ü…"));
    }
}
