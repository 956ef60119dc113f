//! What only a store in a bucket goes through, on real servers.

use std::error::Error as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use sandkeep_storage::{
    self as storage, Domain, Error, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Storage,
    Swap, frame,
};
use servers::{Kind, Proxy, Server, Trouble};
use tokio::task::block_in_place;

/// One for all tests, each of which has a prefix of its own.
static SEAWEEDFS: LazyLock<Server> = LazyLock::new(|| Server::start(Kind::SeaweedFs));
static AZURITE: LazyLock<Server> = LazyLock::new(|| Server::start(Kind::Azurite));

const DOMAIN: Domain = Domain([7; 16]);

#[tokio::test]
async fn a_server_that_ignores_conditions_is_refused() {
    let server = Server::start(Kind::S3rver);
    let err = refused(&server.url("unsafe")).await;
    assert_eq!(err.kind(), ErrorKind::Unsafe);
    assert!(err.to_string().contains("create-if-absent"), "{err}");
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_named_as_the_fault() {
    for url in [SEAWEEDFS.url("x"), AZURITE.url("x")] {
        let err = refused(&url.replace("://sandkeep/", "://no-such-bucket/")).await;
        assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err:?}");
        assert!(err.to_string().contains("no such bucket"), "{err}");
    }
}

#[tokio::test]
async fn wrong_keys_are_refused_at_once_and_not_told() {
    let wrong = [
        (SEAWEEDFS.url("x"), "AWS_SECRET_ACCESS_KEY=hunter2"),
        (SEAWEEDFS.url("x"), "AWS_ACCESS_KEY_ID=hunter2"),
        (AZURITE.url("x"), "AZURE_STORAGE_ACCOUNT_KEY=aHVudGVyMg=="),
    ];
    for (url, setting) in wrong {
        let err = refused(&url_with(&url, setting).url).await;
        assert_eq!(err.kind(), ErrorKind::Io, "{setting}: {err:?}");
        assert!(err.to_string().contains("refuses the credentials"), "{setting}: {err}");
        let told = format!("{err:?} {:?}", err.source());
        assert!(!told.contains("hunter2") && !told.contains("aHVudGVyMg"), "{told}");
    }
}

#[tokio::test]
async fn what_settings_lack_is_said() {
    let none = |setting: &str| setting.to_owned();
    let url = SEAWEEDFS.url("x");
    for (setting, words) in [
        (none("AWS_SECRET_ACCESS_KEY="), "AWS_SECRET_ACCESS_KEY"),
        (none("AWS_ALLOW_HTTP=false"), "AWS_ALLOW_HTTP=true"),
        (none("AWS_ENDPOINT_URL=seaweed:8333"), "https://"),
    ] {
        let err = refused(&url_with(&url, &setting).url).await;
        assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{setting}: {err:?}");
        assert!(err.to_string().contains(words), "{setting}: {err}");
    }
    let err = refused(&url_with(&AZURITE.url("x"), "AZURE_STORAGE_ACCOUNT_NAME=").url).await;
    assert!(err.to_string().contains("AZURE_STORAGE_ACCOUNT_NAME"), "{err}");
}

#[tokio::test]
async fn what_is_no_address_of_a_bucket_is_refused() {
    let long = format!("s3://bucket/{}", "x".repeat(401));
    for url in ["s3://bucket?retries=3", "s3://bucket/a%20b", "az://container/ä", &long] {
        assert_eq!(refused(url).await.kind(), ErrorKind::InvalidUrl, "{url}");
    }
    let err = refused("s3://bucket--use1-az4--x-s3").await;
    assert!(err.to_string().contains("in order"), "{err}");
}

#[tokio::test]
async fn a_commit_is_a_request_for_each_object_and_one_for_its_ref() {
    let proxy = Proxy::to(SEAWEEDFS.address());
    let storage = storage::open(&SEAWEEDFS.url_via(proxy.address(), "counted")).await.unwrap();
    assert!(!storage.capabilities().one_step_commit && storage.capabilities().exact_delete);
    let mut expected = commit(&storage, 0, 1, Expected::Absent).await;
    for (number, objects) in [(1, 1), (2, 6), (3, 0)] {
        proxy.reset_traffic();
        expected = commit(&storage, number, objects, expected).await;
        let traffic = proxy.traffic();
        assert_eq!(traffic.round_trips, u64::from(objects) + 1, "{traffic:?}");
        assert!(traffic.sent < 1500 * (u64::from(objects) + 1), "{traffic:?}");
    }
}

