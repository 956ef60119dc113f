//! Messages in, answers out.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use engine::Recorder;
use futures::{StreamExt as _, stream};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;

use super::arguments::Arguments;
use super::audited;
use super::connections::{CONNECTION_ID, Connection};
use super::failures::{failure, unknown_method, with_problem};
use super::methods::Method;
use super::{files, greeting, prompt, sessions};
use crate::faces::fs_v1::entries::Listed;
use crate::jsonrpc::{Call, Failure, Id, Incoming, Message, Reply};
use crate::problem::{Class, Problem, Told, render};
use crate::quota::heed_another;
use crate::visit::Visit;

/// The newest event of the connection's stream.
const EVENT_ID: HeaderName = HeaderName::from_static("x-acp-event-id");
/// How many bytes the answers to a batch have together, except to what changes something.
const MOST_ANSWERED: usize = 8 * 1024 * 1024;

/// What a method that succeeded leads to.
pub(super) enum Outcome {
    Value(Value),
    /// One that may be long, and changed nothing.
    Long(Value),
    /// Entries, as they are found.
    Listing(Listed),
    /// What an agent answered.
    Replied(Reply),
}

/// The answer to one message.
enum Answer {
    Whole(Reply),
    Long(Reply),
    Listing(Id, Listed),
}

/// One request of a client that is connected.
pub(super) struct Talk {
    pub(super) visit: Visit,
    pub(super) connection: Arc<Connection>,
    /// Its id, for the audit.
    pub(super) request: Option<Arc<str>>,
}

impl Talk {
    /// Answers what a client sent.
    pub(super) async fn answer(&self, incoming: Result<Incoming, Reply>) -> Response {
        let body = match incoming {
            Err(reply) => Some(with_problem(reply).render().into()),
            Ok(Incoming::One(Message::Response(id, outcome))) => {
                if !prompt::answered(&self.connection, id, outcome) {
                    return self.marked(stray().into_response());
                }
                None
            }
            Ok(Incoming::One(message)) => self.member(message).await.map(|it| match it {
                Answer::Whole(reply) | Answer::Long(reply) => reply.render().into(),
                Answer::Listing(id, listed) => streamed(&id, listed),
            }),
            Ok(Incoming::Many(members)) => {
                let (body, refused) = self.batch(members).await;
                return self.marked(answered(body.map(Body::from), refused));
            }
        };
        self.marked(answered(body, None))
    }

    /// The same answer, which says whose connection it is, and how far the stream was by then: who
    /// waits for that event has heard all that an agent said before it answered.
    fn marked(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.insert(CONNECTION_ID, self.connection.header());
        headers.insert(EVENT_ID, self.connection.outbox.last().into());
        response
    }

    /// Answers the members of a batch one after the other. Nothing if none of them wants an answer.
    /// And what the audit is told of those that came too fast: once, however many there are.
    async fn batch(&self, members: Vec<Message>) -> (Option<Vec<u8>>, Option<Told>) {
        let (mut all, mut refused) = (Vec::new(), None);
        for (place, message) in members.into_iter().enumerate() {
            let let_in = self.let_in(place, &message);
            if let Err(problem) = &let_in {
                refused = refused.or_else(|| Some(problem.told()).filter(|told| told.is_refusal));
            }
            let answer = match (let_in, message) {
                (Ok(()), message) => self.member(message).await,
                (Err(problem), Message::Request(id, _)) => {
                    Some(Answer::Whole(Reply::failed(id, failure(&problem))))
                }
                (Err(_), Message::Notification(_) | Message::Response(..)) => None,
                (Err(_), Message::Invalid(reply)) => Some(Answer::Whole(with_problem(reply))),
            };
            let left = MOST_ANSWERED.saturating_sub(all.len());
            if let Some(answer) = answer {
                all.push(if all.is_empty() { b'[' } else { b',' });
                all.extend(gathered(answer, left).await);
            }
        }
        if all.is_empty() {
            return (None, refused);
        }
        all.push(b']');
        (Some(all), refused)
    }

