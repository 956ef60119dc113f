//! `GET /`.

use axum::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who answers here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RootResponse {
    /// Where the interface is described.
    #[schema(example = "/docs")]
    pub(super) docs: String,
    /// The server's name.
    #[schema(example = "Sandkeep")]
    pub(super) name: String,
}

/// Who answers here.
#[utoipa::path(
    get,
    path = "/",
    operation_id = "root",
    tag = "server",
    responses((status = 200, description = "Its name", body = RootResponse))
)]
pub(super) async fn root() -> Json<RootResponse> {
    Json(RootResponse { docs: "/docs".to_owned(), name: "Sandkeep".to_owned() })
}
