//! Appending to files, and writing parts of them.

use super::budget::whole;
use super::meaning::{Meaning as _, entry, host_path};
use super::spool::Spool;
use super::write::persistently;
use super::{HostFs, Tree};
use crate::{
    ByteStream, Error, ErrorKind, Part, Result, SandboxPath, WriteMode, WriteOptions, Written,
};

impl HostFs {
    /// Appends to a file or writes a part of it.
    pub(super) async fn insert(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let spool = self.spool(file, body, &options).await?;
        let file = file.clone();
        self.changing(move |tree| tree.insert(&file, &spool, &options)).await
    }
}

impl Tree {
    /// Puts a body into a file, at its end or at an offset.
    fn insert(&self, file: &SandboxPath, spool: &Spool, options: &WriteOptions) -> Result<Written> {
        // It may be made, or its directory removed, by somebody else at this moment.
        let passing = [ErrorKind::NotFound, ErrorKind::AlreadyExists];
        persistently(options, &passing, || self.insert_once(file, spool, options))
    }

    fn insert_once(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        let spot = self.target(file, options)?;
        let guard = self.locks.hold(&spot)?;
        let written = match self.check_target(&spot, options)? {
            Some(_) => self.insert_into_existing(file, spool, &spot, options.mode)?,
            None => {
                let offset = self.check_insertion(options.mode, 0, spool.total())?;
                self.insert_into_copy(file, spool, &spot, None, offset)?
            }
        };
        drop(guard);
        self.dir.settle(&spot).meaning()?;
        spot.keep_parents();
        Ok(written)
    }

    /// Where a body goes in a file of this size, if the result is one that may be.
    fn check_insertion(&self, mode: WriteMode, size: u64, len: u64) -> Result<u64> {
        let (offset, total) = match mode {
            WriteMode::Part(Part { offset, total }) => (offset, total),
            WriteMode::Append | WriteMode::CreateNew | WriteMode::Replace => (size, None),
        };
        let after = size.max(offset.saturating_add(len));
        self.check_file_size(after)?;
        if let Some(total) = total.filter(|total| *total != after) {
            let message = format!("the file would have {after} bytes instead of {total}");
            return Err(Error::new(ErrorKind::PreconditionFailed, message));
        }
        Ok(offset)
    }

    /// What counts is the file that was opened, whatever its name stands for by now.
    fn insert_into_existing(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        spot: &host::Spot,
        mode: WriteMode,
    ) -> Result<Written> {
        match self.dir.open_spot(spot) {
            // A second name may lie outside; only ours may change.
            Err(host::Error::Shared) => {
                let (opened, there) = self.dir.open_spot_to_read(spot).meaning()?;
                let offset = self.check_insertion(mode, there.size, spool.total())?;
                self.insert_into_copy(file, spool, spot, Some((&opened, there)), offset)
            }
            outcome => {
                let (opened, there) = outcome.meaning()?;
                let offset = self.check_insertion(mode, there.size, spool.total())?;
                self.insert_in_place(file, spool, &opened, &there, offset)
            }
        }
    }

    fn insert_in_place(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        opened: &host::OpenedFile,
        there: &host::Stat,
        offset: u64,
    ) -> Result<Written> {
        let grown = (offset + spool.total()).saturating_sub(there.size);
        let taken = self.take(whole(grown), 0)?;
        let inserted = spool.write_to(opened, offset).and_then(|()| {
            opened.set_modified(host::precise_now()).meaning()?;
            self.dir.sync(opened).meaning()
        });
        if let Err(err) = inserted {
            // What was there keeps its length; an append leaves no trace.
            opened.set_len(there.size).meaning()?;
            return Err(err);
        }
        taken.keep();
        let entry = entry(file.clone(), &opened.stat().meaning()?);
        Ok(Written { entry, bytes: spool.total(), created: false, in_place: false })
    }

    /// Puts a body into a file that is then placed as a whole: a copy of what is there, or a new one.
    fn insert_into_copy(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        spot: &host::Spot,
        there: Option<(&host::OpenedFile, host::Stat)>,
        offset: u64,
    ) -> Result<Written> {
        let mut copy = self.dir.begin(&host_path(file)).meaning()?;
        if let Some((opened, _)) = there {
            copy.copy_from(opened).meaning()?;
        }
        spool.insert_into(&mut copy, offset)?;
        let seen = there.map(|(_, seen)| seen);
        self.dir.ready(&mut copy, spot, seen.as_ref()).meaning()?;
        let mode = if there.is_some() { WriteMode::Replace } else { WriteMode::CreateNew };
        let placed = self.place(file, copy, spot, seen, mode);
        let written = placed.map_err(|(err, _)| err)?;
        Ok(Written { bytes: spool.total(), ..written })
    }
}
