//! Real containers for tests: of podman, and bare mount namespaces of bubblewrap.
//!
//! Both need rights that not every machine gives. Where they cannot be had, tests fail, unless
//! `SANDKEEP_WITHOUT_CONTAINERS` says that they are to be left out.

mod bubblewrap;
mod podman;

pub use bubblewrap::Namespace;
pub use podman::{Container, Engine};

/// Whether whoever runs the tests wants to do without containers. Says so where it is true.
#[expect(clippy::print_stderr, reason = "a skipped test is loud")]
pub fn containers_are_left_out() -> bool {
    let wished = std::env::var_os("SANDKEEP_WITHOUT_CONTAINERS").is_some_and(|wish| wish == "1");
    if wished {
        assert!(std::env::var_os("CI").is_none(), "CI must have containers");
        eprintln!("SKIPPED: SANDKEEP_WITHOUT_CONTAINERS is set, and this test needs containers");
    }
    wished
}
