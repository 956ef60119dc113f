//! The mock, message by message.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;

/// A client that talks with a mock. Time passes only when it is told to.
struct Talk {
    mock: Mock,
    now: Instant,
}

impl Talk {
    fn with(capabilities: &Value) -> Self {
        let mut talk = Self { mock: Mock::default(), now: Instant::now() };
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        talk.ask(0, "initialize", params);
        talk
    }

    fn in_session(capabilities: &Value) -> Self {
        let mut talk = Self::with(capabilities);
        talk.ask(1, "session/new", json!({"cwd": "/project", "mcpServers": []}));
        talk
    }

    fn hear(&mut self, message: Value) -> Vec<Value> {
        let said = self.mock.hear(Message::of(message), self.now);
        said.into_iter().map(shown).collect()
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Vec<Value> {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        message["params"] = params;
        self.hear(message)
    }

    fn prompt(&mut self, id: u64, text: &str) -> Vec<Value> {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask(id, "session/prompt", json!({"sessionId": "mock-session-1", "prompt": prompt}))
    }

    fn cancel(&mut self) -> Vec<Value> {
        let params = json!({"sessionId": "mock-session-1"});
        self.hear(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))
    }

    fn wait(&mut self, seconds: f64) -> Vec<Value> {
        self.now += Duration::from_secs_f64(seconds);
        self.mock.passed(self.now).into_iter().map(shown).collect()
    }
}

fn shown(said: Said) -> Value {
    match said {
        Said::Reply(id, reply) => {
            let reply = json(reply);
            assert_eq!(reply["id"], json(id));
            reply
        }
        Said::Message(message) => message,
    }
}

fn all() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

/// What the mock said in words.
fn words(said: &[Value]) -> String {
    let chunks = said.iter().filter(|said| said["method"] == "session/update");
    chunks.map(|chunk| chunk["params"]["update"]["content"]["text"].as_str().unwrap()).collect()
}

/// How the turn ended, if it did.
fn end(said: &[Value]) -> Option<(u64, &str)> {
    let last = said.last()?;
    Some((last["id"].as_u64()?, last["result"]["stopReason"].as_str()?))
}

fn code(said: &[Value]) -> i64 {
    assert_eq!(said.len(), 1, "{said:?}");
    said[0]["error"]["code"].as_i64().unwrap()
}

#[test]
fn it_says_who_it_is_and_needs_no_login() {
    let mut talk = Talk { mock: Mock::default(), now: Instant::now() };
    let said = talk.ask(7, "initialize", json!({"protocolVersion": 1}));
    let [answer] = &said[..] else { panic!("{said:?}") };
    assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!(7), &json!(1)));
    assert_eq!(answer["result"]["agentInfo"]["name"], "mock");
    assert_eq!(answer["result"]["agentCapabilities"]["loadSession"], true);
    assert_eq!(answer["result"]["authMethods"], json!([]));
}

#[test]
fn it_speaks_one_version_whichever_it_is_asked_for() {
    let mut talk = Talk::with(&json!({}));
    let said = talk.ask(1, "initialize", json!({"protocolVersion": 9}));
    assert_eq!(said[0]["result"]["protocolVersion"], 1);
}

#[test]
fn sessions_are_counted() {
    let mut talk = Talk::with(&json!({}));
    for count in 1..=2 {
        let said = talk.ask(1, "session/new", json!({"cwd": "/", "mcpServers": []}));
        assert_eq!(said[0]["result"]["sessionId"], format!("mock-session-{count}"));
    }
}

#[test]
fn a_session_begins_in_an_absolute_directory() {
    let mut talk = Talk::with(&json!({}));
    for params in [json!({"cwd": "a", "mcpServers": []}), json!({"mcpServers": []}), json!({})] {
        assert_eq!(code(&talk.ask(1, "session/new", params)), Failure::INVALID_PARAMS);
    }
}

