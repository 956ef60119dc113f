//! Server-sent events out of an outbox.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use engine::Actor;
use futures::{StreamExt as _, stream};
use http::HeaderMap;
use http::header::HeaderName;
use serde_json::json;
use tokio::time::timeout;

use super::outbox::{Delivery, Reader};
use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;

/// What a client sends that was cut off.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How often a quiet stream says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often it is looked whether the key is still good.
const RECHECK: Duration = Duration::from_secs(2);
/// How a client is told that messages are gone which he did not get.
const MISSED: &str = "_sandboxagent/stream/missed";

/// The number of the last event that a client saw, if it says so.
pub(in crate::faces) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    // `parse` alone would take a leading plus sign.
    let text = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok()).map(Some).ok_or_else(|| {
        Problem::invalid_request("Last-Event-ID must be a positive integer")
            .hint("send the `id` of the last event that you got, or leave the header out")
    })
}

/// The stream of a reader, until its end or that of something else.
pub(in crate::faces) fn respond(
    reader: Reader,
    until: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let events = stream::unfold(reader, |mut reader| async {
        let delivery = reader.next().await?;
        Some((Ok::<_, Infallible>(event(&delivery)), reader))
    });
    let kept = KeepAlive::new().interval(HEARTBEAT).text("heartbeat");
    Sse::new(events.take_until(until).boxed()).keep_alive(kept).into_response()
}

/// How such a stream begins, for whoever only asks that.
pub(in crate::faces) fn beginning() -> Response {
    Sse::new(stream::empty::<Result<Event, Infallible>>()).into_response()
}

fn event(delivery: &Delivery) -> Event {
    let event = Event::default().event("message");
    match delivery {
        Delivery::Probe => Event::default().comment("heartbeat"),
        Delivery::Message(number, text) => event.id(number.to_string()).data(text),
        Delivery::Missed { after, until } => {
            let params = json!({"after": after, "until": until});
            let notice = json!({"jsonrpc": "2.0", "method": MISSED, "params": params});
            event.id(until.to_string()).data(notice.to_string())
        }
    }
}

/// Ends when the caller may not listen any more, or the server ends.
pub(in crate::faces) async fn over(app: Arc<App>, caller: Caller) {
    while timeout(RECHECK, app.ending.cancelled()).await.is_err() {
        let is_good = match caller.actor {
            Some(Actor::Key(id)) => matches!(app.keys.find(&id).await, Ok(Some(_))),
            Some(Actor::Token) | None => true,
        };
        if !is_good || caller.grant.is_expired() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http_body_util::BodyExt as _;

    use super::super::outbox::{CommonStore, Outbox, OutboxRoom};
    use super::*;

    fn last(value: &'static str) -> Result<Option<u64>, Problem> {
        last_event_id(&HeaderMap::from_iter([(LAST_EVENT_ID, HeaderValue::from_static(value))]))
    }

    #[test]
    fn the_last_event_is_a_whole_number() {
        assert_eq!(last_event_id(&HeaderMap::new()).unwrap(), None);
        assert_eq!(last("0").unwrap(), Some(0));
        assert_eq!(last("12").unwrap(), Some(12));
        for wrong in ["", "-1", "+1", "1.0", "a", "99999999999999999999", " "] {
            assert!(last(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn an_event_has_a_kind_a_number_and_one_line_of_data() {
        let room = OutboxRoom { messages: 2, bytes: 4096 };
        let outbox = Outbox::new(room, &CommonStore::new(0), None);
        for text in ["gone", "line\nend\r", "b"] {
            outbox.post(&text);
        }
        let reader = outbox.read(None).await.unwrap();
        outbox.close();
        let response = respond(reader, std::future::pending());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let missed = r#"{"jsonrpc":"2.0","method":"_sandboxagent/stream/missed","params":{"after":0,"until":1}}"#;
        let expected = format!(
            "event: message\nid: 1\ndata: {missed}\n\n\
             event: message\nid: 2\ndata: \"line\\nend\\r\"\n\n\
             event: message\nid: 3\ndata: \"b\"\n\n"
        );
        assert_eq!(std::str::from_utf8(&body).unwrap(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_stream_sends_heartbeats() {
        let room = OutboxRoom { messages: 2, bytes: 4096 };
        let outbox = Outbox::new(room, &CommonStore::new(0), None);
        let reader = outbox.read(None).await.unwrap();
        let mut body = respond(reader, std::future::pending()).into_body();
        let began = tokio::time::Instant::now();
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!((&frame[..], began.elapsed()), (&b": heartbeat\n\n"[..], HEARTBEAT));
        drop(body);
        assert!(!outbox.is_read());
    }
}