#[tokio::test]
async fn a_page_of_objects_is_one_request() {
    let proxy = Proxy::to(SEAWEEDFS.address());
    let storage = storage::open(&SEAWEEDFS.url_via(proxy.address(), "paged")).await.unwrap();
    commit(&storage, 0, 50, Expected::Absent).await;
    proxy.reset_traffic();
    let page = storage.list(Some(DOMAIN), Some(object(0, 20)), 10).await.unwrap();
    assert_eq!((page.len(), page[0].key), (10, object(0, 21)));
    let traffic = proxy.traffic();
    assert_eq!(traffic.round_trips, 1, "{traffic:?}");
    assert!(traffic.received < 10_000, "{traffic:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_get_lost_lose_no_commit() {
    let proxy = Proxy::to(SEAWEEDFS.address());
    let storage = storage::open(&SEAWEEDFS.url_via(proxy.address(), "cut")).await.unwrap();
    let mut expected = commit(&storage, 0, 1, Expected::Absent).await;
    proxy.set(Trouble { cut: 0.1, refuse: 0.1, ..Trouble::default() });
    for number in 1..40 {
        expected = commit(&storage, number, 2, expected).await;
    }
    proxy.set(Trouble::default());
    assert_eq!(last(&storage).await, 39);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_outlives_a_server_that_is_killed() {
    let mut server = Server::start(Kind::SeaweedFs);
    let storage = storage::open(&server.url("killed")).await.unwrap();
    let acknowledged = Arc::new(AtomicU32::new(0));
    let committing = tokio::spawn({
        let (storage, acknowledged) = (Arc::clone(&storage), Arc::clone(&acknowledged));
        async move {
            let mut expected = commit(&storage, 0, 2, Expected::Absent).await;
            for number in 1.. {
                expected = commit(&storage, number, 2, expected).await;
                acknowledged.store(number, Ordering::Release);
            }
        }
    });
    for _ in 0..3 {
        let before = acknowledged.load(Ordering::Acquire);
        while acknowledged.load(Ordering::Acquire) < before + 15 {
            assert!(!committing.is_finished(), "a commit failed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        block_in_place(|| server.kill());
        // One may be under way, but none is acknowledged by a server that is dead.
        let told = acknowledged.load(Ordering::Acquire);
        block_in_place(|| server.restart());
        let there = last(&storage).await;
        assert!(there >= told, "{told} was acknowledged, {there} is there");
    }
    committing.abort();
    for number in 0..=acknowledged.load(Ordering::Acquire) {
        for part in 0..2 {
            let found = storage.get(&object(number, part)).await.unwrap();
            assert!(found.is_some(), "{number} lacks {part}");
        }
    }
}

fn root() -> RefKey {
    RefKey::new("s/demo/root").unwrap()
}

fn object(number: u32, part: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    id[4..8].copy_from_slice(&part.to_be_bytes());
    ObjectKey { domain: DOMAIN, id: ObjectId(id) }
}

/// Commits a number with so many objects, and says what the next may expect.
async fn commit(
    storage: &Arc<dyn Storage>,
    number: u32,
    objects: u32,
    expected: Expected,
) -> Expected {
    let objects = (0..objects).map(|part| (object(number, part), frame::seal(b"content")));
    let value = number.to_string().into();
    let swap = storage.commit(objects.collect(), &root(), &expected, value).await.unwrap();
    let token = if let Swap::Won(token) = swap { Ok(token) } else { Err(format!("{swap:?}")) };
    Expected::Token(token.unwrap())
}

/// The number of the last commit.
async fn last(storage: &Arc<dyn Storage>) -> u32 {
    let current = storage.load(&root()).await.unwrap().unwrap();
    str::from_utf8(&current.value).unwrap().parse().unwrap()
}

/// The failure of a URL that must not be opened, which comes soon.
async fn refused(url: &str) -> Error {
    let begin = Instant::now();
    let err = storage::open(url).await.unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    err
}

/// A URL whose credentials file says something else.
struct Altered {
    url: String,
    _file: tempfile::NamedTempFile,
}

fn url_with(url: &str, setting: &str) -> Altered {
    let (place, path) = url.split_once("credentials-file=").unwrap();
    let name = setting.split_once('=').unwrap().0;
    let mut text: String = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with(&format!("{name}=")))
        .map(|line| format!("{line}\n"))
        .collect();
    text.push_str(setting);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let url = format!("{place}credentials-file={}", file.path().to_str().unwrap());
    Altered { url, _file: file }
}
