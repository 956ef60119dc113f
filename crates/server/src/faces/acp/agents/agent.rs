//! One agent at work: what its client sends goes in, what it says goes to whoever waits for it.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep_until;

use super::Said;
use super::mock::Mock;
use crate::faces::acp::outbox::Outbox;
use crate::jsonrpc::{Call, Id, Message, Reply};

/// An agent and the outbox that it speaks into.
#[derive(Debug)]
pub(in crate::faces::acp) struct Agent {
    state: Mutex<State>,
    outbox: Arc<Outbox>,
    replies: Replies,
    /// The agent's next word may be due earlier than it was.
    hurry: Arc<Notify>,
}

/// Where the answers to a client's requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces::acp) enum Replies {
    /// To whoever waits for them, and into the outbox.
    Everywhere,
    /// To whoever waits for them.
    ToWhoeverWaits,
}

#[derive(Debug, Default)]
struct State {
    mock: Mock,
    /// Whoever waits for an answer, and the id that he chose, by a number of our own: two requests
    /// may have one id.
    waiting: HashMap<u64, (Id, oneshot::Sender<Reply>)>,
    /// How many requests there were.
    asked: u64,
    /// Whether somebody looks at the clock.
    is_timed: bool,
    /// Whether nothing more is heard.
    is_ended: bool,
}

/// A request that an agent was sent.
#[derive(Debug)]
pub(in crate::faces::acp) struct Asked {
    /// What it is called here.
    pub(in crate::faces::acp) number: u64,
    /// What it is answered; if that never comes, the agent has ended.
    pub(in crate::faces::acp) answer: oneshot::Receiver<Reply>,
}

impl Agent {
    /// The mock, at the beginning.
    pub(in crate::faces::acp) fn mock(outbox: Arc<Outbox>, replies: Replies) -> Arc<Self> {
        let (state, hurry) = (Mutex::default(), Arc::default());
        Arc::new(Self { state, outbox, replies, hurry })
    }

    /// Makes a session known that was opened elsewhere, or where it works by now.
    pub(in crate::faces::acp) fn adopt(&self, id: &str, directory: &str) {
        self.state.lock().mock.adopt(id, directory);
    }

    /// Forgets a session. A turn that it is in ends.
    pub(in crate::faces::acp) fn forget(&self, id: &str) {
        let mut state = self.state.lock();
        let said = state.mock.forget(id, now());
        self.deliver(&mut state, said);
    }

    /// Whether a session is in a turn.
    pub(in crate::faces::acp) fn is_in_turn(&self, session: &str) -> bool {
        self.state.lock().mock.is_in_turn(session)
    }

    /// Ends the turn of a session, if it is in one.
    pub(in crate::faces::acp) fn cancel(&self, session: &str) {
        let mut state = self.state.lock();
        let said = state.mock.cancel(session, now());
        self.deliver(&mut state, said);
    }

    /// Ends the turn that a request began, unless it has ended: nobody waits for it any more.
    pub(in crate::faces::acp) fn give_up(&self, request: u64, session: &str) {
        let mut state = self.state.lock();
        // Everything but the turn of a session is answered at once.
        if state.waiting.contains_key(&request) {
            let said = state.mock.cancel(session, now());
            self.deliver(&mut state, said);
        }
    }

    /// Ends all turns, and hears nothing more.
    pub(in crate::faces::acp) fn end(&self) {
        let mut state = self.state.lock();
        state.is_ended = true;
        let said = state.mock.end(now());
        self.deliver(&mut state, said);
        state.waiting.clear();
    }

    /// Whether the agent asked its client something by this id, and waits for the answer.
    pub(in crate::faces::acp) fn awaits(&self, id: &Id) -> bool {
        self.state.lock().mock.awaits(id)
    }

