//! What a path of the address, or of a body, means here.
//!
//! It is relative to the root of the sandbox; a slash at its beginning changes nothing. It is
//! decoded once. `..` is forbidden in every spelling, wherever it stands and wherever it leads.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use engine::{DotDot, Entry, EntryKind, Error, ErrorKind, Result, SandboxPath};
use http::request::Parts;
use percent_encoding::percent_decode_str;

use super::errors::explain;
use super::sign;
use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::visit::stranger;

/// The longest path that is looked at, before it is decoded.
const LONGEST: usize = 3 * 8192;
/// What clients put before paths that mean the sandbox's root by it.
const WORKSPACE: &str = "workspace";

/// The path that an address names behind the word of its route.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: SandboxPath,
    /// A path that ends in a slash can only mean a directory.
    needs_directory: bool,
}

impl FromRequestParts<Arc<App>> for Place {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().ok_or_else(stranger)?;
        let place = Self::of_address(parts.uri.path(), app.strip_workspace_prefix);
        let place = place.and_then(|place| {
            sign::check_path(caller, &place.path)?;
            Ok(place)
        });
        place.map_err(|err| explain(&err))
    }
}

impl Place {
    /// The place that an address names.
    pub(super) fn of_address(address: &str, strip: bool) -> Result<Self> {
        let rest = rest_of(address);
        if rest.len() > LONGEST {
            return Err(Error::new(ErrorKind::InvalidPath, "the path is too long"));
        }
        Self::of_text(&decoded(rest)?, strip)
    }

    /// What an address says where it names a place, whether or not it can be one.
    pub(super) fn text_in(address: &str) -> String {
        percent_decode_str(rest_of(address)).decode_utf8_lossy().into_owned()
    }

    /// The place that a text means.
    pub(super) fn of_text(text: &str, strip: bool) -> Result<Self> {
        if text.split('/').any(|segment| segment == "..") {
            let message = "`..` is not allowed in a path";
            return Err(Error::new(ErrorKind::OutsideSandbox, message));
        }
        let mut path = SandboxPath::parse(text, DotDot::Refuse)?;
        if strip && path.segments().next() == Some(WORKSPACE) {
            let rest: Vec<&str> = path.segments().skip(1).collect();
            path = SandboxPath::parse(&rest.join("/"), DotDot::Refuse)?;
        }
        let ends_open = ["/", "/."].iter().any(|end| text.ends_with(end));
        Ok(Self { needs_directory: ends_open && !path.is_root(), path })
    }

    /// Refuses a path that can only mean a directory where a file is wanted.
    pub(super) fn must_be_file(&self) -> Result<()> {
        if self.needs_directory {
            return Err(Error::new(ErrorKind::NotAFile, "path ends in a slash").on(&self.path));
        }
        Ok(())
    }

    /// The entry again, if the spelling of the path lets it be what it is.
    pub(super) fn fitting(&self, entry: Entry) -> Result<Entry> {
        if !self.needs_directory || entry.kind == EntryKind::Directory {
            return Ok(entry);
        }
        let message = "path ends in a slash but is not a directory";
        Err(Error::new(ErrorKind::NotADirectory, message).on(&self.path))
    }
}

/// The path that a text of a body means.
pub(crate) fn of_text(text: &str, strip: bool) -> Result<SandboxPath> {
    Place::of_text(text, strip).map(|place| place.path)
}

/// The path that an address names.
#[cfg(fuzzing)]
pub(crate) fn of_address(address: &str, strip: bool) -> Result<SandboxPath> {
    Place::of_address(address, strip).map(|place| place.path)
}

/// `/v1/sandboxes/{id}/{word}` and then the path.
fn rest_of(address: &str) -> &str {
    address.splitn(6, '/').nth(5).unwrap_or_default()
}

fn decoded(text: &str) -> Result<String> {
    let invalid = |message| Error::new(ErrorKind::InvalidPath, message);
    let complete = |tail: &str| {
        let pair = tail.as_bytes().first_chunk::<2>();
        pair.is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(complete) {
        return Err(invalid("`%` is not followed by two hexadecimal digits"));
    }
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| invalid("the path is not UTF-8"))?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(address: &str) -> Result<String, ErrorKind> {
        let place = Place::of_address(&format!("/v1/sandboxes/x/fs{address}"), false);
        place.map(|place| place.path.to_string()).map_err(|err| err.kind())
    }

    #[test]
    fn a_path_is_decoded_once_and_begins_at_the_root() {
        for (address, meant) in [
            ("", "/"),
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("//a///b/", "/a/b"),
            ("/./a/.", "/a"),
            ("/a%20b/%E4%BD%A0", "/a b/你"),
            ("/%252e%252e/x", "/%2e%2e/x"),
            ("/a%2Fb", "/a/b"),
            ("/a+b", "/a+b"),
            (r"/..\x", r"/..\x"),
            ("/...", "/..."),
        ] {
            assert_eq!(path(address).as_deref(), Ok(meant), "{address}");
        }
    }

    #[test]
    fn two_dots_are_forbidden_in_every_spelling() {
        for address in [
            "/..",
            "/../x",
            "/a/../b",
            "/a/..",
            "/%2e%2e/x",
            "/%2E./x",
            "/..%2fx",
            "/a/..%2f..%2fx",
            "/a%2f..",
            "//..",
        ] {
            assert_eq!(path(address), Err(ErrorKind::OutsideSandbox), "{address}");
        }
    }

    #[test]
    fn what_cannot_be_a_path_is_invalid() {
        for address in ["/%", "/%2", "/%zz", "/%c0%ae%c0%ae/x", "/%ff", "/a%00b"] {
            assert_eq!(path(address), Err(ErrorKind::InvalidPath), "{address}");
        }
    }

    #[test]
    fn the_word_workspace_is_taken_away_only_on_request() {
        let at = |text: &str| of_text(text, true).unwrap().to_string();
        assert_eq!(at("workspace/app.py"), "/app.py");
        assert_eq!(at("/workspace"), "/");
        assert_eq!(at("workspaces/x"), "/workspaces/x");
        assert_eq!(of_text("workspace/x", false).unwrap().as_str(), "/workspace/x");
    }
}