    /// Refuses a member of a batch that comes too fast, or would keep the others waiting.
    fn let_in(&self, place: usize, message: &Message) -> Result<(), Problem> {
        if let Message::Request(_, call) | Message::Notification(call) = message
            && Method::of(&call.method) == Some(Method::Prompt)
        {
            return Err(prompt::not_in_a_batch());
        }
        // The first was counted when the request came.
        if place == 0 {
            return Ok(());
        }
        heed_another(self.visit.app(), self.visit.caller.actor)
    }

    async fn member(&self, message: Message) -> Option<Answer> {
        match message {
            Message::Invalid(reply) => Some(Answer::Whole(with_problem(reply))),
            Message::Response(id, outcome) => {
                let is_awaited = prompt::answered(&self.connection, id, outcome);
                (!is_awaited).then(|| Answer::Whole(Reply::failed(Id::Null, failure(&stray()))))
            }
            // Nobody waits for what comes of it.
            Message::Notification(call) => {
                drop(self.run(Id::Null, call).await);
                None
            }
            Message::Request(id, call) => Some(match self.run(id.clone(), call).await {
                Ok(Outcome::Value(value)) => Answer::Whole(Reply::result(id, value)),
                Ok(Outcome::Long(value)) => Answer::Long(Reply::result(id, value)),
                Ok(Outcome::Replied(reply)) => Answer::Whole(reply),
                Ok(Outcome::Listing(listed)) => Answer::Listing(id, listed),
                Err(failure) => Answer::Whole(Reply::failed(id, failure)),
            }),
        }
    }

    /// Does what a call asks for. Each has a recorder of its own, so that each refusal is told once.
    async fn run(&self, id: Id, call: Call) -> Result<Outcome, Failure> {
        let Call { method: name, params } = call;
        let method = Method::of(&name).ok_or_else(|| unknown_method(&name))?;
        let asked = Arguments::of(&name, params).map_err(|problem| failure(&problem))?;
        let subject = audited::subject(&self.visit, &asked);
        let actor = self.visit.caller.actor;
        let recorder = Recorder::new(self.visit.audit.clone(), actor, self.request.clone());
        let visit = self.visit.recorded(recorder.clone());
        match self.dispatch(&visit, method, id, asked).await {
            Ok(outcome) => Ok(outcome),
            Err(problem) => {
                audited::note(&visit, &recorder, method, subject, &problem).await;
                Err(failure(&problem))
            }
        }
    }

    async fn dispatch(
        &self,
        visit: &Visit,
        method: Method,
        id: Id,
        mut asked: Arguments,
    ) -> Result<Outcome, Problem> {
        let connection = &*self.connection;
        match method {
            Method::Initialize => self.greet_again(&mut asked),
            Method::NewSession => sessions::new(visit, connection, asked),
            Method::LoadSession | Method::ResumeSession => sessions::load(visit, connection, asked),
            Method::ForkSession => sessions::fork(visit, connection, asked),
            Method::ListSessions => sessions::list(visit, asked),
            Method::SessionInfos => sessions::infos(visit, asked),
            Method::SessionInfo => sessions::info(visit, asked),
            Method::TerminateSession => sessions::terminate(visit, asked),
            Method::DetachSession => sessions::detach(visit, connection, asked),
            Method::SetMetadata => sessions::set_metadata(visit, asked),
            Method::Prompt => prompt::prompt(visit, connection, id, asked).await,
            Method::Cancel => prompt::cancel(visit, asked),
            Method::ListEntries => files::list(visit, asked).await,
            Method::Stat => files::stat(visit, asked).await,
            Method::MakeDirectory => files::make_directory(visit, asked).await,
            Method::Move => files::relocate(visit, asked).await,
            Method::DeleteEntry => files::delete(visit, asked).await,
            Method::ReadFile => files::read(visit, asked).await,
            Method::WriteFile => files::write(visit, asked).await,
            Method::UploadBatch => files::upload(visit, asked).await,
        }
    }

    /// Whoever is connected may ask again what there is, but not for another agent.
    fn greet_again(&self, asked: &mut Arguments) -> Result<Outcome, Problem> {
        let named = asked.meta()?.optional("agent")?;
        let agent = self.connection.agent;
        if named.is_some_and(|named| named != agent) {
            let message = format!("the connection is for the agent {agent}");
            return Err(Problem::new(StatusCode::CONFLICT, Class::CONFLICT, &message)
                .message(&message)
                .agent(agent)
                .kind("already_exists")
                .hint("open another connection, without x-acp-connection-id"));
        }
        greeting::greeting(asked).map(Outcome::Value)
    }
}

