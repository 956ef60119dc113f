//! What every backend promises, by subject.

mod backend;
mod cancellation;
mod commits;
mod crashes;
mod deleting;
mod domains;
mod listing;
mod listing_refs;
pub(crate) mod mortal;
mod objects;
mod opening;
mod races;
mod refs;
mod store;
mod trial;

pub(crate) use backend::{Ability, Backend, Home};
use store::Store;
pub(crate) use trial::trials;
use trial::{Promise, promises};

/// Every subject with its promises.
const SUBJECTS: &[(&str, &[Promise])] = &[
    ("objects", objects::PROMISES),
    ("domains", domains::PROMISES),
    ("listing", listing::PROMISES),
    ("deleting", deleting::PROMISES),
    ("refs", refs::PROMISES),
    ("listing_refs", listing_refs::PROMISES),
    ("commits", commits::PROMISES),
    ("races", races::PROMISES),
    ("cancellation", cancellation::PROMISES),
    ("opening", opening::PROMISES),
    ("crashes", crashes::PROMISES),
];
