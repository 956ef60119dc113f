//! Changes: each is one step for the server, whatever it consists of.

use redis::{Cmd, Value};

use super::RedisStorage;
use super::answer::{checked, is_unknown_script};
use super::failure;
use super::names::Group;
use super::script::Form;
use crate::Result;

impl RedisStorage {
    /// Carries out commands in one step, which is confirmed as the URL demands.
    ///
    /// They are asked for a second time if the server does not know a script. Whatever went before
    /// the script has then happened already, and happens again.
    pub(super) async fn change(
        &self,
        group: Group,
        commands: impl Fn(Form) -> Vec<Cmd>,
    ) -> Result<Vec<Value>> {
        let mut answers = self.attempt(group, commands(Form::Hash)).await?;
        if answers.iter().any(is_unknown_script) {
            answers = self.attempt(group, commands(Form::Code)).await?;
        }
        answers.into_iter().map(checked).collect()
    }

    async fn attempt(&self, group: Group, mut commands: Vec<Cmd>) -> Result<Vec<Value>> {
        let is_transaction = commands.len() > 1;
        if is_transaction {
            commands.insert(0, redis::cmd("MULTI"));
            commands.push(redis::cmd("EXEC"));
        }
        let len = commands.len();
        let way = self.link.way(group).await?;
        let confirmation = way.confirmation();
        commands.extend(confirmation.commands(self.names.pulse(group)));
        let mut answers = way.ask(commands).await?;
        let confirmations = answers.split_off(len.min(answers.len()));
        let answers = if is_transaction { executed(answers)? } else { answers };
        confirmation.check(confirmations)?;
        Ok(answers)
    }
}

/// What the commands between MULTI and EXEC answered.
fn executed(mut answers: Vec<Value>) -> Result<Vec<Value>> {
    match answers.pop() {
        Some(Value::Array(answers)) => Ok(answers),
        Some(refusal) => {
            // Nothing was done. Why that is was said when the commands were queued.
            for answer in answers {
                checked(answer)?;
            }
            checked(refusal)?;
            Err(failure::unexpected())
        }
        None => Err(failure::unexpected()),
    }
}
