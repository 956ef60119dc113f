//! What a server must promise before it is used, and how it is made sure that it does.

use redis::{Cmd, Value};

use super::confirmation::{self, Confirmation, Journal, syncs_always, unsynced};
use super::{answer, failure};
use crate::address::{Address, invalid};
use crate::{Error, ErrorKind, Result};

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
    is_cluster: bool,
}

impl Demands {
    /// Takes out of an address what it asks of the server.
    pub(super) fn of(address: &mut Address, is_cluster: bool) -> Result<Self> {
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
        Ok(Self { durability, replicas, is_cluster })
    }

    /// What servers are asked before they are used.
    pub(super) fn questions(self) -> Vec<Cmd> {
        let mut questions = vec![redis::cmd("INFO")];
        if self.durability == Durability::Fsync {
            let can_wait = redis::cmd("COMMAND").arg("INFO").arg("WAITAOF").take();
            questions.extend([can_wait, confirmation::question()]);
        }
        questions
    }

    /// Refuses servers that do not meet the demands; says what must be asked after every change.
    ///
    /// For each question there are the answers of all servers.
    pub(super) fn judge(self, answers: Vec<Vec<Value>>) -> Result<Confirmation> {
        let mut answers = answers.into_iter();
        let mut next = || answers.next().ok_or_else(failure::unexpected);
        for report in reports(next()?)? {
            self.check_kind(&report)?;
            check_memory(&report)?;
            if self.durability != Durability::None {
                check_journal(&report)?;
            }
        }
        let journal = match self.durability {
            Durability::None | Durability::Server => Journal::Trusted,
            Durability::Fsync => journal(&next()?, &next()?)?,
        };
        Ok(Confirmation { replicas: self.replicas, journal })
    }

    /// One server of a cluster knows a part of the keys only, and a replica is told late.
    fn check_kind(self, report: &str) -> Result<()> {
        if !self.is_cluster && entry(report, "cluster_enabled") == Some("1") {
            return Err(invalid("this redis is part of a cluster: add cluster=true"));
        }
        // Its journal is off while it reads what it held.
        if entry(report, "loading") == Some("1") {
            return Err(Error::new(ErrorKind::Unavailable, "redis is starting"));
        }
        // It may be about to take over, and its journal is off while it learns what there is.
        if entry(report, "role") == Some("slave") {
            return Err(Error::new(ErrorKind::Unavailable, "redis is a replica for now"));
        }
        Ok(())
    }
}

/// How servers show that their journal is synced. Who cannot wait must sync before it answers.
fn journal(can_wait: &[Value], configured: &[Value]) -> Result<Journal> {
    let knows = |answer: &Value| matches!(answer.as_sequence().unwrap_or_default(), [command] if *command != Value::Nil);
    if !can_wait.is_empty() && can_wait.iter().all(knows) {
        return Ok(Journal::Synced);
    }
    if !configured.is_empty() && configured.iter().all(syncs_always) {
        return Ok(Journal::Always);
    }
    Err(unsynced())
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
fn reports(answers: Vec<Value>) -> Result<Vec<String>> {
    let mut reports = Vec::new();
    for answer in answers {
        if matches!(&answer, Value::ServerError(err) if is_forbidden(err)) {
            tracing::warn!("redis may not be asked what it promises, and is trusted");
            continue;
        }
        let report = answer::bytes(answer)?.ok_or_else(failure::unexpected)?;
        reports.push(String::from_utf8_lossy(&report).into_owned());
    }
    Ok(reports)
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

#[cfg(test)]
mod tests {
    use super::*;

    const ALWAYS: &str = "*4\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n\
                          $10\r\nappendonly\r\n$3\r\nyes\r\n";
    const EVERY_SECOND: &str = "*4\r\n$11\r\nappendfsync\r\n$8\r\neverysec\r\n\
                                $10\r\nappendonly\r\n$3\r\nyes\r\n";
    const KNOWN: &str = "*1\r\n*2\r\n$7\r\nwaitaof\r\n:4\r\n";
    const UNKNOWN: &str = "*1\r\n*-1\r\n";

    /// What becomes of a demand for `fsync` if a server answers so.
    fn judged(report: &str, can_wait: &str, configured: &str) -> Result<Journal> {
        let demands = Demands { durability: Durability::Fsync, replicas: 0, is_cluster: false };
        let parsed = |answer: &str| redis::parse_redis_value(answer.as_bytes()).unwrap();
        let report = Value::BulkString(report.as_bytes().to_vec());
        let answers = [report, parsed(can_wait), parsed(configured)];
        let confirmation = demands.judge(answers.map(|answer| vec![answer]).into());
        confirmation.map(|confirmation| confirmation.journal)
    }

    #[test]
    fn a_server_that_can_wait_is_always_made_to() {
        assert_eq!(judged("", KNOWN, ALWAYS).unwrap(), Journal::Synced);
        assert_eq!(judged("", KNOWN, EVERY_SECOND).unwrap(), Journal::Synced);
    }

    #[test]
    fn a_server_that_cannot_wait_must_sync_before_it_answers() {
        assert_eq!(judged("", UNKNOWN, ALWAYS).unwrap(), Journal::Always);
        let refused = "-NOPERM this user has no permissions\r\n";
        for configured in [EVERY_SECOND, refused] {
            let err = judged("", UNKNOWN, configured).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::Unsafe);
        }
    }

    #[test]
    fn a_replica_is_waited_for_until_it_takes_over() {
        let err = judged("role:slave\r\naof_enabled:0\r\n", KNOWN, ALWAYS).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_server_that_is_starting_is_waited_for() {
        let err = judged("role:master\r\nloading:1\r\naof_enabled:0\r\n", KNOWN, ALWAYS);
        assert_eq!(err.unwrap_err().kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_report_is_lines_of_names_and_values() {
        let report = "# Memory\r\nmaxmemory_policy:allkeys-lru\r\nmaxmemory:100\r\n";
        assert_eq!(entry(report, "maxmemory"), Some("100"));
        assert_eq!(entry(report, "maxmemory_policy"), Some("allkeys-lru"));
        assert_eq!(entry(report, "max"), None);
    }
}