/// An answer over HTTP, and what the audit is told of it.
fn answered(body: Option<Body>, refused: Option<Told>) -> Response {
    let mut response = match body {
        Some(body) => ([(CONTENT_TYPE, "application/json")], body).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    };
    if let Some(told) = refused {
        response.extensions_mut().insert(told);
    }
    response
}

/// The problem of an answer that nobody waits for.
fn stray() -> Problem {
    let message = "JSON-RPC response id does not match any pending ACP agent request";
    Problem::invalid_request(message).hint("answer what the event stream asked, once")
}

/// What comes before and behind the entries of a listing.
fn around(id: &Id, next_after: Option<&str>) -> (Vec<u8>, Vec<u8>) {
    let mut before = b"{\"id\":".to_vec();
    before.extend(render(id));
    before.extend(b",\"jsonrpc\":\"2.0\",\"result\":{\"entries\":");
    let mut behind = Vec::new();
    if let Some(name) = next_after {
        behind.extend(b",\"nextAfter\":");
        behind.extend(render(&name));
    }
    behind.extend(b"}}");
    (before, behind)
}

/// A listing that is written while it is found.
fn streamed(id: &Id, listed: Listed) -> Body {
    let (before, behind) = around(id, listed.next_after.as_deref());
    let part = |bytes: Vec<u8>| stream::iter([Ok(Bytes::from(bytes))]);
    let entries = listed.body.into_data_stream();
    Body::from_stream(part(before).chain(entries).chain(part(behind)))
}

/// An answer as bytes, if it has no more than so many. What changed something is always told.
async fn gathered(answer: Answer, left: usize) -> Vec<u8> {
    let (id, listed) = match answer {
        Answer::Whole(reply) => return reply.render(),
        Answer::Long(reply) => {
            let bytes = reply.render();
            let fits = bytes.len() <= left;
            return if fits { bytes } else { reply.instead(failure(&too_long())).render() };
        }
        Answer::Listing(id, listed) => (id, listed),
    };
    let (before, behind) = around(&id, listed.next_after.as_deref());
    match Limited::new(listed.body, left).collect().await {
        Ok(entries) => [&before[..], &entries.to_bytes(), &behind].concat(),
        Err(err) if err.is::<LengthLimitError>() => {
            Reply::failed(id, failure(&too_long())).render()
        }
        Err(error) => {
            tracing::warn!(%error, "a listing in a batch broke off");
            Reply::failed(id, failure(&broken_off())).render()
        }
    }
}

fn broken_off() -> Problem {
    let message = "the listing broke off";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Class::STREAM_ERROR, message)
        .message(message)
        .kind("unavailable")
        .hint("ask for it again")
}

fn too_long() -> Problem {
    let message = format!("the answers to a batch have at most {MOST_ANSWERED} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, Class::LIMIT_EXCEEDED, &message)
        .message(&message)
        .kind("limit_exceeded")
        .hint("ask for this by itself, or for a smaller part of it")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[tokio::test]
    async fn a_listing_that_breaks_off_is_not_too_long() {
        let listed = |pieces: Vec<io::Result<&'static str>>| {
            let body = Body::from_stream(stream::iter(pieces));
            Answer::Listing(1.into(), Listed { body, next_after: None })
        };
        let kind = |bytes: Vec<u8>| {
            let reply: Value = serde_json::from_slice(&bytes).unwrap();
            reply["error"]["data"]["kind"].clone()
        };
        let whole = gathered(listed(vec![Ok("[]")]), 9).await;
        assert_eq!(whole, br#"{"id":1,"jsonrpc":"2.0","result":{"entries":[]}}"#);
        let long = gathered(listed(vec![Ok("[1,2,"), Ok("3,4]")]), 8).await;
        assert_eq!(kind(long), "limit_exceeded");
        let broken = gathered(listed(vec![Ok("["), Err(io::Error::other("x"))]), 8).await;
        assert_eq!(kind(broken), "unavailable");
    }
}
