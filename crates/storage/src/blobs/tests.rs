//! Buckets that cannot remove on a condition: how they are found out, and what they still promise.

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::LazyLock;
use std::time::Duration;

use servers::{Kind, Server};

use super::*;
use crate::settings::Settings;

/// One for all tests, each of which has a prefix of its own.
static SEAWEEDFS: LazyLock<Server> = LazyLock::new(|| Server::start(Kind::SeaweedFs));

async fn bucket(server: &Server) -> Bucket {
    let address = Address::of(&server.url("any")).await.unwrap();
    let (place, _) = address.place_and_prefix().unwrap();
    s3::connect(&place, &address.settings).await.unwrap()
}

/// A store that does not rely on what its bucket does with the condition of a removal.
async fn heedless(server: &Server, prefix: &str) -> Blobs {
    let (bucket, names) = (bucket(server).await, Names::under(prefix));
    Blobs { bucket, names, removing: Removing::Heedless }
}

fn key(text: &str) -> RefKey {
    RefKey::new(text).unwrap()
}

async fn create(blobs: &Blobs, text: &str) -> Token {
    match blobs.swap(&key(text), &Expected::Absent, "x".into()).await.unwrap() {
        Swap::Won(token) => token,
        Swap::Lost(current) => panic!("lost to {current:?}"),
    }
}

#[tokio::test]
async fn a_bucket_that_removes_on_a_condition_is_known() {
    let removing = Removing::of(&bucket(&SEAWEEDFS).await, &Names::under("known")).await.unwrap();
    assert_eq!(removing, Removing::Exact);
}

