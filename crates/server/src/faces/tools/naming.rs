//! What an address names: a tool, and a sandbox.

use engine::{Error, ErrorKind, SandboxId};
use http::{StatusCode, Uri};
use percent_encoding::percent_decode_str;
use tools::ToolEntry;

use super::PREFIX;
use crate::problem::{Class, Problem};
use crate::query::Params;

/// How many names are told that are like the one that is none.
const MOST_NEAR: usize = 3;
/// How alike a name must be, from 0 to 1.
const ALIKE: f64 = 0.7;

/// The sandbox that a query names, if it names one.
pub(in crate::faces) fn sandbox_in(uri: &Uri) -> Option<Result<SandboxId, Problem>> {
    let text = Params::of(uri).optional("sandbox").transpose()?;
    let id = text.and_then(|text| {
        // What cannot be an id is nobody's.
        let missing = |_| Error::new(ErrorKind::SandboxNotFound, "there is no such sandbox");
        SandboxId::parse(&text).map_err(missing).map_err(|err| crate::faces::problem(&err))
    });
    Some(id)
}

/// The tool that an address names, as it is spelled there; none if it names none.
pub(super) fn spelled_in(uri: &Uri) -> Option<String> {
    let name = uri.path().strip_prefix(PREFIX)?.strip_prefix('/')?;
    Some(percent_decode_str(name).decode_utf8_lossy().into_owned())
}

/// The tool that an address names.
pub(super) fn tool_in(uri: &Uri) -> Result<&'static ToolEntry, Problem> {
    let name = spelled_in(uri).unwrap_or_default();
    tools::named(&name).ok_or_else(|| unknown(&name))
}

fn unknown(name: &str) -> Problem {
    let near = near(name);
    let hint = match near.as_slice() {
        [] => format!("GET {PREFIX} lists the tools"),
        names => format!("did you mean {}?", names.join(", or ")),
    };
    let shown: String = name.chars().take(64).collect();
    let message = format!("there is no tool `{shown}`");
    Problem::plain(StatusCode::NOT_FOUND, Class::NOT_FOUND, message)
        .kind("tool_not_found")
        .hint(hint)
}

/// Names of tools that are like one, the most alike first.
fn near(name: &str) -> Vec<&'static str> {
    // Whoever comes from elsewhere spells them with a prefix, or in another manner.
    let plain = name.trim_start_matches("sandbox_").replace('-', "_").to_lowercase();
    let score = |known: &str| strsim::jaro_winkler(&plain, known);
    let mut scored: Vec<_> =
        tools::TOOLS.iter().map(|tool| (score(tool.name), tool.name)).collect();
    scored.retain(|(score, _)| *score >= ALIKE);
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.into_iter().take(MOST_NEAR).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_tool_is_told_what_it_may_have_meant() {
        assert_eq!(near("sandbox_read_file").first(), Some(&"read_file"));
        assert_eq!(near("list-directory").first(), Some(&"list_directory"));
        assert_eq!(near("writefile").first(), Some(&"write_file"));
        assert!(near("zzz").is_empty());
        assert!(near(&"a".repeat(5000)).is_empty());
    }
}
