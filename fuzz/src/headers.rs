//! Ranges and conditions: what is answered is what RFC 9110 lets be answered, and what is refused
//! changes nothing.
//!
//! The first byte chooses a file and what is asked of it. Then come lines of headers, in which
//! `{etag}` stands for the tag that the file has, an empty line, and the body.

use bytes::Bytes;
use engine::{FileSystem as _, Span};
use futures::TryStreamExt as _;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode};

use crate::face::{Answer, Face};
use crate::runtime::run;
use crate::trees::at;

/// The files that there are, and how long they are: nothing, a little, more than fits beside a name,
/// and more than one chunk.
const FILES: [(&str, usize); 4] = [("e", 0), ("s", 10), ("m", 600), ("dir/b", 300_000)];

thread_local! {
    static FACE: Face = run(async {
        let contents: Vec<_> = FILES.iter().map(|(name, len)| (format!("/{name}"), content(*len))).collect();
        let contents: Vec<_> = contents.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
        Face::new(&contents).await
    });
}

/// A request to be made.
struct Asked {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
    /// What the file held before.
    held: Vec<u8>,
}

/// Holds that the answer to a request is one that it can have.
pub fn check(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let (name, len) = FILES[usize::from(choice & 3)];
    FACE.with(|face| {
        run(async {
            let target = match choice & 4 {
                0 => format!("/v1/fs/file?path={name}"),
                _ => format!("/v1/sandboxes/box/fs/{name}"),
            };
            let method = [
                Method::GET,
                Method::GET,
                Method::HEAD,
                Method::PATCH,
                Method::PUT,
                Method::DELETE,
            ];
            let method = method[usize::from(choice >> 3) % method.len()].clone();
            let held = content(len);
            let etag = face.ask(ask(&Method::HEAD, &target, HeaderMap::new(), Bytes::new())).await;
            assert_eq!(etag.status, StatusCode::OK);
            let (headers, body) = parsed(rest, etag.header("etag"));
            let asked = Asked { method, target, headers, body, held };
            let answer = face.ask(asked.request()).await;
            match asked.method {
                Method::GET => asked.check_read(&answer),
                Method::HEAD => assert!(answer.body.is_empty()),
                _ => {
                    asked.check_change(face, name, &answer).await;
                    face.clean().await;
                }
            }
        });
    });
}

impl Asked {
    fn request(&self) -> Request<Bytes> {
        ask(&self.method, &self.target, self.headers.clone(), self.body.clone())
    }

    fn check_read(&self, answer: &Answer) {
        let Self { headers, held, .. } = self;
        let has = |name: &str| headers.contains_key(name);
        let size = held.len();
        match answer.status {
            StatusCode::OK => assert_eq!(answer.body, held),
            StatusCode::PARTIAL_CONTENT => {
                assert_eq!(headers.get_all("range").iter().count(), 1);
                let (first, last, told) = content_range(answer.header("content-range"));
                assert!(first <= last && last < size && told == size, "{first}-{last}/{told}");
                assert_eq!(answer.body, held[first..=last]);
            }
            StatusCode::NOT_MODIFIED => {
                assert!(has("if-none-match") || has("if-modified-since"));
                assert!(answer.body.is_empty());
            }
            StatusCode::PRECONDITION_FAILED => {
                assert!(has("if-match") || has("if-unmodified-since"));
            }
            StatusCode::RANGE_NOT_SATISFIABLE => {
                assert!(has("range"));
                assert_eq!(answer.header("content-range"), format!("bytes */{size}"));
            }
            status => assert!(status.is_client_error(), "{status}"),
        }
        if headers.len() == 1
            && let Some(range) = headers.get("range")
        {
            assert_eq!(answer.status, expected(range, size), "{range:?} of {size}");
        }
    }