#[test]
fn a_client_has_a_largest_number_of_sessions() {
    let mut talk = Talk::with(&json!({}));
    for _ in 0..MOST_SESSIONS {
        let said = talk.ask(1, "session/new", json!({"cwd": "/", "mcpServers": []}));
        assert!(said[0]["result"].is_object());
    }
    let said = talk.ask(1, "session/new", json!({"cwd": "/", "mcpServers": []}));
    assert_eq!(code(&said), Failure::INVALID_REQUEST);
}

#[test]
fn a_prompt_is_said_back_in_pieces_and_then_answered() {
    let mut talk = Talk::in_session(&json!({}));
    let said = talk.prompt(2, "hello there");
    assert!(said.len() > 2, "{said:?}");
    assert_eq!(words(&said), "mock: hello there");
    assert_eq!(end(&said), Some((2, "end_turn")));
    let update = &said[0]["params"];
    assert_eq!(update["sessionId"], "mock-session-1");
    assert_eq!(update["update"]["sessionUpdate"], "agent_message_chunk");
}

#[test]
fn an_empty_prompt_is_answered_too() {
    let mut talk = Talk::in_session(&json!({}));
    let said = talk.prompt(2, "");
    assert_eq!(
        (words(&said).as_str(), end(&said)),
        ("mock: nothing was asked", Some((2, "end_turn")))
    );
}

#[test]
fn a_file_is_read_by_the_client() {
    let mut talk = Talk::in_session(&all());
    let asked = talk.prompt(2, "read notes.txt");
    let [request] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(request["method"], "fs/read_text_file");
    let params = json!({"sessionId": "mock-session-1", "path": "/project/notes.txt"});
    assert_eq!(request["params"], params);
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": "hello"}});
    let said = talk.hear(answer.clone());
    assert_eq!(words(&said), "mock: notes.txt has 5 bytes: hello");
    assert_eq!(end(&said), Some((2, "end_turn")));
    assert_eq!(talk.hear(answer), Vec::<Value>::new());
}

#[test]
fn a_file_is_written_by_the_client_and_then_the_turn_goes_on() {
    let mut talk = Talk::in_session(&all());
    let asked = talk.prompt(2, "write /abs/a.txt some text\ndone");
    let [request] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(request["method"], "fs/write_text_file");
    let params =
        json!({"sessionId": "mock-session-1", "path": "/abs/a.txt", "content": "some text"});
    assert_eq!(request["params"], params);
    let said = talk.hear(json!({"jsonrpc": "2.0", "id": request["id"], "result": null}));
    assert_eq!(words(&said), "mock: /abs/a.txt is writtenmock: done");
    assert_eq!(end(&said), Some((2, "end_turn")));
}

#[test]
fn no_two_requests_have_one_id() {
    let mut talk = Talk::in_session(&all());
    let first = talk.prompt(2, "read a\nread b");
    let second =
        talk.hear(json!({"jsonrpc": "2.0", "id": first[0]["id"], "result": {"content": ""}}));
    let second = second.last().unwrap();
    assert_eq!(second["method"], "fs/read_text_file");
    assert_ne!(first[0]["id"], second["id"]);
}

#[test]
fn a_client_that_offers_no_files_is_told_so_in_words() {
    let mut talk = Talk::in_session(&json!({"fs": {"readTextFile": true}}));
    let said = talk.prompt(2, "write a.txt x");
    let told = "mock: I cannot write a.txt: the client does not offer fs.writeTextFile";
    assert_eq!((words(&said).as_str(), end(&said)), (told, Some((2, "end_turn"))));
    let mut talk = Talk::in_session(&json!({}));
    let said = talk.prompt(2, "read a.txt");
    assert_eq!(
        words(&said),
        "mock: I cannot read a.txt: the client does not offer fs.readTextFile"
    );
}

