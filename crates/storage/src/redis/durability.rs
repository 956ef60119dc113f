//! What the server must promise, and how it is made sure that it does.

use redis::{Cmd, Value};

use super::answer::{self, checked};
use super::failure;
use super::link::Link;
use crate::address::{Address, invalid};
use crate::{Error, ErrorKind, Result};

/// How many milliseconds a confirmation is waited for.
const PATIENCE: u32 = 5000;

/// What must have happened when a change is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// Nothing in particular: whatever the server does will do.
    None,
    /// The server has written it to its journal, which it syncs as it is configured to.
    Server,
    /// The server has synced its journal.
    Fsync,
}

/// What the URL asks of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demands {
    durability: Durability,
    replicas: u32,
}

/// What is waited for after every change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Confirmation {
    replicas: u32,
    disk: bool,
}

impl Demands {
    /// Takes out of an address what it asks of the server.
    pub(super) fn of(address: &mut Address) -> Result<Self> {
        let durability = match address.take("durability")?.as_deref() {
            None | Some("server") => Durability::Server,
            Some("none") => Durability::None,
            Some("fsync") => Durability::Fsync,
            Some(_) => return Err(invalid("durability is none, server or fsync")),
        };
        let replicas = match address.take("replicas")? {
            None => 0,
            Some(number) => number.parse().map_err(|_| invalid("replicas is a number"))?,
        };
        Ok(Self { durability, replicas })
    }

    /// Refuses servers that do not meet the demands; says what must be waited for with the others.
    pub(super) async fn check(self, link: &Link) -> Result<Confirmation> {
        for report in reports(link).await? {
            check_kind(&report, link)?;
            check_memory(&report)?;
            if self.durability != Durability::None {
                check_journal(&report)?;
            }
        }
        let disk = self.durability == Durability::Fsync && !syncs_always(link).await?;
        if disk && !knows_waitaof(link).await? {
            return Err(Error::new(
                ErrorKind::Unsafe,
                "durability=fsync needs redis with appendfsync always, or of version 7.2 and later",
            ));
        }
        Ok(Confirmation { replicas: self.replicas, disk })
    }
}

/// One server of a cluster knows a part of the keys only.
fn check_kind(report: &str, link: &Link) -> Result<()> {
    if link.is_one_server() && entry(report, "cluster_enabled") == Some("1") {
        return Err(invalid("this redis is part of a cluster: add cluster=true"));
    }
    Ok(())
}

/// A server that is allowed to evict would silently lose what was acknowledged.
fn check_memory(report: &str) -> Result<()> {
    let limit = entry(report, "maxmemory").unwrap_or("0");
    let policy = entry(report, "maxmemory_policy").unwrap_or("noeviction");
    if limit != "0" && policy != "noeviction" {
        return Err(Error::new(
            ErrorKind::Unsafe,
            "redis evicts keys when its memory is full: set maxmemory-policy noeviction",
        ));
    }
    Ok(())
}

fn check_journal(report: &str) -> Result<()> {
    if entry(report, "aof_enabled") == Some("0") {
        return Err(Error::new(
            ErrorKind::Unsafe,
            "redis keeps no journal and would lose what it acknowledged: set appendonly yes, or \
             accept the loss with durability=none",
        ));
    }
    Ok(())
}

/// What every server reports of itself. Who may not be asked is trusted, and the log says so.
async fn reports(link: &Link) -> Result<Vec<String>> {
    let mut reports = Vec::new();
    for answer in link.ask_each_server(redis::cmd("INFO")).await? {
        if matches!(&answer, Value::ServerError(err) if is_forbidden(err)) {
            tracing::warn!("redis may not be asked what it promises, and is trusted");
            continue;
        }
        let report = answer::bytes(answer)?.ok_or_else(failure::unexpected)?;
        reports.push(String::from_utf8_lossy(&report).into_owned());
    }
    Ok(reports)
}

/// Whether every server says that it syncs its journal before it answers.
async fn syncs_always(link: &Link) -> Result<bool> {
    let mut config = redis::cmd("CONFIG");
    config.arg("GET").arg("appendfsync");
    let answers = link.ask_each_server(config).await?;
    let is_always = |answer: &Value| {
        let pair = answer.as_sequence().unwrap_or_default();
        matches!(pair, [_, Value::BulkString(value)] if value == b"always")
    };
    Ok(!answers.is_empty() && answers.iter().all(is_always))
}

