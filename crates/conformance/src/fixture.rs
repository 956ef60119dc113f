//! A fresh, empty tree for one trial.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{FileSystem, SandboxPath};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A fresh, empty tree and whatever keeps it alive.
pub struct Fixture {
    /// The tree under test.
    pub files: Arc<dyn FileSystem>,
    /// Puts a FIFO at a path, for trees with [`Ability::Fifos`](crate::Ability::Fifos).
    pub plant_fifo: Option<PlantFifo>,
    /// Where the tree is kept, if it is a place that no error may tell.
    pub place: Option<PathBuf>,
    /// Dropped when the trial is over: a temporary directory, a server.
    pub alive: Box<dyn Any + Send>,
}

/// Puts a FIFO at a path by other means than the tree under test.
pub type PlantFifo = Arc<dyn Fn(&SandboxPath) + Send + Sync>;

impl Fixture {
    /// A tree that shows the directory `root` of this machine.
    pub fn of_directory(
        files: Arc<dyn FileSystem>,
        root: &Path,
        alive: Box<dyn Any + Send>,
    ) -> Self {
        let (place, root) = (Some(root.to_owned()), root.to_owned());
        let plant = move |path: &SandboxPath| {
            let path = root.join(path.as_str().trim_start_matches('/'));
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        };
        Self { files, plant_fifo: Some(Arc::new(plant)), place, alive }
    }
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture").field("files", &self.files).finish_non_exhaustive()
    }
}