#[test]
fn what_the_client_cannot_do_is_told_with_its_reason() {
    let mut talk = Talk::in_session(&all());
    let asked = talk.prompt(2, "read a");
    let error = json!({"code": -32002, "message": "no such file"});
    let said = talk.hear(json!({"jsonrpc": "2.0", "id": asked[0]["id"], "error": error}));
    assert_eq!(words(&said), "mock: a cannot be read: no such file");
    let asked = talk.prompt(3, "write a b");
    let said = talk.hear(json!({"jsonrpc": "2.0", "id": asked[0]["id"], "error": 1}));
    assert_eq!(words(&said), "mock: a cannot be written: the client gives no reason");
    assert_eq!(end(&said), Some((3, "end_turn")));
}

#[test]
fn an_answer_that_makes_no_sense_does_not_stop_it() {
    let mut talk = Talk::in_session(&all());
    let asked = talk.prompt(2, "read a");
    let said = talk.hear(json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": 7}));
    assert!(words(&said).starts_with("mock: a: the client's answer makes no sense"), "{said:?}");
    assert_eq!(end(&said), Some((2, "end_turn")));
}

#[test]
fn a_client_that_does_not_answer_is_not_waited_for_for_ever() {
    let mut talk = Talk::in_session(&all());
    let asked = talk.prompt(2, "read a\ngo on");
    assert_eq!(talk.mock.deadline(), Some(talk.now + Duration::from_secs(30)));
    assert_eq!(talk.wait(29.9), Vec::<Value>::new());
    let said = talk.wait(0.1);
    let told = "mock: a: the client did not answer for 30 secondsmock: go on";
    assert_eq!((words(&said).as_str(), end(&said)), (told, Some((2, "end_turn"))));
    assert_eq!(talk.mock.deadline(), None);
    let late = json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {"content": "late"}});
    assert_eq!(talk.hear(late), Vec::<Value>::new());
}

#[test]
fn a_wait_takes_its_time() {
    let mut talk = Talk::in_session(&json!({}));
    assert_eq!(words(&talk.prompt(2, "first\nwait 2\nlast")), "mock: first");
    assert_eq!(talk.wait(1.0), Vec::<Value>::new());
    let said = talk.wait(1.0);
    assert_eq!((words(&said).as_str(), end(&said)), ("mock: last", Some((2, "end_turn"))));
}

#[test]
fn a_cancelled_turn_ends_at_once_and_the_session_goes_on() {
    let mut talk = Talk::in_session(&all());
    let asked = talk.prompt(2, "read a\nnever said");
    let said = talk.cancel();
    assert_eq!((words(&said).as_str(), end(&said)), ("", Some((2, "cancelled"))));
    let late = json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {"content": "late"}});
    assert_eq!(talk.hear(late), Vec::<Value>::new());
    assert_eq!(talk.cancel(), Vec::<Value>::new());
    assert_eq!(end(&talk.prompt(3, "again")), Some((3, "end_turn")));
}

#[test]
fn sessions_take_their_turns_apart() {
    let mut talk = Talk::in_session(&json!({}));
    talk.ask(1, "session/new", json!({"cwd": "/", "mcpServers": []}));
    talk.prompt(2, "wait 5\nslow");
    assert_eq!(code(&talk.prompt(3, "too early")), Failure::INVALID_REQUEST);
    let prompt = json!([{"type": "text", "text": "quick"}]);
    let other = json!({"sessionId": "mock-session-2", "prompt": prompt});
    assert_eq!(end(&talk.ask(4, "session/prompt", other)), Some((4, "end_turn")));
    assert_eq!(end(&talk.wait(5.0)), Some((2, "end_turn")));
}

#[test]
fn a_client_has_a_largest_number_of_turns() {
    let mut talk = Talk::with(&json!({}));
    let mut prompt = |session: usize| {
        talk.ask(1, "session/new", json!({"cwd": "/", "mcpServers": []}));
        let prompt = json!([{"type": "text", "text": "wait 1"}]);
        let session = format!("mock-session-{session}");
        talk.ask(2, "session/prompt", json!({"sessionId": session, "prompt": prompt}))
    };
    for session in 1..=MOST_TURNS {
        assert_eq!(prompt(session), Vec::<Value>::new());
    }
    assert_eq!(code(&prompt(MOST_TURNS + 1)), Failure::INVALID_REQUEST);
}