    /// Takes a message. Who sent a request may wait for its answer; if that never comes, the agent
    /// has ended.
    pub(in crate::faces::acp) fn hear(
        self: &Arc<Self>,
        message: Message,
    ) -> Option<oneshot::Receiver<Reply>> {
        match message {
            Message::Request(id, call) => Some(self.ask(id, call).answer),
            Message::Notification(_) | Message::Response(..) | Message::Invalid(_) => {
                self.take(&mut self.state.lock(), message);
                None
            }
        }
    }

    /// Takes a request.
    pub(in crate::faces::acp) fn ask(self: &Arc<Self>, id: Id, call: Call) -> Asked {
        let mut state = self.state.lock();
        state.asked += 1;
        let (number, (sender, answer)) = (state.asked, oneshot::channel());
        state.waiting.insert(number, (id, sender));
        self.take(&mut state, Message::Request(number.into(), call));
        Asked { number, answer }
    }

    fn take(self: &Arc<Self>, state: &mut State, message: Message) {
        if state.is_ended {
            return state.waiting.clear();
        }
        let said = state.mock.hear(message, now());
        self.deliver(state, said);
        self.watch_the_clock(state);
    }

    fn deliver(&self, state: &mut State, said: Vec<Said>) {
        for said in said {
            match said {
                Said::Message(message) => drop(self.outbox.post(&message)),
                Said::Reply(number, reply) => {
                    let waiting = number.as_count().and_then(|it| state.waiting.remove(&it));
                    let Some((id, sender)) = waiting else { continue };
                    let reply = reply.to(id);
                    if self.replies == Replies::Everywhere {
                        self.outbox.post(&reply);
                    }
                    // Whoever went away reads it in the outbox.
                    drop(sender.send(reply));
                }
            }
        }
    }

    /// Sees to it that the agent is told when its time has come.
    fn watch_the_clock(self: &Arc<Self>, state: &mut State) {
        if state.mock.deadline().is_none() {
            return;
        }
        self.hurry.notify_one();
        if !state.is_timed {
            state.is_timed = true;
            tokio::spawn(keep_time(Arc::downgrade(self), Arc::clone(&self.hurry)));
        }
    }

    /// Tells the agent the time. When it wants to be told again, if it does.
    fn tell_time(&self) -> Option<Instant> {
        let mut state = self.state.lock();
        let said = state.mock.passed(now());
        self.deliver(&mut state, said);
        let next = state.mock.deadline();
        state.is_timed = next.is_some();
        next
    }
}

/// Tells an agent the time whenever it is due, until it waits for nothing more or has ended.
async fn keep_time(agent: Weak<Agent>, hurry: Arc<Notify>) {
    while let Some(deadline) = agent.upgrade().and_then(|agent| agent.tell_time()) {
        tokio::select! {
            () = sleep_until(deadline.into()) => {}
            () = hurry.notified() => {}
        }
    }
}

