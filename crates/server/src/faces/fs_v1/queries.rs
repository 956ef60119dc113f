//! How the queries of the wire are read.

use super::wire::{
    FsDeleteQuery, FsDownloadBatchQuery, FsEntriesQuery, FsPathQuery, FsSessionQuery,
    FsUploadBatchQuery,
};
use crate::problem::Problem;
use crate::query::{FromParams, Params};

impl FromParams for FsPathQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { path: params.required("path")?, session_id: params.session()? })
    }
}

impl FromParams for FsEntriesQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let limit = params.number("limit")?;
        if limit == Some(0) {
            return Err(Problem::invalid_request("`limit` must be at least 1")
                .hint("leave `limit` out to list everything"));
        }
        Ok(Self {
            path: params.optional("path")?,
            session_id: params.session()?,
            limit,
            after: params.optional("after")?,
        })
    }
}

impl FromParams for FsSessionQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { session_id: params.session()? })
    }
}

impl FromParams for FsDeleteQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self {
            path: params.required("path")?,
            session_id: params.session()?,
            recursive: params.flag("recursive")?,
        })
    }
}

impl FromParams for FsUploadBatchQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let path = params.optional("path")?;
        Ok(Self { path, session_id: params.session()? })
    }
}

impl FromParams for FsDownloadBatchQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self {
            path: params.optional("path")?,
            session_id: params.session()?,
            max_bytes: params.number("maxBytes")?,
            max_entries: params.number("maxEntries")?,
            max_depth: params.number("maxDepth")?,
        })
    }
}
