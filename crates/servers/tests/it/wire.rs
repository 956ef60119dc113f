//! Requests as the clients of clouds sign them, written by hand.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use ring::{digest, hmac};
use sandkeep_servers::Server;

use crate::life;

/// A request that is not signed yet.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// Lines that the signature does not cover, each with its end.
    pub(crate) headers: &'a str,
    pub(crate) body: &'a str,
}

impl Request<'_> {
    /// The status of the answer, and what follows the headers.
    pub(crate) fn send(&self, server: &Server, signature: &str) -> (u16, String) {
        let Request { method, path, headers, body } = self;
        let (host, length) = (server.address(), body.len());
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\
             Connection: close\r\n{headers}{signature}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    /// Signed as S3 wants it, with a key that need not be the right one.
    pub(crate) fn send_to_s3(&self, server: &Server, secret: &str) -> (u16, String) {
        let credentials = life::credentials(server);
        let (key, region) = (&credentials["AWS_ACCESS_KEY_ID"], &credentials["AWS_REGION"]);
        let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let (day, _) = now.split_once('T').unwrap();
        let (host, names) = (server.address(), "host;x-amz-content-sha256;x-amz-date");
        let canonical = format!(
            "{}\n{}\n\nhost:{host}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:{now}\n\n\
             {names}\nUNSIGNED-PAYLOAD",
            self.method, self.path
        );
        let scope = format!("{day}/{region}/s3/aws4_request");
        let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let text = format!("AWS4-HMAC-SHA256\n{now}\n{scope}\n{digest}");
        let key_of_the_day = format!("AWS4{secret}").into_bytes();
        let steps = [day, region, "s3", "aws4_request", &text];
        let tag = hex(&steps.iter().fold(key_of_the_day, |key, step| mac(&key, step)));
        let signature = format!(
            "x-amz-date: {now}\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\nAuthorization: \
             AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={tag}\r\n"
        );
        self.send(server, &signature)
    }

    /// Signed as Azure wants it, as a block blob.
    pub(crate) fn send_to_azure(&self, server: &Server) -> (u16, String) {
        let credentials = life::credentials(server);
        let account = &credentials["AZURE_STORAGE_ACCOUNT_NAME"];
        let key = BASE64_STANDARD.decode(&credentials["AZURE_STORAGE_ACCOUNT_KEY"]).unwrap();
        let now = Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT");
        let length = Some(self.body.len()).filter(|length| *length > 0);
        let length = length.map(|length| length.to_string()).unwrap_or_default();
        let text = format!(
            "{}\n\n\n{length}\n\n\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:{now}\n\
             x-ms-version:2021-12-02\n/{account}{}",
            self.method, self.path
        );
        let tag = BASE64_STANDARD.encode(mac(&key, &text));
        let signature = format!(
            "x-ms-blob-type: BlockBlob\r\nx-ms-date: {now}\r\nx-ms-version: 2021-12-02\r\n\
             Authorization: SharedKey {account}:{tag}\r\n"
        );
        self.send(server, &signature)
    }

    /// With the name of the operation that `DynamoDB` is to run; ministack checks no signature.
    pub(crate) fn send_to_dynamodb(server: &Server, operation: &str, body: &str) -> (u16, String) {
        let headers = format!(
            "X-Amz-Target: DynamoDB_20120810.{operation}\r\n\
             Content-Type: application/x-amz-json-1.0\r\n"
        );
        Request { method: "POST", path: "/", headers: &headers, body }.send(server, "")
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
