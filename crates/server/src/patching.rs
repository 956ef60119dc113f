//! What a PATCH changes: a part of a file, or its end.

use engine::{Part, WriteMode};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, HeaderName};

use crate::problem::Problem;
use crate::ranges::{self, Placed};

const APPEND: HeaderName = HeaderName::from_static("x-append");

/// What a PATCH changes.
pub(crate) struct Patch {
    pub(crate) mode: WriteMode,
    /// How long the body must be, if that is known.
    pub(crate) length: Option<u64>,
}

impl Patch {
    /// What the headers say of a body of this length.
    pub(crate) fn read(headers: &HeaderMap, length: Option<u64>) -> Result<Self, Problem> {
        let append = match headers.get(APPEND) {
            None => false,
            Some(value) if value == "1" => true,
            Some(_) => {
                return Err(Problem::invalid_request("x-append can only be 1")
                    .hint("send `X-Append: 1`, or leave it out"));
            }
        };
        match (append, ranges::placed(headers)?) {
            (true, None) => Ok(Self { mode: WriteMode::Append, length }),
            (false, Some(Placed { range, total })) => {
                let bytes = range.end - range.start;
                if length.is_some_and(|length| length != bytes) {
                    return Err(wrong_length(bytes));
                }
                let mode = WriteMode::Part(Part { offset: range.start, total });
                Ok(Self { mode, length: Some(bytes) })
            }
            (true, Some(_)) | (false, None) => Err(Problem::invalid_request(
                "a PATCH needs either content-range or x-append",
            )
            .hint("send `Content-Range: bytes FIRST-LAST/*` to write a part, or `X-Append: 1`")),
        }
    }
}

fn wrong_length(size: u64) -> Problem {
    Problem::invalid_request("the body is not as long as its content-range")
        .hint(format!("send {CONTENT_LENGTH}: {size}, or correct the range"))
}
