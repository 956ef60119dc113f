//! Sandboxes end.
//!
//! Whoever ends one first marks its record as over, by the token of the record that he judged: of all
//! who try, one does, and a sandbox that somebody made under the id since is left alone. The record
//! goes last, so that whatever breaks off is found and finished.

use storage::{Expected, Token};

use super::open::registered_record;
use super::record::{Home, Record};
use super::{Registry, is_main};
use crate::{Error, ErrorKind, Result, SandboxId, UnixTime};

/// How often a removal is tried of what others change meanwhile.
const TRIES: usize = 8;

impl Registry {
    /// Removes a sandbox. The tree of a virtual one goes with it; a directory only if it was made
    /// for the sandbox.
    pub async fn remove(&self, id: &SandboxId) -> Result<()> {
        if self.is_main(id) {
            return Err(is_main(id));
        }
        for _ in 0..TRIES {
            let judged = self.load(id).await?;
            self.stat(id).await?;
            match self.finish(id, judged).await {
                Err(err) if err.kind() == ErrorKind::Busy => {}
                outcome => return outcome,
            }
        }
        Err(Error::new(ErrorKind::Busy, format!("the sandbox `{id}` is changed all the time")))
    }

    /// Takes away what is left of a sandbox that was judged by this record.
    pub(super) async fn finish(
        &self,
        id: &SandboxId,
        judged: Option<(Record, Token)>,
    ) -> Result<()> {
        // Whoever sweeps finishes what we cannot.
        self.note_end(id, UnixTime::EPOCH).await?;
        let (record, expected) = match judged {
            Some((record, token)) => (record, Expected::Token(token)),
            None => (registered_record(&self.stat(id).await?), Expected::Absent),
        };
        let doomed = record.doomed();
        let token = self.put(id, &expected, &doomed).await?.ok_or_else(|| {
            Error::new(ErrorKind::Busy, format!("the sandbox `{id}` was changed meanwhile"))
        })?;
        self.shared.open.close(id);
        if let Home::Directory(directory) = &doomed.home
            && directory.made
        {
            self.shared.hosts.remove(directory).await?;
        }
        // The tree of a virtual sandbox, or the snapshots of a directory.
        match self.shared.store.remove_sparing(id, "record").await {
            Err(err) if err.kind() == ErrorKind::NotFound => {}
            outcome => outcome?,
        }
        if let Home::Directory(directory) = &doomed.home
            && let Ok(ground) = self.shared.hosts.ground(directory)
        {
            self.clear_ground(id, &ground).await?;
        }
        self.forget(id, &token).await?;
        self.shared.open.close(id);
        Ok(())
    }
}
