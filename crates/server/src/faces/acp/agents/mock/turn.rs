//! One turn: a prompt whose wishes are granted one after the other.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, FileSystemCapabilities, PromptResponse, ReadTextFileRequest,
    ReadTextFileResponse, SessionId, StopReason, WriteTextFileRequest,
};
use serde::Serialize;
use serde_json::Value;

use super::memory::Memory;
use super::speech::{self, Speaker, cut, json, pieces};
use super::wish::{self, Wish, wishes};
use crate::faces::acp::agents::Said;
use crate::jsonrpc::{Id, Reply};

/// How long a client is waited for that was asked for a file.
const PATIENCE: Duration = Duration::from_secs(30);

/// A prompt that is being answered.
#[derive(Debug)]
pub(super) struct Turn {
    prompt: Id,
    wishes: VecDeque<Wish>,
    pause: Option<Pause>,
}

/// Why a turn does not go on.
#[derive(Debug)]
struct Pause {
    until: Instant,
    awaited: Awaited,
}

#[derive(Debug)]
enum Awaited {
    /// Time to pass.
    Time,
    /// The client's answer to a request.
    Answer { request: String, wish: Asked },
}

/// What the client was asked to do.
#[derive(Debug)]
enum Asked {
    Read(String),
    Write(String),
}

/// What a turn sees of the session that it is in.
pub(super) struct Scene<'a> {
    pub(super) session: &'a SessionId,
    pub(super) directory: &'a str,
    /// What the client can do.
    pub(super) client: &'a FileSystemCapabilities,
    pub(super) memory: &'a mut Memory,
    /// How much the client was asked by now: no two requests have one id.
    pub(super) requests: &'a mut u64,
    pub(super) said: &'a mut Vec<Said>,
    pub(super) now: Instant,
}

/// Whether a turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Waits,
    Ended,
}

impl Turn {
    pub(super) fn new(prompt: Id, words: &str) -> Self {
        let mut wishes = wishes(words);
        if wishes.len() > wish::MOST {
            wishes.truncate(wish::MOST);
            wishes.push_back(Wish::Repeat(format!("only {} wishes are granted", wish::MOST)));
        }
        if wishes.is_empty() {
            wishes.push_back(Wish::Repeat("nothing was asked".to_owned()));
        }
        Self { prompt, wishes, pause: None }
    }

    /// When it goes on by itself, if it waits.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pause.as_ref().map(|pause| pause.until)
    }

    /// Whether it waits for the answer to a request.
    pub(super) fn awaits(&self, id: &Id) -> bool {
        let awaited = self.pause.as_ref().map(|pause| &pause.awaited);
        matches!((awaited, id), (Some(Awaited::Answer { request, .. }), Id::Text(id)) if request == id)
    }

    /// Grants wishes until it has to wait or has granted all.
    pub(super) fn go_on(&mut self, scene: &mut Scene<'_>) -> Flow {
        while self.pause.is_none() {
            let Some(wish) = self.wishes.pop_front() else {
                self.end(StopReason::EndTurn, scene);
                return Flow::Ended;
            };
            self.pause = scene.grant(wish);
        }
        Flow::Waits
    }

    /// The client answered what it was asked.
    pub(super) fn answered(
        &mut self,
        outcome: &Result<Value, Value>,
        scene: &mut Scene<'_>,
    ) -> Flow {
        if let Some(Pause { awaited: Awaited::Answer { wish, .. }, .. }) = self.pause.take() {
            scene.say(&wish.told(outcome));
        }
        self.go_on(scene)
    }

    /// Time has passed.
    pub(super) fn passed(&mut self, scene: &mut Scene<'_>) -> Flow {
        match self.pause.take_if(|pause| pause.until <= scene.now).map(|pause| pause.awaited) {
            Some(Awaited::Answer { wish: Asked::Read(path) | Asked::Write(path), .. }) => {
                let seconds = PATIENCE.as_secs();
                scene.say(&format!("{path}: the client did not answer for {seconds} seconds"));
            }
            Some(Awaited::Time) | None => {}
        }
        self.go_on(scene)
    }

    /// Answers the prompt: nothing more comes of it.
    pub(super) fn end(&self, why: StopReason, scene: &mut Scene<'_>) {
        let id = self.prompt.clone();
        let result = json(PromptResponse::new(why));
        scene.said.push(Said::Reply(id.clone(), Reply::result(id, result)));
    }
}

impl Scene<'_> {
    /// Grants a wish, or begins to: then there is something to wait for.
    fn grant(&mut self, wish: Wish) -> Option<Pause> {
        match wish {
            Wish::Repeat(text) => {
                self.say(&text);
                None
            }
            Wish::Wait(time) => Some(Pause { until: self.now + time, awaited: Awaited::Time }),
            Wish::Read(path) if !self.client.read_text_file => {
                self.say(&cannot("read", &path, "readTextFile"));
                None
            }
            Wish::Read(path) => {
                let params = ReadTextFileRequest::new(self.session.clone(), self.absolute(&path));
                Some(self.ask(CLIENT_METHOD_NAMES.fs_read_text_file, params, Asked::Read(path)))
            }
            Wish::Write { path, .. } if !self.client.write_text_file => {
                self.say(&cannot("write", &path, "writeTextFile"));
                None
            }
            Wish::Write { path, text } => {
                let at = self.absolute(&path);
                let params = WriteTextFileRequest::new(self.session.clone(), at, text);
                Some(self.ask(CLIENT_METHOD_NAMES.fs_write_text_file, params, Asked::Write(path)))
            }
        }
    }

    fn ask<P: Serialize>(&mut self, method: &str, params: P, wish: Asked) -> Pause {
        *self.requests += 1;
        // The client counts its own requests: a text is none of them.
        let request = format!("mock-{}", self.requests);
        self.said.push(speech::request(&request, method, params));
        Pause { until: self.now + PATIENCE, awaited: Awaited::Answer { request, wish } }
    }

    /// Says something to the client.
    pub(super) fn say(&mut self, text: &str) {
        let text = format!("mock: {}", cut(text));
        let pieces = pieces(&text);
        let updates =
            pieces.into_iter().map(|piece| speech::update(self.session, Speaker::Mock, piece));
        self.said.extend(updates);
        self.memory.keep(Speaker::Mock, text);
    }

    /// The protocol has absolute paths alone.
    fn absolute(&self, path: &str) -> String {
        match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("{}/{path}", self.directory.trim_end_matches('/')),
        }
    }
}

impl Asked {
    /// What came of it, in words.
    fn told(&self, outcome: &Result<Value, Value>) -> String {
        match (self, outcome) {
            (Self::Read(path), Ok(result)) => {
                match serde_json::from_value::<ReadTextFileResponse>(result.clone()) {
                    Ok(file) => {
                        format!("{path} has {} bytes: {}", file.content.len(), file.content)
                    }
                    Err(err) => format!("{path}: the client's answer makes no sense: {err}"),
                }
            }
            (Self::Write(path), Ok(_)) => format!("{path} is written"),
            (Self::Read(path), Err(error)) => format!("{path} cannot be read: {}", reason(error)),
            (Self::Write(path), Err(error)) => {
                format!("{path} cannot be written: {}", reason(error))
            }
        }
    }
}

fn cannot(verb: &str, path: &str, capability: &str) -> String {
    format!("I cannot {verb} {path}: the client does not offer fs.{capability}")
}

fn reason(error: &Value) -> &str {
    error.get("message").and_then(Value::as_str).unwrap_or("the client gives no reason")
}
