//! One agent at work: what its client sends goes in, what it says goes to whoever waits for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep_until;

use super::Said;
use super::mock::Mock;
use crate::faces::acp::outbox::Outbox;
use crate::jsonrpc::{Failure, Id, Message, Reply};

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
    /// Whoever waits for an answer, by the id of the request. Two requests may have one id.
    waiting: HashMap<Id, VecDeque<oneshot::Sender<Reply>>>,
    /// Whether somebody looks at the clock.
    is_timed: bool,
}

impl Agent {
    /// The mock, at the beginning.
    pub(in crate::faces::acp) fn mock(outbox: Arc<Outbox>, replies: Replies) -> Arc<Self> {
        let (state, hurry) = (Mutex::default(), Arc::default());
        Arc::new(Self { state, outbox, replies, hurry })
    }

    /// Makes a session known that was opened elsewhere.
    pub(in crate::faces::acp) fn adopt(&self, id: &str, directory: &str) -> Result<(), Failure> {
        self.state.lock().mock.adopt(id, directory)
    }

    /// Forgets a session. A turn that it is in ends.
    pub(in crate::faces::acp) fn forget(&self, id: &str) {
        let mut state = self.state.lock();
        let said = state.mock.forget(id, now());
        self.deliver(&mut state, said);
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
        let mut state = self.state.lock();
        let answer = match &message {
            Message::Request(id, _) => {
                let (sender, answer) = oneshot::channel();
                state.waiting.entry(id.clone()).or_default().push_back(sender);
                Some(answer)
            }
            Message::Notification(_) | Message::Response(..) | Message::Invalid(_) => None,
        };
        let said = state.mock.hear(message, now());
        self.deliver(&mut state, said);
        self.watch_the_clock(&mut state);
        answer
    }

    fn deliver(&self, state: &mut State, said: Vec<Said>) {
        for said in said {
            match said {
                Said::Message(message) => drop(self.outbox.post(&message)),
                Said::Reply(id, reply) => {
                    if self.replies == Replies::Everywhere {
                        self.outbox.post(&reply);
                    }
                    state.answer(&id, reply);
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

impl State {
    /// Tells an answer to whoever waited for it longest.
    fn answer(&mut self, id: &Id, reply: Reply) {
        let Some(waiting) = self.waiting.get_mut(id) else { return };
        if let Some(first) = waiting.pop_front() {
            // Whoever went away reads it in the outbox.
            drop(first.send(reply));
        }
        if waiting.is_empty() {
            self.waiting.remove(id);
        }
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
        let outbox = Outbox::new(room, &CommonStore::new(0));
        let agent = Agent::mock(Arc::clone(&outbox), replies);
        agent.adopt("s1", "/").unwrap();
        agent.adopt("s2", "/").unwrap();
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
    async fn requests_with_one_id_are_answered_in_their_order() {
        let (agent, _outbox) = agent(Replies::Everywhere);
        let first = agent.hear(prompt(&json!(1), "s1", "wait 3")).unwrap();
        let second = agent.hear(prompt(&json!(1), "s1", "too early")).unwrap();
        // What is answered first is told to whoever asked first: the protocol has no better way.
        assert!(first.await.unwrap().failure().is_some());
        assert!(second.await.unwrap().failure().is_none());
        assert!(agent.state.lock().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_an_agent_that_has_ended() {
        let (agent, _outbox) = agent(Replies::Everywhere);
        let answer = agent.hear(prompt(&json!(1), "s1", "wait 60")).unwrap();
        drop(agent);
        assert!(tokio::time::timeout(Duration::from_secs(1), answer).await.unwrap().is_err());
    }
}
