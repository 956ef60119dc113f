//! How much a call may do, by the sandbox that it is in.

use engine::{DotDot, SandboxPath};
use tools::Settings;

use crate::visit::Visit;

/// The settings that hold in the sandbox of a visit: those of the server, and where the tree is that
/// of a whole system, nothing of the system itself.
pub(in crate::faces) fn settings_for(visit: &Visit, of_server: &Settings) -> Settings {
    let mut settings = of_server.clone();
    if visit.workspace.sandbox().is_system {
        let paths = Settings::SYSTEM_DIRECTORIES.iter();
        let paths = paths.filter_map(|path| SandboxPath::parse(path, DotDot::Refuse).ok());
        settings.blocked_paths.extend(paths);
    }
    settings
}