/// The time, as the runtime's own clock has it.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::faces::acp::outbox::{CommonStore, Delivery, OutboxRoom};

    fn agent(replies: Replies) -> (Arc<Agent>, Arc<Outbox>) {
        let room = OutboxRoom { messages: 64, bytes: 64 * 1024 };
        let outbox = Outbox::new(room, &CommonStore::new(0), None);
        let agent = Agent::mock(Arc::clone(&outbox), replies);
        agent.adopt("s1", "/");
        agent.adopt("s2", "/");
        (agent, outbox)
    }

    fn prompt(id: &Value, session: &str, text: &str) -> Message {
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": session, "prompt": prompt});
        let method = "session/prompt";
        Message::of(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    async fn events(outbox: &Arc<Outbox>) -> Vec<Value> {
        outbox.close();
        let mut reader = outbox.read(None).await.unwrap();
        let mut events = Vec::new();
        while let Some(Delivery::Message(_, text)) = reader.next().await {
            events.push(serde_json::from_str(&text).unwrap());
        }
        events
    }

    #[tokio::test]
    async fn an_answer_comes_to_whoever_waits_and_behind_all_else_into_the_outbox() {
        let (agent, outbox) = agent(Replies::Everywhere);
        let answer = agent.hear(prompt(&json!(1), "s1", "a b")).unwrap().await.unwrap();
        assert!(answer.failure().is_none());
        let events = events(&outbox).await;
        assert_eq!(events.last().unwrap()["result"]["stopReason"], "end_turn");
        assert!(events.len() > 2);
    }

    #[tokio::test]
    async fn an_answer_stays_out_of_the_outbox_where_nobody_looks_for_it() {
        let (agent, outbox) = agent(Replies::ToWhoeverWaits);
        agent.hear(prompt(&json!(1), "s1", "a b")).unwrap().await.unwrap();
        assert!(events(&outbox).await.iter().all(|event| event["method"] == "session/update"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_goes_on_by_itself_and_a_shorter_one_is_not_kept_waiting() {
        let (agent, _outbox) = agent(Replies::Everywhere);
        let began = tokio::time::Instant::now();
        let slow = agent.hear(prompt(&json!("slow"), "s1", "wait 50\nwait 5")).unwrap();
        let quick = agent.hear(prompt(&json!("quick"), "s2", "wait 1")).unwrap();
        quick.await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 1);
        slow.await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 55);
        // And a second time, after nobody looked at the clock.
        agent.hear(prompt(&json!(3), "s1", "wait 2")).unwrap().await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 57);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_with_one_id_get_the_answers_that_are_theirs() {
        let (agent, outbox) = agent(Replies::Everywhere);
        let first = agent.hear(prompt(&json!("a"), "s1", "wait 3")).unwrap();
        let second = agent.hear(prompt(&json!("a"), "s1", "too early")).unwrap();
        let third = agent.hear(prompt(&json!("a"), "s2", "quick")).unwrap();
        assert!(second.await.unwrap().failure().is_some());
        assert!(third.await.unwrap().failure().is_none());
        assert!(first.await.unwrap().failure().is_none());
        assert!(agent.state.lock().waiting.is_empty());
        let answers = events(&outbox).await.into_iter().filter(|event| event["method"].is_null());
        let ids: Vec<Value> = answers.map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, ["a", "a", "a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_gives_up_ends_his_own_turn_and_no_other() {
        let (agent, _outbox) = agent(Replies::ToWhoeverWaits);
        let ask = |session: &str, text: &str| {
            let Message::Request(id, call) = prompt(&json!(1), session, text) else {
                panic!("no request")
            };
            agent.ask(id, call)
        };
        let first = ask("s1", "quick");
        let second = ask("s1", "wait 50");
        agent.give_up(first.number, "s1");
        assert!(agent.is_in_turn("s1"));
        agent.give_up(second.number, "s1");
        assert!(!agent.is_in_turn("s1"));
        let reply = serde_json::to_value(second.answer.await.unwrap()).unwrap();
        assert_eq!(reply["result"]["stopReason"], "cancelled");
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_is_ended_answers_what_is_under_way_and_nothing_more() {
        let (agent, _outbox) = agent(Replies::ToWhoeverWaits);
        let began = tokio::time::Instant::now();
        let turns = ["s1", "s2"].map(|id| agent.hear(prompt(&json!(id), id, "wait 50")).unwrap());
        agent.end();
        for turn in turns {
            let reply = serde_json::to_value(turn.await.unwrap()).unwrap();
            assert_eq!(reply["result"]["stopReason"], "cancelled");
        }
        assert!(agent.hear(prompt(&json!(3), "s1", "more")).unwrap().await.is_err());
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_an_agent_that_has_ended() {
        let (agent, _outbox) = agent(Replies::Everywhere);
        let answer = agent.hear(prompt(&json!(1), "s1", "wait 60")).unwrap();
        drop(agent);
        assert!(tokio::time::timeout(Duration::from_secs(1), answer).await.unwrap().is_err());
    }
}
