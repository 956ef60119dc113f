//! Files as resources are named: `sandkeep://SANDBOX/path`.

use engine::{Error, ErrorKind, Result, Sandbox, SandboxPath};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const SCHEME: &str = "sandkeep://";
/// What RFC 3986 leaves as it is in a path (unreserved), and the slash between names.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The address of a file or directory.
pub(crate) fn of(sandbox: &Sandbox, path: &SandboxPath) -> String {
    of_outward(sandbox, &sandbox.outward(path))
}

/// The address of what the client sees at an absolute path.
pub(super) fn of_outward(sandbox: &Sandbox, outward: &str) -> String {
    format!("{SCHEME}{}{}", sandbox.id, utf8_percent_encode(outward, ENCODED))
}

/// The template of all addresses in a sandbox.
pub(super) fn template(sandbox: &Sandbox) -> String {
    format!("{SCHEME}{}/{{+path}}", sandbox.id)
}

/// The absolute path that an address means, as the client sees it.
pub(crate) fn outward(sandbox: &Sandbox, uri: &str) -> Result<String> {
    let wrong = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
    let Some(rest) = uri.strip_prefix(SCHEME) else {
        return wrong(format!("a resource here is {SCHEME}{}/ and a path", sandbox.id));
    };
    let (id, path) = rest.split_once('/').unwrap_or((rest, ""));
    if id != sandbox.id.as_str() {
        let message =
            format!("this is the sandbox `{}`, and the resource is of another", sandbox.id);
        return Err(Error::new(ErrorKind::NotFound, message));
    }
    if path.contains(['?', '#']) {
        return wrong("write `?` and `#` in a resource's path as %3F and %23".to_owned());
    }
    match percent_decode_str(path).decode_utf8() {
        Ok(path) => Ok(format!("/{path}")),
        Err(_) => wrong("the resource's path is not UTF-8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{DotDot, Limits, SandboxId, Store};

    use super::*;

    async fn sandbox() -> Sandbox {
        let id = SandboxId::parse("box").unwrap();
        let files = Store::in_memory().create(&id, Limits::default()).await.unwrap();
        Sandbox {
            id,
            files: Arc::new(files),
            prefix: SandboxPath::parse("/w", DotDot::Refuse).unwrap(),
            home: SandboxPath::root(),
            is_system: false,
        }
    }

    #[tokio::test]
    async fn every_name_has_an_address_that_leads_back_to_it() {
        let sandbox = sandbox().await;
        for name in ["a b", "-delete", "100%", "a?b#c", "é\n'\"", "%41", "a&b;$(c)"] {
            let path = SandboxPath::root().join(name).unwrap();
            let uri = of(&sandbox, &path);
            assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
            assert_eq!(outward(&sandbox, &uri).unwrap(), format!("/w/{name}"));
        }
        assert_eq!(of(&sandbox, &SandboxPath::root()), "sandkeep://box/w");
        assert_eq!(
            of(&sandbox, &SandboxPath::root().join("%41").unwrap()),
            "sandkeep://box/w/%2541"
        );
    }

    #[tokio::test]
    async fn what_is_no_address_here_is_refused() {
        let sandbox = sandbox().await;
        let kind = |uri| outward(&sandbox, uri).unwrap_err().kind();
        assert_eq!(kind("file:///w/a"), ErrorKind::InvalidArgument);
        assert_eq!(kind("sandkeep://other/w/a"), ErrorKind::NotFound);
        assert_eq!(kind("sandkeep://box/w/a?b"), ErrorKind::InvalidArgument);
        assert_eq!(kind("sandkeep://box/w/%ff"), ErrorKind::InvalidArgument);
        assert_eq!(outward(&sandbox, "sandkeep://box").unwrap(), "/");
    }
}
