//! What a model is told of the place that it works in.

use std::fmt::Write as _;

use ::tools::Settings;
use engine::Sandbox;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};

use super::standing::Standing;

/// How many paths are named.
const MOST_PATHS: usize = 16;

/// What the server is and can do, without a word of any place.
pub(super) fn server() -> ServerConfig {
    let can = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_resources_list_changed()
        .enable_completions()
        .build();
    let name = Implementation::new("sandkeep", env!("CARGO_PKG_VERSION"))
        .with_title("Sandkeep")
        .with_description("The file system of a sandbox: confined, durable, and bounded");
    ServerConfig::new(can).with_server_info(name)
}

/// What a model is told of the place.
pub(super) fn about(standing: &Standing) -> String {
    let (sandbox, settings) = (standing.workspace.sandbox(), &standing.settings);
    let mut text = format!(
        "These are the files of the sandbox `{}`. Its root is `{}`; relative paths begin at `{}`. \
         Nothing outside can be reached.",
        sandbox.id,
        sandbox.outward(&engine::SandboxPath::root()),
        sandbox.outward(&settings.begin_in(sandbox)),
    );
    tell_paths(&mut text, settings, sandbox);
    if settings.read_only {
        text.push_str(" Files can only be looked at: there is no tool that changes any.");
    }
    let Settings { max_file_size, max_result_bytes, max_entries, max_depth, timeout, .. } =
        settings;
    // Writing to a string cannot fail.
    write!(
        text,
        " A file of more than {max_file_size} bytes is neither read whole nor written; an answer \
         holds at most {max_result_bytes} bytes of content and {max_entries} entries, {max_depth} \
         levels deep. What is cut says so in `metadata.truncated`, and its `next` are the arguments \
         that go on. A call takes at most {} seconds. A failed call says what to do next.",
        timeout.as_secs_f64()
    )
    .ok();
    text
}

fn tell_paths(text: &mut String, settings: &Settings, sandbox: &Sandbox) {
    let named = |paths: &[engine::SandboxPath]| {
        let some = paths.iter().take(MOST_PATHS).map(|path| format!("`{}`", sandbox.outward(path)));
        let mut words = some.collect::<Vec<_>>().join(", ");
        if paths.len() > MOST_PATHS {
            words.push_str(" and others");
        }
        words
    };
    if !settings.allowed_paths.is_empty() {
        write!(text, " Only these paths are allowed: {}.", named(&settings.allowed_paths)).ok();
    }
    if !settings.blocked_paths.is_empty() {
        write!(text, " These are blocked: {}.", named(&settings.blocked_paths)).ok();
    }
}
