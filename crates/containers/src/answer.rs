//! What an engine says of a container.

use engine::ContainerState;
use serde::Deserialize;

/// More processes than any machine has.
const MOST: i64 = 1 << 22;
/// An id is a hash in hexadecimal digits.
const LONGEST_ID: usize = 128;

#[derive(Debug, Deserialize)]
struct Container {
    #[serde(rename = "Id")]
    id: String,
    #[serde(rename = "State")]
    state: State,
}

#[derive(Debug, Deserialize)]
struct State {
    #[serde(rename = "Running")]
    running: bool,
    #[serde(rename = "Pid", default)]
    pid: i64,
}

/// What a container is, by the words of its engine; none if they make no sense.
pub(crate) fn state(words: &[u8]) -> Option<ContainerState> {
    let Container { id, state } = serde_json::from_slice(words).ok()?;
    if !state.running {
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

    #[test]
    fn a_container_that_runs_has_a_process() {
        let words =
            br#"{"Id":"ab12","Name":"/x","State":{"Status":"running","Running":true,"Pid":77}}"#;
        assert_eq!(state(words), Some(ContainerState::Running { id: "ab12".into(), pid: 77 }));
    }

    #[test]
    fn a_container_that_does_not_run_has_none() {
        let words = br#"{"Id":"ab12","State":{"Running":false,"Pid":0}}"#;
        assert_eq!(state(words), Some(ContainerState::Stopped));
    }

    #[test]
    fn what_makes_no_sense_is_not_believed() {
        for words in [
            &br#"{"Id":"ab12","State":{"Running":true,"Pid":0}}"#[..],
            br#"{"Id":"ab12","State":{"Running":true,"Pid":-1}}"#,
            br#"{"Id":"ab12","State":{"Running":true,"Pid":99999999999}}"#,
            br#"{"Id":"ab12","State":{"Running":true,"Pid":4294967297}}"#,
            br#"{"Id":"ab12","State":{"Running":true}}"#,
            br#"{"Id":"../x","State":{"Running":true,"Pid":7}}"#,
            br#"{"Id":"","State":{"Running":true,"Pid":7}}"#,
            br#"{"State":{"Running":true,"Pid":7}}"#,
            br#"[]"#,
            b"",
            b"\xff\x00",
        ] {
            assert_eq!(state(words), None, "{}", String::from_utf8_lossy(words));
        }
    }
}
