//! How much may be watched: every directory costs the kernel about a kilobyte that cannot be swapped
//! out, and there is one bound for all programs of a user.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use crate::{Error, ErrorKind, Result};

/// How many posts there may be in this process.
const MOST_POSTS: usize = 4096;
/// How many directories the kernel may watch for one tree, those beneath watched ones included.
const MOST_DIRS_OF_A_TREE: usize = 65_536;
/// How many the kernel watches for a user, where it does not say.
const USUAL: usize = 65_536;

static POSTS: AtomicUsize = AtomicUsize::new(0);
static DIRS: AtomicUsize = AtomicUsize::new(0);
/// How many directories may be watched in this process: a quarter is left to others.
static MOST_DIRS: LazyLock<usize> =
    LazyLock::new(|| host::Watches::most_of_a_user().unwrap_or(USUAL) / 4 * 3);

/// The place of a post among those of the process.
#[derive(Debug)]
pub(super) struct PostPlace;

impl PostPlace {
    pub(super) fn take() -> Result<Self> {
        let place = Self;
        if POSTS.fetch_add(1, Ordering::Relaxed) >= MOST_POSTS {
            let message = format!("the server watches {MOST_POSTS} directories, and no more");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        Ok(place)
    }
}

impl Drop for PostPlace {
    fn drop(&mut self) {
        POSTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many directories the kernel watches for a tree. One that is watched in two ways counts twice.
#[derive(Debug)]
pub(super) struct Places {
    taken: AtomicUsize,
    most: usize,
}

/// The place of one directory.
#[derive(Debug)]
pub(super) struct DirPlace(Arc<Places>);

impl Default for Places {
    /// One tree alone does not take everything.
    fn default() -> Self {
        Self::up_to(MOST_DIRS_OF_A_TREE.min(*MOST_DIRS / 2))
    }
}

impl Places {
    fn up_to(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    /// The place of one more directory.
    pub(super) fn take(places: &Arc<Self>) -> Result<DirPlace> {
        // Both are counted before they are looked at, and given back with the place.
        let of_the_tree = places.taken.fetch_add(1, Ordering::Relaxed);
        let of_all = DIRS.fetch_add(1, Ordering::Relaxed);
        let place = DirPlace(Arc::clone(places));
        if of_the_tree >= places.most {
            return Err(too_many_of_a_tree(places.most));
        }
        if of_all >= *MOST_DIRS {
            return Err(too_many_of_all());
        }
        Ok(place)
    }
}

impl Drop for DirPlace {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
        DIRS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn too_many_of_a_tree(most: usize) -> Error {
    let message = format!(
        "more than {most} directories of the sandbox would be watched: watch one that holds fewer, \
         or only its own names"
    );
    Error::new(ErrorKind::LimitExceeded, message)
}

fn too_many_of_all() -> Error {
    let message = format!(
        "the server watches {} directories, and no more: fs.inotify.max_user_watches of its machine \
         allows for others, too",
        *MOST_DIRS
    );
    Error::new(ErrorKind::LimitExceeded, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_given_back_is_taken_again_and_no_refusal_takes_one() {
        let places = Arc::new(Places::up_to(2));
        let taken = [Places::take(&places).unwrap(), Places::take(&places).unwrap()];
        for _ in 0..3 {
            let refusal = Places::take(&places).unwrap_err();
            assert_eq!(refusal.kind(), ErrorKind::LimitExceeded);
            assert!(refusal.message().contains("more than 2 directories"), "{refusal}");
        }
        drop(taken);
        assert_eq!(places.taken.load(Ordering::Relaxed), 0);
        assert!(Places::take(&places).is_ok());
    }
}
