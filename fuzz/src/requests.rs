//! Requests of any kind to any route: none breaks the server, and what it holds stays sound.
//!
//! Requests are separated by a line of two hyphens. Each is a line with a method and a target, lines
//! of headers, an empty line, and the body.

use bytes::Bytes;
use http::{Method, Request, Uri};

use crate::face::Face;
use crate::headers::parsed;
use crate::runtime::run;
use crate::trees::seen;

/// How many requests are sent at most.
const MOST: usize = 6;
/// After so many inputs the server is another one: sandboxes and keys stay that were made.
const AGE: u32 = 2000;

thread_local! {
    static FACE: std::cell::RefCell<(u32, Option<Face>)> = const { std::cell::RefCell::new((0, None)) };
}

/// Holds that the server answers, and that its tree is sound afterwards.
pub fn check(data: &[u8]) {
    FACE.with_borrow_mut(|(age, face)| {
        if *age == 0 {
            *face = Some(run(Face::new(&[("/a", b"hello"), ("/dir/b", b"1\n2\n3\n")])));
        }
        *age = (*age + 1) % AGE;
        if let Some(face) = face {
            run(talk(face, data));
        }
    });
}

async fn talk(face: &Face, data: &[u8]) {
    for request in split(data).into_iter().take(MOST).filter_map(request) {
        face.ask(request).await;
    }
    seen(&face.files, 2000).await;
    face.clean().await;
}

fn split(data: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), data);
    while let Some(end) = rest.windows(4).position(|word| word == b"\n--\n") {
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = &behind[4..];
    }
    parts.push(rest);
    parts
}

fn request(text: &[u8]) -> Option<Request<Bytes>> {
    let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let (line, rest) = text.split_at(end);
    let space = line.iter().position(|byte| *byte == b' ')?;
    let (method, target) = line.split_at(space);
    let (method, target) = (Method::from_bytes(method).ok()?, Uri::try_from(&target[1..]).ok()?);
    let (headers, body) = parsed(rest.get(1..).unwrap_or_default(), "\"0\"");
    let mut request = Request::builder().method(method).uri(target).body(body).ok()?;
    *request.headers_mut() = headers;
    Some(request)
}