#[tokio::test]
async fn a_bucket_that_removes_whatever_is_there_is_found_out() {
    let server = Server::start(Kind::S3rver);
    let (bucket, names) = (bucket(&server).await, Names::under("found-out"));
    assert_eq!(Removing::of(&bucket, &names).await.unwrap(), Removing::Heedless);
    assert_eq!(list(&bucket, &names.objects(None), None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn without_conditional_removal_refs_still_go_by_their_tokens() {
    let blobs = heedless(&SEAWEEDFS, "tokens").await;
    assert!(!blobs.capabilities().exact_delete);
    let stale = create(&blobs, "a").await;
    let swap = blobs.swap(&key("a"), &Expected::Token(stale.clone()), "y".into()).await.unwrap();
    let Swap::Won(token) = swap else { panic!("{swap:?}") };
    assert!(!blobs.delete_ref(&key("a"), &stale).await.unwrap());
    assert!(blobs.delete_ref(&key("a"), &token).await.unwrap());
    assert!(!blobs.delete_ref(&key("a"), &token).await.unwrap());
    assert_eq!(blobs.load(&key("a")).await.unwrap(), None);
    let swap = blobs.swap(&key("a"), &Expected::Token(token), "z".into()).await.unwrap();
    assert_eq!(swap, Swap::Lost(None));
    let again = create(&blobs, "a").await;
    assert_eq!(blobs.load(&key("a")).await.unwrap().unwrap().token, again);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_conditional_removal_one_of_many_makes_a_removed_ref_again() {
    let blobs = Arc::new(heedless(&SEAWEEDFS, "again").await);
    for round in 0..5 {
        let token = create(&blobs, "a").await;
        assert!(blobs.delete_ref(&key("a"), &token).await.unwrap());
        let swaps = (0..16).map(|racer| {
            let blobs = Arc::clone(&blobs);
            tokio::spawn(async move {
                blobs.swap(&key("a"), &Expected::Absent, format!("{racer}").into()).await
            })
        });
        let swaps = futures::future::join_all(swaps.collect::<Vec<_>>()).await;
        let won = |swap: Swap| if let Swap::Won(token) = swap { Some(token) } else { None };
        let winners: Vec<_> =
            swaps.into_iter().filter_map(|swap| won(swap.unwrap().unwrap())).collect();
        assert_eq!(winners.len(), 1, "round {round}");
        assert!(blobs.delete_ref(&key("a"), &winners[0]).await.unwrap());
    }
}

#[tokio::test]
async fn refs_that_were_removed_make_no_page_short() {
    let blobs = heedless(&SEAWEEDFS, "pages").await;
    for number in 0..12 {
        let name = format!("a/{number:02}");
        let token = create(&blobs, &name).await;
        if number != 3 && number != 11 {
            assert!(blobs.delete_ref(&key(&name), &token).await.unwrap());
        }
    }
    let page = blobs.list_refs("a/", None, 2).await.unwrap();
    let keys: Vec<_> = page.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["a/03", "a/11"]);
}

#[tokio::test]
async fn without_conditional_removal_an_object_stored_again_still_stays() {
    let blobs = heedless(&SEAWEEDFS, "objects").await;
    let key = ObjectKey { domain: Domain::random(), id: ObjectId([1; 32]) };
    let stored = || vec![(key, frame::seal(b"x"))];
    blobs.put_many(stored()).await.unwrap();
    let stale = blobs.list(None, None, 1).await.unwrap().remove(0).token;
    blobs.put_many(stored()).await.unwrap();
    assert_eq!(blobs.delete_exact(&[(key, stale)]).await.unwrap(), 0);
    let token = blobs.list(None, None, 1).await.unwrap().remove(0).token;
    assert_eq!(blobs.delete_exact(&[(key, token)]).await.unwrap(), 1);
    assert_eq!(blobs.get(&key).await.unwrap(), None);
}

#[tokio::test]
async fn who_writes_at_the_same_time_as_another_tries_again() {
    let conflict = answering(
        "HTTP/1.1 409 Conflict\r\nContent-Type: application/xml\r\nContent-Length: 45\r\n\r\n\
         <Error><Code>OperationAborted</Code></Error>\n",
    );
    let settings = "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\nAWS_ALLOW_HTTP=true\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = format!("{settings}AWS_ENDPOINT_URL=http://{conflict}\n");
    #[expect(clippy::disallowed_methods, reason = "the file is the test's own")]
    std::fs::write(file.path(), settings).unwrap();
    let settings = Settings::read(file.path().to_str().unwrap()).await.unwrap();
    let bucket = s3::connect("bucket", &settings).await.unwrap();
    let put = bucket.put("a", frame::seal(b"x")).await.map(drop);
    for err in [put.unwrap_err(), bucket.remove("a").await.unwrap_err()] {
        assert_eq!(err.kind(), crate::ErrorKind::Unavailable, "{err:?}");
        assert!(err.to_string().contains("several writers"), "{err}");
    }
}

#[tokio::test]
async fn a_file_with_credentials_needs_none_of_the_environment() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // Cargo gives every test variables of its own, which stand for those of an operator.
    #[expect(clippy::disallowed_methods, reason = "the file is the test's own")]
    std::fs::write(file.path(), "CARGO_SECRET=1\n").unwrap();
    let with = Settings::read(file.path().to_str().unwrap()).await.unwrap();
    let known = |settings: &Settings| {
        let is_credential = |key: &String| key != "cargo_manifest_dir";
        let known = configured::configured::<String>(settings, "CARGO_", is_credential);
        known.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(known(&with), ["cargo_manifest_dir", "cargo_secret"]);
    assert!(known(&Settings::default()).len() > 2);
}

/// The address of a server that says the same to everyone.
fn answering(answer: &'static str) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // It answers once it is asked, and hears the rest: else the answer would be cut off.
            stream.read_exact(&mut [0]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            std::io::copy(&mut stream, &mut std::io::sink()).ok();
        }
    });
    address
}

#[tokio::test]
async fn a_write_that_is_cut_off_behind_its_head_changes_nothing() {
    let blobs = heedless(&SEAWEEDFS, "cut").await;
    let token = create(&blobs, "a").await;
    let address = Address::of(&SEAWEEDFS.url_via(beheaded(SEAWEEDFS.address()), "any")).await;
    let (place, _) = address.as_ref().unwrap().place_and_prefix().unwrap();
    let bucket = s3::connect(&place, &address.unwrap().settings).await.unwrap();
    let cut = Blobs { bucket, names: Names::under("cut"), removing: Removing::Heedless };
    let swap = cut.swap(&key("a"), &Expected::Token(token.clone()), "y".into()).await;
    assert_eq!(swap.unwrap_err().kind(), crate::ErrorKind::Unavailable);
    let there = blobs.load(&key("a")).await.unwrap().unwrap();
    assert_eq!((&there.value[..], there.token), (&b"x"[..], token));
}

/// The address of a line to a server on which the first request is cut off behind its head.
fn beheaded(server: std::net::SocketAddr) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut client = std::io::BufReader::new(listener.accept().unwrap().0);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            client.read_until(b'\n', &mut head).unwrap();
        }
        assert!(head.starts_with(b"PUT "), "{head:?}");
        let mut server = std::net::TcpStream::connect(server).unwrap();
        server.write_all(&head).unwrap();
        server.shutdown(std::net::Shutdown::Write).unwrap();
        // The client is held on to until the server has said what it thinks of that.
        std::io::copy(&mut server, &mut std::io::sink()).unwrap();
    });
    address
}

#[tokio::test]
async fn a_server_that_is_away_is_unavailable_and_not_told_of() {
    let mut server = Server::start(Kind::SeaweedFs);
    let blobs = heedless(&server, "away").await;
    let token = create(&blobs, "a").await;
    server.kill();
    let patience = Duration::from_secs(20);
    let failures = tokio::time::timeout(patience, async {
        let loaded = blobs.load(&key("a")).await.unwrap_err();
        let removed = blobs.bucket.remove_if("away/r/a", &token).await.unwrap_err();
        let listed = blobs.list_refs("", None, 1).await.unwrap_err();
        [loaded, removed, listed]
    });
    for err in failures.await.unwrap() {
        assert_eq!(err.kind(), crate::ErrorKind::Unavailable, "{err:?}");
        assert!(!format!("{err:?}").contains("Signature"), "{err:?}");
    }
}