#[test]
fn only_so_many_wishes_are_granted() {
    let mut talk = Talk::in_session(&json!({}));
    let said = talk.prompt(2, &"wait 0\nx\n".repeat(100));
    assert_eq!(said, Vec::<Value>::new());
    let mut last = Vec::new();
    while talk.mock.deadline().is_some() {
        last = talk.wait(0.0);
    }
    assert!(words(&last).ends_with("only 32 wishes are granted"), "{last:?}");
    assert_eq!(end(&last), Some((2, "end_turn")));
}

#[test]
fn a_loaded_session_is_told_again() {
    let mut talk = Talk::in_session(&json!({}));
    talk.prompt(2, "hello");
    let params = json!({"sessionId": "mock-session-1", "cwd": "/", "mcpServers": []});
    let said = talk.ask(3, "session/load", params);
    let kind = |index: usize| said[index]["params"]["update"]["sessionUpdate"].clone();
    assert_eq!([kind(0), kind(1)], ["user_message_chunk", "agent_message_chunk"]);
    assert_eq!(words(&said), "hellomock: hello");
    assert_eq!(said[2]["id"], 3);
    assert!(said[2]["result"].is_object());
}

#[test]
fn an_unknown_session_is_not_found() {
    let mut talk = Talk::with(&json!({}));
    assert_eq!(code(&talk.prompt(2, "hello")), NOT_FOUND);
    let params = json!({"sessionId": "x", "cwd": "/", "mcpServers": []});
    assert_eq!(code(&talk.ask(3, "session/load", params)), NOT_FOUND);
    assert_eq!(talk.cancel(), Vec::<Value>::new());
}

#[test]
fn an_adopted_session_can_be_prompted() {
    let mut talk = Talk::with(&all());
    talk.mock.adopt("mock-session-1", "/home");
    let asked = talk.prompt(2, "read a");
    assert_eq!(asked[0]["params"]["path"], "/home/a");
    // It may have moved meanwhile.
    talk.cancel();
    talk.mock.adopt("mock-session-1", "/elsewhere");
    let asked = talk.prompt(3, "read a");
    assert_eq!(asked[0]["params"]["path"], "/elsewhere/a");
}

#[test]
fn adopted_sessions_make_room_for_others_but_not_in_a_turn() {
    let mut talk = Talk::with(&all());
    talk.mock.adopt("mock-session-1", "/");
    talk.prompt(2, "wait 9");
    for number in 0..2 * MOST_SESSIONS {
        talk.mock.adopt(&format!("s{number}"), "/");
    }
    assert_eq!(talk.mock.sessions.len(), MOST_SESSIONS);
    assert!(talk.mock.is_in_turn("mock-session-1"));
    let newest = format!("s{}", 2 * MOST_SESSIONS - 1);
    assert!(talk.mock.sessions.contains_key(&SessionId::new(newest)));
}

#[test]
fn what_it_does_not_know_is_not_found_and_a_foreign_notification_is_ignored() {
    let mut talk = Talk::in_session(&json!({}));
    for method in ["session/set_mode", "authenticate", "_x", ""] {
        assert_eq!(code(&talk.ask(2, method, json!({}))), Failure::METHOD_NOT_FOUND);
    }
    for method in ["session/prompt", "session/cancel", "_x"] {
        let said = talk.hear(json!({"jsonrpc": "2.0", "method": method, "params": []}));
        assert_eq!(said, Vec::<Value>::new());
    }
}

#[test]
fn a_prompt_that_cannot_be_meant_is_refused() {
    let mut talk = Talk::in_session(&json!({}));
    for prompt in [json!(null), json!("hello"), json!([{"type": "image"}]), json!([1])] {
        let params = json!({"sessionId": "mock-session-1", "prompt": prompt});
        assert_eq!(code(&talk.ask(2, "session/prompt", params)), Failure::INVALID_PARAMS);
    }
}

