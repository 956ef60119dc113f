//! What an engine says of a container.

use engine::{ContainerName, ContainerState};
use serde::Deserialize;

/// More processes than any machine has.
const MOST: i64 = 1 << 22;
/// An id is a hash in hexadecimal digits.
const LONGEST_ID: usize = 128;
/// So many digits of an id are no chance, and what engines show of it.
const SHORT_ID: usize = 12;

#[derive(Debug, Deserialize)]
struct Container {
    #[serde(rename = "Id")]
    id: String,
    #[serde(rename = "Name", default)]
    name: String,
    #[serde(rename = "State")]
    state: State,
}

impl Container {
    /// Whether this is the container that was asked for. Engines also take a name for the beginning of
    /// an id, so that `cafe` would mean a stranger once the container of that name is gone.
    fn is_called(&self, asked: &str) -> bool {
        let name = self.name.strip_prefix('/').unwrap_or(&self.name);
        name == asked || (asked.len() >= SHORT_ID && self.id.starts_with(asked))
    }
}

#[derive(Debug, Deserialize)]
struct State {
    #[serde(rename = "Running")]
    running: bool,
    #[serde(rename = "Restarting", default)]
    restarting: bool,
    #[serde(rename = "Pid", default)]
    pid: i64,
}

/// What a container is, by the words of its engine; none if they make no sense.
pub(crate) fn state(words: &[u8], asked: &ContainerName) -> Option<ContainerState> {
    let container: Container = serde_json::from_slice(words).ok()?;
    if !container.is_called(asked.as_str()) {
        return Some(ContainerState::Missing);
    }
    let Container { id, state, .. } = container;
    // Docker says that a container runs while it restarts, and then it has no process.
    if !state.running || state.restarting {
        return Some(ContainerState::Stopped);
    }
    let is_id =
        (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pid = u32::try_from(state.pid).ok().filter(|_| (1..=MOST).contains(&state.pid))?;
    is_id.then_some(ContainerState::Running { id, pid })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "cafe0123456789abcdef";

    fn of(words: &[u8], asked: &str) -> Option<ContainerState> {
        state(words, &ContainerName::parse(asked).unwrap())
    }

    fn running(name: &str) -> String {
        format!(r#"{{"Id":"{ID}","Name":"{name}","State":{{"Running":true,"Pid":77}}}}"#)
    }

    #[test]
    fn a_container_that_runs_has_a_process() {
        let runs = Some(ContainerState::Running { id: ID.into(), pid: 77 });
        for (said, asked) in [("/web", "web"), ("web", "web"), ("/web", ID), ("/web", &ID[..12])] {
            assert_eq!(of(running(said).as_bytes(), asked), runs, "{said} {asked}");
        }
    }

    #[test]
    fn a_name_is_never_taken_for_the_beginning_of_an_id() {
        for asked in ["cafe", "c", "cafe0123456"] {
            let said = running("/somebody-else");
            assert_eq!(of(said.as_bytes(), asked), Some(ContainerState::Missing), "{asked}");
        }
        assert_eq!(of(running("/web-2").as_bytes(), "web"), Some(ContainerState::Missing));
    }

    #[test]
    fn a_container_that_does_not_run_has_none() {
        let words = br#"{"Id":"ab12","Name":"/web","State":{"Running":false,"Pid":0}}"#;
        assert_eq!(of(words, "web"), Some(ContainerState::Stopped));
    }

    #[test]
    fn a_container_that_restarts_does_not_run() {
        let words =
            br#"{"Id":"ab12","Name":"/web","State":{"Running":true,"Restarting":true,"Pid":0}}"#;
        assert_eq!(of(words, "web"), Some(ContainerState::Stopped));
    }

    #[test]
    fn what_makes_no_sense_is_not_believed() {
        for words in [
            &br#"{"Id":"ab12","Name":"/web","State":{"Running":true,"Pid":0}}"#[..],
            br#"{"Id":"ab12","Name":"/web","State":{"Running":true,"Pid":-1}}"#,
            br#"{"Id":"ab12","Name":"/web","State":{"Running":true,"Pid":99999999999}}"#,
            br#"{"Id":"ab12","Name":"/web","State":{"Running":true,"Pid":4294967297}}"#,
            br#"{"Id":"ab12","Name":"/web","State":{"Running":true}}"#,
            br#"{"Id":"../x","Name":"/web","State":{"Running":true,"Pid":7}}"#,
            br#"{"Id":"","Name":"/web","State":{"Running":true,"Pid":7}}"#,
            br#"{"Name":"/web","State":{"Running":true,"Pid":7}}"#,
            br#"[]"#,
            b"",
            b"\xff\x00",
        ] {
            assert_eq!(of(words, "web"), None, "{}", String::from_utf8_lossy(words));
        }
    }
}
