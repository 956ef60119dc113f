//! The promises, by subject.

mod appending;
mod archive_formats;
mod archives_in;
mod archives_out;
mod batches;
mod bodies;
mod cancellation;
mod concurrency;
mod copy;
mod directories;
mod errors;
mod handles;
mod limits;
mod links;
mod links_out;
mod list;
mod merge;
mod metadata;
mod names;
mod pages;
mod parts;
mod preconditions;
mod races;
mod ranges;
mod read;
mod remove;
mod rename;
mod snapshots;
mod special_files;
mod stat;
mod usage;
mod watching;
mod write;
mod zip_in;
mod zip_out;

use crate::Promise;

/// Every promise.
pub fn promises() -> impl Iterator<Item = &'static Promise> {
    subjects().flat_map(|(_, promises)| promises)
}

/// Every subject with its promises.
pub(crate) fn subjects() -> impl Iterator<Item = (&'static str, &'static [Promise])> {
    [
        ("stat", stat::PROMISES),
        ("list", list::PROMISES),
        ("pages", pages::PROMISES),
        ("read", read::PROMISES),
        ("ranges", ranges::PROMISES),
        ("write", write::PROMISES),
        ("appending", appending::PROMISES),
        ("parts", parts::PROMISES),
        ("bodies", bodies::PROMISES),
        ("preconditions", preconditions::PROMISES),
        ("directories", directories::PROMISES),
        ("links", links::PROMISES),
        ("links_out", links_out::PROMISES),
        ("remove", remove::PROMISES),
        ("rename", rename::PROMISES),
        ("copy", copy::PROMISES),
        ("merge", merge::PROMISES),
        ("metadata", metadata::PROMISES),
        ("usage", usage::PROMISES),
        ("limits", limits::PROMISES),
        ("handles", handles::PROMISES),
        ("archives_in", archives_in::PROMISES),
        ("archives_out", archives_out::PROMISES),
        ("archive_formats", archive_formats::PROMISES),
        ("zip_in", zip_in::PROMISES),
        ("zip_out", zip_out::PROMISES),
        ("names", names::PROMISES),
        ("special_files", special_files::PROMISES),
        ("errors", errors::PROMISES),
        ("batches", batches::PROMISES),
        ("snapshots", snapshots::PROMISES),
        ("watching", watching::PROMISES),
        ("concurrency", concurrency::PROMISES),
        ("races", races::PROMISES),
        ("cancellation", cancellation::PROMISES),
    ]
    .into_iter()
}
