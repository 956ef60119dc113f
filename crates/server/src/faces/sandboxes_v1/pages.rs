//! Lists of which a part is sent at a time.

use crate::problem::Problem;
use crate::query::{FromParams, Params};

/// How many a page has at most.
pub(super) const MOST: u64 = 1000;

/// Which part of a list is sent.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// At most so many, and never more than 1000.
    #[param(required = false, value_type = u128, minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// Where the page before ended, as it said.
    #[param(nullable = false)]
    pub(super) cursor: Option<String>,
}

impl PageQuery {
    /// At most so many.
    pub(super) fn limit(&self) -> usize {
        usize::try_from(self.limit.unwrap_or(MOST)).unwrap_or(usize::MAX)
    }
}

impl FromParams for PageQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { limit: limit(params)?, cursor: params.optional("cursor")? })
    }
}

/// How many a client wants at most.
pub(super) fn limit(params: &Params<'_>) -> Result<Option<u64>, Problem> {
    let limit = params.number("limit")?;
    if limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
        return Err(Problem::invalid_request("`limit` is a number from 1 to 1000")
            .hint("ask for fewer, and go on with the cursor"));
    }
    Ok(limit)
}