/// Messages that make sense, nearly make sense, or make none.
struct Babble(SmallRng);

impl Babble {
    fn message(&mut self, number: u64) -> Value {
        match self.0.random_range(0..10) {
            0 => json!({"jsonrpc": "2.0", "id": self.any(2), "result": self.any(2)}),
            1 => {
                let request = format!("mock-{}", self.0.random_range(0..40));
                let result = json!({"content": self.text()});
                json!({"jsonrpc": "2.0", "id": request, "result": result})
            }
            2 => json!({"jsonrpc": "2.0", "method": self.method(), "params": self.params()}),
            3 => {
                let params = json!({"sessionId": self.session()});
                json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params})
            }
            _ => json!({
                "jsonrpc": "2.0", "id": number, "method": self.method(), "params": self.params()
            }),
        }
    }

    fn method(&mut self) -> &'static str {
        let methods =
            ["session/prompt", "session/prompt", "session/new", "session/load", "initialize", "x"];
        methods[self.0.random_range(0..methods.len())]
    }

    fn params(&mut self) -> Value {
        let files = json!({"readTextFile": self.any(1), "writeTextFile": true});
        let mut params = json!({
            "protocolVersion": 1, "clientCapabilities": {"fs": files}, "cwd": "/", "mcpServers": [],
            "sessionId": self.session(), "prompt": [{"type": "text", "text": self.text()}],
        });
        if self.0.random_ratio(1, 4) {
            let fields = params.as_object_mut().unwrap();
            let names: Vec<_> = fields.keys().cloned().collect();
            let name = names[self.0.random_range(0..names.len())].clone();
            fields.insert(name, self.any(3));
        }
        if self.0.random_ratio(1, 20) { self.any(2) } else { params }
    }

    fn session(&mut self) -> String {
        format!("mock-session-{}", self.0.random_range(0..6))
    }

    fn text(&mut self) -> String {
        let lines =
            ["read a", "write b c", "wait 0.5", "wait 9", "hello", "", "ü文🦀", "read", "\r"];
        let count = self.0.random_range(0..6);
        let lines: Vec<_> =
            (0..count).map(|_| lines[self.0.random_range(0..lines.len())]).collect();
        lines.join("\n")
    }

    fn any(&mut self, depth: u32) -> Value {
        match self.0.random_range(0..if depth == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.0.random_ratio(1, 2)),
            2 => json!(self.0.random::<f64>() * 1e18),
            3 => json!(self.0.random_range(0..100_000)),
            4 => json!(self.text()),
            5 => json!([self.any(depth - 1), self.any(depth - 1)]),
            _ => json!({"type": self.any(depth - 1), "path": self.any(depth - 1)}),
        }
    }
}

#[test]
fn whatever_is_said_every_request_is_answered_once() {
    let seed = rand::random::<u64>();
    let mut babble = Babble(SmallRng::seed_from_u64(seed));
    let mut talk = Talk::with(&all());
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let mut note = |said: Vec<Value>| {
        let ids = said.iter().filter(|said| said["method"].is_null());
        answered.extend(ids.map(|said| said["id"].as_u64().unwrap()));
    };
    for number in 1..=20_000 {
        let message = babble.message(number);
        match Message::of(message.clone()) {
            // What JSON-RPC itself refuses comes to no agent.
            Message::Invalid(_) => continue,
            Message::Request(..) => asked.push(number),
            Message::Notification(_) | Message::Response(..) => {}
        }
        note(talk.hear(message));
        note(talk.wait(babble.0.random_range(0.0..0.2)));
        assert!(talk.mock.sessions.len() <= MOST_SESSIONS, "seed {seed}");
    }
    while talk.mock.deadline().is_some() {
        note(talk.wait(1.0));
    }
    answered.sort_unstable();
    assert_eq!(answered, asked, "seed {seed}");
}
