//! What all servers have in common that speak S3 or another protocol of AWS.

use std::net::SocketAddr;

use crate::recipe::Way;

/// The bucket that is there when a server starts.
pub(crate) const BUCKET: &str = "sandkeep";

/// The settings that AWS's own clients take from the environment.
pub(crate) fn credentials(address: SocketAddr, key: &str, secret: &str) -> String {
    format!(
        "AWS_ENDPOINT_URL=http://{address}\nAWS_ACCESS_KEY_ID={key}\n\
         AWS_SECRET_ACCESS_KEY={secret}\nAWS_REGION=us-east-1\nAWS_ALLOW_HTTP=true\n"
    )
}

pub(crate) fn url(way: &Way<'_>) -> String {
    format!("s3://{BUCKET}/{}?credentials-file={}", way.namespace, way.credentials)
}
