//! Takes an archive apart, whatever its format.

use std::io::Read;

use super::members::{Count, Members};
use super::{ArchiveFormat, ArchiveLimits, Unpacked, tar, zip};
use crate::{Result, SandboxPath};

/// Hands what an archive holds to `members`. None of it may be seen unless this succeeds.
pub(crate) fn unpack<'a>(
    archive: impl Read,
    dir: &SandboxPath,
    format: ArchiveFormat,
    limits: ArchiveLimits,
    members: &mut dyn Members<'a>,
) -> Result<Unpacked> {
    let mut count = Count::new(dir, limits);
    match format {
        ArchiveFormat::Tar => tar::unpack(archive, &mut count, members)?,
        ArchiveFormat::TarGz => compressed(tar::gunzip(archive), &mut count, members)?,
        ArchiveFormat::TarZst => compressed(tar::unzstd(archive)?, &mut count, members)?,
        ArchiveFormat::Zip => zip::unpack(archive, &mut count, members)?,
    }
    Ok(count.unpacked())
}

fn compressed<'a>(
    mut plain: impl Read,
    count: &mut Count<'_>,
    members: &mut dyn Members<'a>,
) -> Result<()> {
    tar::unpack(&mut plain, count, members)?;
    tar::check_rest(plain)
}
