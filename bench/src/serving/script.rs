//! What one connection asks, again and again.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use memchr::memmem;

use super::ask::Request;
use super::connection::Answer;
use super::content::stamp;

/// What stands in a path for the number of a request.
pub(super) const NUMBER: &str = "00000000";

/// The requests of one connection, made before the clock runs.
#[derive(Clone)]
pub(super) enum Script {
    /// One after the other, and again from the first.
    Turns { requests: Arc<[Request]>, next: usize },
    /// A file whose content, and whose name if it holds [`NUMBER`], is always another.
    Fresh { request: Request, name: Option<usize>, body: usize, number: u64 },
}

impl Script {
    /// Begins at another place than the connections beside it.
    pub(super) fn turns(requests: &Arc<[Request]>, begin: usize) -> Self {
        Self::Turns { requests: Arc::clone(requests), next: begin }
    }

    /// Uploads with the noise behind the head. Connections begin with different numbers.
    pub(super) fn fresh(head: &Request, noise: &[u8], begin: u64) -> Self {
        let mut request = head.clone();
        let (name, body) = (memmem::find(&head.bytes, NUMBER.as_bytes()), head.bytes.len());
        request.bytes.extend_from_slice(noise);
        Self::Fresh { request, name, body, number: begin }
    }

    /// Requests without a body of noise, whose number is always another.
    pub(super) fn numbered(request: &Request) -> Self {
        let name = memmem::find(&request.bytes, NUMBER.as_bytes());
        Self::Fresh { request: request.clone(), name, body: request.bytes.len(), number: 0 }
    }

    /// The next request.
    pub(super) fn next(&mut self) -> Result<&Request> {
        match self {
            Self::Turns { requests, next } => {
                let request = requests.get(*next % requests.len().max(1));
                *next += 1;
                request.context("a script without requests")
            }
            Self::Fresh { request, name, body, number } => {
                *number += 1;
                if let Some(name) = *name {
                    let place = request.bytes.get_mut(name..name + NUMBER.len());
                    let digits = format!("{:08}", *number % 100_000_000);
                    place.context("no room for a number")?.copy_from_slice(digits.as_bytes());
                }
                stamp(request.bytes.get_mut(*body..).unwrap_or_default(), *number);
                Ok(request)
            }
        }
    }
}

/// What an answer must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// Exactly this one, or any that means success.
    pub(super) status: Option<u16>,
    /// Exactly so long.
    pub(super) length: Option<u64>,
}

impl Expected {
    pub(super) const FINE: Self = Self { status: None, length: None };

    pub(super) fn fits(&self, answer: Answer) -> bool {
        let is_success = (200..300).contains(&answer.status);
        self.status.map_or(is_success, |status| status == answer.status)
            && self.length.is_none_or(|length| length == answer.length)
    }
}
