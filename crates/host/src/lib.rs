//! A directory that no path can climb out of.
//!
//! [`Dir`] holds a directory by its descriptor and gives every client path to the kernel relative
//! to it, through `openat2` with `RESOLVE_BENEATH`: what happens to the names meanwhile does not
//! matter. It is synchronous, knows no protocol and nothing of the engine, and never looks at a
//! path by name before it opens it.
//!
//! - `beneath`: the one place where a client's path meets the kernel
//! - `read` and `recent`: files are looked at, opened, and stay open for a moment
//! - `spot`: a name in an open directory, which is what every change acts on
//! - `sole`: whether a file has no name but that one, and may be changed where it is
//! - `replace`: files are written elsewhere and renamed into place
//! - `moving`, `walk`, `copy`, `merge`: what happens to whole trees
//! - `descent`: down a tree and up again, for those who scan and compare
//! - `process`: in whose world a tree lies, where that is a container's
//! - `watch`: what happens in open directories, as the kernel tells it
//! - `restore`, `stage`, `journal`, `record`, `exchange`: a tree brought back to an earlier state

mod amend;
mod beneath;
mod clock;
mod copy;
mod descent;
mod dir;
mod error;
mod exchange;
mod generated;
mod journal;
mod list;
mod merge;
mod mountinfo;
mod moving;
mod owner;
mod process;
mod read;
mod recent;
mod record;
mod replace;
mod restore;
mod scratch;
mod sole;
mod spot;
mod stage;
mod staging;
mod stat;
mod sweep;
mod tree;
mod walk;
mod watch;

pub use clock::precise_now;
pub use descent::Descent;
pub use dir::{Dir, Durability, Mounts, Options};
pub use error::{Error, Result};
pub use list::{InOrder, Listing, Names};
pub use moving::Leftover;
pub use process::{Process, RootMark, machine};
pub use read::OpenedFile;
pub use recent::{forget_unused, keeps_any};
pub use record::Look;
pub use replace::{Existing, Placed, Unfinished};
pub use restore::Restore;
pub use rustix::io::Errno;
pub use scratch::Scratch;
pub use spot::{Links, Parents, Spot};
pub use stage::Stage;
pub use staging::is_reserved;
pub use stat::{Kind, Stat, Time};
pub use tree::{StagedTree, TreeError};
pub use walk::Tally;
pub use watch::{Event, Happening, Watch, Watches};