    async fn check_change(&self, face: &Face, name: &str, answer: &Answer) {
        let there = read(face, name).await;
        if !answer.status.is_success() {
            assert_eq!(there.as_ref(), Some(&self.held), "what is refused changed something");
            return;
        }
        let expected = match self.method {
            Method::DELETE => None,
            Method::PUT => Some(self.body.to_vec()),
            _ if self.headers.contains_key("x-append") => {
                Some([&self.held[..], &self.body].concat())
            }
            _ => Some(self.placed()),
        };
        assert_eq!(there, expected);
    }

    /// What the file holds when the body is where its headers say.
    fn placed(&self) -> Vec<u8> {
        let range = self.headers.get("content-range").and_then(|range| range.to_str().ok());
        let (first, rest) = range
            .and_then(|range| range.trim().strip_prefix("bytes ")?.trim().split_once('-'))
            .expect("it was understood");
        let (last, total) = rest.split_once('/').expect("it was understood");
        let number = |text: &str| text.parse::<usize>().expect("it was understood");
        let (first, end) = (number(first), number(last) + 1);
        assert_eq!(end - first, self.body.len());
        let mut placed = self.held.clone();
        placed.resize(placed.len().max(end), 0);
        placed[first..end].copy_from_slice(&self.body);
        assert!(total == "*" || number(total) == placed.len());
        placed
    }
}

/// What one range by itself must be answered with.
fn expected(range: &HeaderValue, size: usize) -> StatusCode {
    let whole = StatusCode::OK;
    let Some((unit, range)) = range.to_str().ok().and_then(|range| range.split_once('=')) else {
        return whole;
    };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return whole;
    }
    let Some((first, last)) = range.trim().split_once('-') else { return whole };
    let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse::<u64>().ok(),
        false => None,
    };
    let is_there = match (first, last, number(first), number(last)) {
        ("", _, _, Some(last)) => last > 0 && size > 0,
        (_, "", Some(first), _) => first < size as u64,
        (_, _, Some(first), Some(last)) if first <= last => first < size as u64,
        _ => return whole,
    };
    if is_there { StatusCode::PARTIAL_CONTENT } else { StatusCode::RANGE_NOT_SATISFIABLE }
}

fn content_range(text: &str) -> (usize, usize, usize) {
    let parts = text.strip_prefix("bytes ").and_then(|rest| rest.split_once('-'));
    let parts = parts.and_then(|(first, rest)| Some((first, rest.split_once('/')?)));
    let (first, (last, size)) = parts.expect("a part says which it is");
    let number = |text: &str| text.parse().expect("it is a number");
    (number(first), number(last), number(size))
}

fn ask(method: &Method, target: &str, headers: HeaderMap, body: Bytes) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(target).body(body);
    let mut request = request.expect("the address is one");
    *request.headers_mut() = headers;
    request
}

/// The headers and the body that lines stand for.
pub(crate) fn parsed(text: &[u8], etag: &str) -> (HeaderMap, Bytes) {
    let mut headers = HeaderMap::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.get(1..).unwrap_or_default();
        if line.is_empty() {
            break;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        let value = match std::str::from_utf8(value) {
            Ok(text) => text.replace("{etag}", etag).into_bytes(),
            Err(_) => value.to_vec(),
        };
        let pair = (HeaderName::from_bytes(name), HeaderValue::from_bytes(&value));
        if let (Ok(name), Ok(value)) = pair {
            headers.append(name, value);
        }
    }
    (headers, Bytes::copy_from_slice(rest))
}

/// What a file holds; none if it is not there.
async fn read(face: &Face, name: &str) -> Option<Vec<u8>> {
    let content = face.files.read(&at(&format!("/{name}")), Span::Whole).await.ok()?;
    let pieces: Vec<Bytes> = content.body.try_collect().await.expect("to its end");
    Some(pieces.concat())
}

/// Bytes of which no two parts are alike.
fn content(len: usize) -> Vec<u8> {
    (0..len.div_ceil(4)).flat_map(|number| (number as u32).to_be_bytes()).take(len).collect()
}
