//! `initialize`: what a client is told of this server, and the agent that it wants.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::methods::{MISSING, Method};
use crate::problem::{Class, Problem};

/// The agents whose clients are let in. File work is the same for all of them.
const AGENTS: [&str; 5] = ["mock", "claude", "codex", "opencode", "amp"];

/// The agent of that name.
pub(super) fn agent(name: &str) -> Result<&'static str, Problem> {
    AGENTS.into_iter().find(|known| *known == name).ok_or_else(|| {
        let shown: String = name.chars().take(100).collect();
        Problem::new(StatusCode::BAD_REQUEST, Class::UNSUPPORTED_AGENT, &shown)
            .agent(&shown)
            .kind("unsupported_agent")
            .hint(format!("name one of {}", AGENTS.join(", ")))
    })
}

/// The agent that a first message names.
pub(super) fn wanted_agent(arguments: &mut Arguments) -> Result<&'static str, Problem> {
    let named = arguments.meta()?.optional("agent")?.filter(|name| !name.is_empty());
    let named = named.ok_or_else(|| {
        let message = "initialize requires params._meta[\"sandboxagent.dev\"].agent";
        Problem::invalid_request(message).hint(format!("name one of {}", AGENTS.join(", ")))
    })?;
    agent(&named)
}

/// What a client is told.
pub(super) fn greeting(arguments: &mut Arguments) -> Result<Value, Problem> {
    let version = version(arguments.take("protocolVersion"))?;
    let mut extensions: Map<String, Value> =
        Method::extensions().map(|(_, word)| (word.to_owned(), json!(true))).collect();
    for word in ["sessionAgentMeta", "sessionEndedNotification"] {
        extensions.insert(word.to_owned(), json!(true));
    }
    extensions.extend(MISSING.map(|word| (word.to_owned(), json!(false))));
    let methods: Vec<&str> = Method::extensions().map(|(name, _)| name).collect();
    let ours = json!({"sandboxagent.dev": {"extensions": extensions, "methods": methods}});
    let mut greeting = json!({
        "agentCapabilities": {
            "_meta": ours,
            "loadSession": true,
            "mcpCapabilities": {"http": false, "sse": false},
            "promptCapabilities": {"audio": false, "embeddedContext": false, "image": false},
            "sessionCapabilities": {"fork": {}, "list": {}, "resume": {}},
        },
        "agentInfo": {
            "name": "sandkeep",
            "title": "Sandkeep",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "authMethods": [],
        "protocolVersion": version,
    });
    greeting.sort_all_objects();
    Ok(greeting)
}

/// The version of the protocol: the client's own, as long as it can be one.
fn version(asked: Option<Value>) -> Result<u16, Problem> {
    let Some(asked) = asked else { return Ok(1) };
    let version = asked.as_u64().and_then(|version| u16::try_from(version).ok());
    version.ok_or_else(|| {
        Problem::invalid_request("initialize: params.protocolVersion is not a version")
            .hint("send a whole number from 0 to 65535, such as 1")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(params: Value) -> Arguments {
        Arguments::of("initialize", Some(params)).unwrap()
    }

    #[test]
    fn only_known_agents_are_let_in() {
        let wanted = |name: Value| {
            wanted_agent(&mut of(json!({"_meta": {"sandboxagent.dev": {"agent": name}}})))
        };
        for name in AGENTS {
            assert_eq!(wanted(json!(name)).unwrap(), name);
        }
        let problem = wanted(json!("zzz")).unwrap_err();
        let told = serde_json::to_value(problem.details()).unwrap();
        assert_eq!(told["detail"], "unsupported agent: zzz");
        assert_eq!((&told["agent"], &told["status"]), (&json!("zzz"), &json!(400)));
        let asked = "initialize requires params._meta[\"sandboxagent.dev\"].agent";
        let detail = wanted(json!("")).unwrap_err().details().detail.clone();
        assert_eq!(detail, format!("invalid request: {asked}"));
        assert!(wanted(json!(1)).is_err());
    }

    #[test]
    fn a_version_is_a_small_whole_number() {
        assert_eq!(version(None).unwrap(), 1);
        assert_eq!(version(Some(json!(7))).unwrap(), 7);
        for wrong in [json!(-1), json!(1.5), json!("1"), json!(65_536), json!([])] {
            assert!(version(Some(wrong)).is_err());
        }
    }

    #[test]
    fn what_is_announced_is_what_there_is() {
        let greeting = greeting(&mut of(json!({}))).unwrap();
        let ours = &greeting["agentCapabilities"]["_meta"]["sandboxagent.dev"];
        for name in ours["methods"].as_array().unwrap() {
            assert!(Method::of(name.as_str().unwrap()).is_some(), "{name}");
        }
        assert_eq!(ours["extensions"]["fsStat"], true);
        assert_eq!(ours["extensions"]["agentInstall"], false);
    }
}