/// Whether every server can be asked to wait for its journal.
async fn knows_waitaof(link: &Link) -> Result<bool> {
    let mut command = redis::cmd("COMMAND");
    command.arg("INFO").arg("WAITAOF");
    let answers = link.ask_each_server(command).await?;
    let is_known =
        |answer: &Value| matches!(answer.as_sequence().unwrap_or_default(), [Value::Array(_)]);
    Ok(!answers.is_empty() && answers.iter().all(is_known))
}

/// Managed servers hide commands from their users, or have no such command at all.
fn is_forbidden(err: &redis::ServerError) -> bool {
    let details = err.details().unwrap_or_default();
    err.code() == "NOPERM" || details.contains("unknown command")
}

/// The value of `name:value` in a report.
fn entry<'a>(report: &'a str, name: &str) -> Option<&'a str> {
    report.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

impl Confirmation {
    /// The commands that wait until what was written before them is confirmed.
    ///
    /// The server waits for what was written on this connection. Who tries a change again, on
    /// another connection, may have nothing left to write; so something is always written.
    pub(super) fn commands(self, pulse: Vec<u8>) -> Vec<Cmd> {
        let mut commands = Vec::new();
        if self.replicas > 0 || self.disk {
            commands.push(Cmd::set(pulse, ""));
        }
        if self.replicas > 0 {
            commands.push(redis::cmd("WAIT").arg(self.replicas).arg(PATIENCE).take());
        }
        if self.disk {
            commands.push(redis::cmd("WAITAOF").arg(1).arg(0).arg(PATIENCE).take());
        }
        commands
    }

    /// Whether the answers to these commands say that all is confirmed.
    pub(super) fn check(self, answers: Vec<Value>) -> Result<()> {
        let mut answers = answers.into_iter();
        let mut next = || answers.next().ok_or_else(failure::unexpected);
        if self.replicas > 0 || self.disk {
            checked(next()?)?;
        }
        if self.replicas > 0 && answer::number(next()?)? < u64::from(self.replicas) {
            return Err(unconfirmed("too few replicas confirm"));
        }
        if self.disk {
            // How many servers have synced it: this one, and then the replicas.
            let synced = answer::many(next()?)?.into_iter().next();
            if answer::number(synced.ok_or_else(failure::unexpected)?)? == 0 {
                return Err(unconfirmed("the disk of redis is too slow"));
            }
        }
        Ok(())
    }
}

fn unconfirmed(message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Value = Value::Okay;

    #[test]
    fn nothing_is_waited_for_unless_it_is_asked() {
        let confirmation = Confirmation { replicas: 0, disk: false };
        assert!(confirmation.commands(Vec::new()).is_empty());
        confirmation.check(Vec::new()).unwrap();
    }

    #[test]
    fn too_few_replicas_are_no_confirmation() {
        let confirmation = Confirmation { replicas: 2, disk: false };
        assert_eq!(confirmation.commands(Vec::new()).len(), 2);
        confirmation.check(vec![OK, Value::Int(2)]).unwrap();
        let err = confirmation.check(vec![OK, Value::Int(1)]).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_journal_that_is_not_synced_is_no_confirmation() {
        let confirmation = Confirmation { replicas: 1, disk: true };
        assert_eq!(confirmation.commands(Vec::new()).len(), 3);
        let synced = |local| Value::Array(vec![Value::Int(local), Value::Int(0)]);
        confirmation.check(vec![OK, Value::Int(1), synced(1)]).unwrap();
        let err = confirmation.check(vec![OK, Value::Int(1), synced(0)]).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_report_is_lines_of_names_and_values() {
        let report = "# Memory\r\nmaxmemory_policy:allkeys-lru\r\nmaxmemory:100\r\n";
        assert_eq!(entry(report, "maxmemory"), Some("100"));
        assert_eq!(entry(report, "maxmemory_policy"), Some("allkeys-lru"));
        assert_eq!(entry(report, "max"), None);
    }
}
