//! Zip archives.
//!
//! The first byte says where the archive goes (see `archives`). If the second is even, the rest is
//! the archive. Otherwise it is a plan of one: lengths, checksums and places are right, and a few
//! bytes are changed afterwards.

mod plan;

use arbitrary::{Arbitrary as _, Unstructured};
use engine::ArchiveFormat;

use self::plan::Plan;
use crate::archives;

/// Holds what must hold of an archive.
pub fn check(data: &[u8]) {
    let Some(([place, how], rest)) = data.split_first_chunk() else { return };
    if how & 1 == 0 {
        return archives::check(*place, ArchiveFormat::Zip, rest);
    }
    if let Ok(plan) = Plan::arbitrary_take_rest(Unstructured::new(rest)) {
        archives::check(*place, ArchiveFormat::Zip, &plan.archive());
    }
}
