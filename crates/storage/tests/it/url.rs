//! Which URLs open, and what is said of those that do not.

use sandkeep_storage::{self as storage, ErrorKind};

#[tokio::test]
async fn memory_opens_a_store_of_its_own_each_time() {
    let [one, two] = [storage::open("memory:").await, storage::open("memory:").await];
    let key = storage::RefKey::new("a").unwrap();
    one.unwrap().swap(&key, &storage::Expected::Absent, "x".into()).await.unwrap();
    assert_eq!(two.unwrap().load(&key).await.unwrap(), None);
}

#[tokio::test]
async fn a_directory_may_have_one_slash_or_three() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    drop(storage::open(&format!("file:{path}/a")).await.unwrap());
    drop(storage::open(&format!("file://{path}/a")).await.unwrap());
}

#[tokio::test]
async fn a_url_without_a_scheme_is_refused() {
    refused("", "has a scheme").await;
    refused("/var/lib/sandkeep", "has a scheme").await;
    refused("memory", "has a scheme").await;
}

#[tokio::test]
async fn an_unknown_scheme_is_refused() {
    refused("floppy://a", "memory:, file:DIR").await;
    refused("File:/tmp/x", "memory:, file:DIR").await;
    refused(":", "memory:, file:DIR").await;
}

#[tokio::test]
async fn memory_takes_nothing_else() {
    refused("memory:x", "nothing behind the colon").await;
}

#[tokio::test]
async fn a_directory_must_be_named() {
    refused("file:", "file:/var/lib/sandkeep").await;
    refused("file://", "file:///var/lib/sandkeep").await;
}

#[tokio::test]
async fn a_directory_must_be_absolute() {
    refused("file:store", "begins with a slash").await;
    refused("file:./store", "begins with a slash").await;
    refused("file://localhost/store", "a third slash").await;
}

async fn refused(url: &str, hint: &str) {
    let err = storage::open(url).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{url}: {err}");
    assert!(err.to_string().contains(hint), "{url}: {err}");
}
