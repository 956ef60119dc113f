//! Which methods there are.

/// A method that this face knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Initialize,
    NewSession,
    LoadSession,
    ResumeSession,
    ForkSession,
    ListSessions,
    Prompt,
    Cancel,
    SessionInfos,
    SessionInfo,
    TerminateSession,
    DetachSession,
    SetMetadata,
    ListEntries,
    Stat,
    MakeDirectory,
    Move,
    DeleteEntry,
    ReadFile,
    WriteFile,
    UploadBatch,
}

use Method as M;

/// What a method is called, what that is in the audit, and by which word it is announced if it is
/// an extension of the protocol.
const METHODS: &[(Method, &str, &str, Option<&str>)] = &[
    (M::Initialize, "initialize", "open_connection", None),
    (M::NewSession, "session/new", "open_session", None),
    (M::LoadSession, "session/load", "open_session", None),
    (M::ResumeSession, "session/resume", "open_session", None),
    (M::ForkSession, "session/fork", "open_session", None),
    (M::ListSessions, "session/list", "list_sessions", None),
    (M::Prompt, "session/prompt", "prompt", None),
    (M::Cancel, "session/cancel", "cancel_prompt", None),
    (M::SessionInfos, "_sandboxagent/session/list", "list_sessions", Some("sessionList")),
    (M::SessionInfo, "_sandboxagent/session/get", "show_session", Some("sessionGet")),
    (
        M::TerminateSession,
        "_sandboxagent/session/terminate",
        "end_session",
        Some("sessionTerminate"),
    ),
    (M::DetachSession, "_sandboxagent/session/detach", "leave_session", Some("sessionDetach")),
    (
        M::SetMetadata,
        "_sandboxagent/session/set_metadata",
        "change_session",
        Some("sessionSetMetadata"),
    ),
    (M::ListEntries, "_sandboxagent/fs/list_entries", "list", Some("fsListEntries")),
    (M::Stat, "_sandboxagent/fs/stat", "stat", Some("fsStat")),
    (M::MakeDirectory, "_sandboxagent/fs/mkdir", "create_dir", Some("fsMkdir")),
    (M::Move, "_sandboxagent/fs/move", "rename", Some("fsMove")),
    (M::DeleteEntry, "_sandboxagent/fs/delete_entry", "remove", Some("fsDeleteEntry")),
    (M::ReadFile, "_sandboxagent/fs/read_file", "read", Some("fsReadFile")),
    (M::WriteFile, "_sandboxagent/fs/write_file", "write", Some("fsWriteFile")),
    (M::UploadBatch, "_sandboxagent/fs/upload_batch", "unpack", Some("fsUploadBatch")),
];

/// What other servers of this protocol announce, and this one does not do.
pub(super) const MISSING: [&str; 3] = ["agentInstall", "agentList", "sessionListModels"];

impl Method {
    /// The method of that name.
    pub(super) fn of(name: &str) -> Option<Self> {
        METHODS.iter().find(|(_, known, ..)| *known == name).map(|(method, ..)| *method)
    }

    /// What it is called in the audit.
    pub(super) fn audited(self) -> &'static str {
        let found = METHODS.iter().find(|(method, ..)| *method == self);
        found.map_or("request", |(_, _, word, _)| *word)
    }

    /// Names and words of all extensions.
    pub(super) fn extensions() -> impl Iterator<Item = (&'static str, &'static str)> {
        METHODS.iter().filter_map(|(_, name, _, word)| word.map(|word| (*name, word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name_and_has_one_row() {
        for (method, name, word, _) in METHODS {
            assert_eq!((Method::of(name), method.audited()), (Some(*method), *word));
        }
        assert_eq!(Method::of("fs/read_text_file"), None);
        assert_eq!(Method::of("Initialize"), None);
        assert_eq!(Method::extensions().count(), 13);
    }
}
