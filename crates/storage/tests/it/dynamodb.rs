//! What only a store in DynamoDB goes through, on a server that speaks it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
    ScalarAttributeType,
};
use bytes::Bytes;
use futures::future::join_all;
use sandkeep_storage::{
    self as storage, Domain, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Storage, Swap, frame,
};
use servers::{Kind, Proxy, Server, Trouble};
use tokio::task::block_in_place;

#[tokio::test]
async fn a_missing_table_is_refused_with_advice() {
    let server = Server::start(Kind::Ministack);
    let url = server.url("missing").replace("create=true&", "");
    let err = storage::open(&url).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err}");
    assert!(err.to_string().contains("?create=true"), "{err}");
    let asked = server.url("missing");
    drop(storage::open(&asked).await.unwrap());
    drop(storage::open(&url).await.unwrap());
}

#[tokio::test]
async fn a_table_of_another_kind_is_refused() {
    let server = Server::start(Kind::Ministack);
    let raw = Raw::of(&server, "other");
    raw.make_with_a_text_key().await;
    let err = storage::open(&server.url("other")).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err}");
    assert!(err.to_string().contains("of another kind"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_servers_make_one_table_at_once() {
    let server = Server::start(Kind::Ministack);
    let url = server.url("raced");
    let opening = (0..8).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { storage::open(&url).await.unwrap() })
    });
    let all: Vec<_> = join_all(opening).await.into_iter().map(Result::unwrap).collect();
    let swaps =
        all.iter().map(|one| async { one.swap(&root(), &Expected::Absent, "x".into()).await });
    let swaps = join_all(swaps).await;
    let won = swaps.iter().filter(|swap| matches!(swap, Ok(Swap::Won(_)))).count();
    assert_eq!(won, 1);
}

#[tokio::test]
async fn two_stores_in_one_table_do_not_see_each_other() {
    let server = Server::start(Kind::Ministack);
    let url = server.url("shared");
    let at = |prefix: &str| url.replacen('?', &format!("/{prefix}?"), 1);
    let one = storage::open(&at("one")).await.unwrap();
    let two = storage::open(&at("two")).await.unwrap();
    one.commit(vec![sealed(1, 10), sealed(2, 50_000)], &root(), &Expected::Absent, "x".into())
        .await
        .unwrap();
    assert_eq!(two.load(&root()).await.unwrap(), None);
    assert_eq!(two.list(None, None, 10).await.unwrap(), []);
    assert_eq!(two.get_many(&[key(1), key(2)]).await.unwrap(), [None, None]);
    assert_eq!(one.list(None, None, 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_commit_is_two_requests() {
    let server = Server::start(Kind::Ministack);
    let proxy = Proxy::to(server.address());
    let storage = storage::open(&server.url_via(proxy.address(), "counted")).await.unwrap();
    let mut expected = commit(&storage, vec![sealed(0, 600)], Expected::Absent).await;
    proxy.reset_traffic();
    for round in 1..=10 {
        let pages = (0..6).map(|page| sealed(round * 10 + page, 600)).collect();
        expected = commit(&storage, pages, expected).await;
    }
    let traffic = proxy.traffic();
    assert_eq!(traffic.round_trips, 20, "{traffic:?}");
    assert!(traffic.sent < 10 * 12_000, "{traffic:?}");
    proxy.reset_traffic();
    for _ in 0..10 {
        expected = commit(&storage, Vec::new(), expected).await;
    }
    let traffic = proxy.traffic();
    assert_eq!(traffic.round_trips, 10, "{traffic:?}");
}

#[tokio::test]
async fn objects_around_every_limit_are_kept_whole() {
    let server = Server::start(Kind::Ministack);
    let storage = storage::open(&server.url("sizes")).await.unwrap();
    // Around an object of one item, an object of one part, and what an item may hold.
    let heads = [16 << 10, 384 << 10, 400_000, 400 << 10, 3 * (384 << 10)];
    let sizes = heads.into_iter().flat_map(|size| [size - 23, size - 22, size - 21]);
    let objects: Vec<_> = (0..).zip(sizes).map(|(number, size)| sealed(number, size)).collect();
    storage.put_many(objects.clone()).await.unwrap();
    for (key, stored) in &objects {
        assert_eq!(storage.get(key).await.unwrap().as_ref(), Some(stored), "{}", stored.len());
    }
    let keys: Vec<_> = objects.iter().map(|(key, _)| *key).collect();
    let found = storage.get_many(&keys).await.unwrap();
    assert!(found.iter().zip(&objects).all(|(found, (_, stored))| found.as_ref() == Some(stored)));
    let listed = storage.list(None, None, 100).await.unwrap();
    assert_eq!(listed.iter().map(|listed| listed.key).collect::<Vec<_>>(), keys);
    assert!(
        listed.iter().zip(&objects).all(|(listed, (_, stored))| listed.size == stored.len() as u64)
    );
}

#[tokio::test]
async fn an_object_of_16_mib_comes_and_goes_with_all_its_parts() {
    let server = Server::start(Kind::Ministack);
    let storage = storage::open(&server.url("largest")).await.unwrap();
    let raw = Raw::of(&server, "largest");
    let (key, stored) = sealed(1, frame::MAX_PLAIN);
    storage.put_many(vec![(key, stored.clone())]).await.unwrap();
    assert!(storage.get(&key).await.unwrap() == Some(stored), "not what was stored");
    assert!(raw.count(b'p').await > 40);
    let listed = storage.list(None, None, 10).await.unwrap();
    let gone = storage.delete_exact(&[(key, listed[0].token.clone())]).await.unwrap();
    assert_eq!(gone, 1);
    for kind in [b'o', b'p', b'w'] {
        assert_eq!(raw.count(kind).await, 0, "{}", char::from(kind));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_object_is_never_torn() {
    let server = Server::start(Kind::Ministack);
    let storage = storage::open(&server.url("torn")).await.unwrap();
    let content = [noise(900_000), noise(900_000)];
    storage.put_many(vec![(key(1), frame::seal(&content[0]))]).await.unwrap();
    let writing = tokio::spawn({
        let (storage, content) = (Arc::clone(&storage), content.clone());
        async move {
            for round in 0..15 {
                let listed = storage.list(None, None, 1).await.unwrap();
                storage.put_many(vec![(key(1), frame::seal(&content[round % 2]))]).await.unwrap();
                // It was stored again since, so that this removes nothing.
                storage.delete_exact(&[(key(1), listed[0].token.clone())]).await.unwrap();
            }
        }
    });
    while !writing.is_finished() {
        let stored = storage.get(&key(1)).await.unwrap().unwrap();
        let plain = frame::open(&stored).unwrap();
        assert!(content.iter().any(|whole| *whole == plain), "torn");
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn parts_that_were_left_behind_go_with_a_listing_a_day_later() {
    let server = Server::start(Kind::Ministack);
    let storage = storage::open(&server.url("swept")).await.unwrap();
    let raw = Raw::of(&server, "swept");
    let kept = sealed(1, 500_000);
    storage.put_many(vec![sealed(1, 500_000)]).await.unwrap();
    storage.put_many(vec![kept.clone(), sealed(2, 50_000)]).await.unwrap();
    let domain = Some(key(1).domain);
    assert_eq!(storage.list(domain, None, 10).await.unwrap().len(), 2);
    assert_eq!((raw.count(b'w').await, raw.count(b'p').await), (3, 5), "too early");
    raw.age(b'w').await;
    // Page by page, each of which sweeps its own range.
    for (number, after) in [(1, None), (2, Some(key(1)))] {
        let page = storage.list(domain, after, 1).await.unwrap();
        assert_eq!(page[0].key, key(number));
    }
    assert_eq!((raw.count(b'w').await, raw.count(b'p').await), (2, 3));
    assert_eq!(storage.get(&key(1)).await.unwrap(), Some(kept.1));
    assert!(storage.get(&key(2)).await.unwrap().is_some());
}

#[tokio::test]
async fn what_many_writes_left_behind_goes_in_few_requests() {
    let server = Server::start(Kind::Ministack);
    let proxy = Proxy::to(server.address());
    let storage = storage::open(&server.url_via(proxy.address(), "crowded")).await.unwrap();
    let raw = Raw::of(&server, "crowded");
    for _ in 0..41 {
        storage.put_many(vec![sealed(1, 20_000)]).await.unwrap();
    }
    assert_eq!((raw.count(b'w').await, raw.count(b'p').await), (41, 41));
    raw.age(b'w').await;
    proxy.reset_traffic();
    assert_eq!(storage.list(Some(key(1).domain), None, 10).await.unwrap().len(), 1);
    let traffic = proxy.traffic();
    assert!(traffic.round_trips < 20, "{traffic:?}");
    assert_eq!((raw.count(b'w').await, raw.count(b'p').await), (1, 1));
}

#[tokio::test]
async fn no_part_is_left_behind_that_nothing_leads_to() {
    let server = Server::start(Kind::Ministack);
    let proxy = Proxy::to(server.address());
    let url = format!("{}&patience=2", server.url_via(proxy.address(), "cut"));
    let storage = storage::open(&url).await.unwrap();
    let raw = Raw::of(&server, "cut");
    proxy.set(Trouble { cut: 0.5, ..Trouble::default() });
    for number in 0..4 {
        // Its parts are two requests: a large one that never arrives, and a small one that may.
        let err = storage.put_many(vec![sealed(number, 2_100_000)]).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unavailable);
    }
    let of_part = |part: Item| bytes(&part, "pk")[3..].to_vec();
    let of_note = |note: Item| bytes(&note, "sk")[32..].to_vec();
    let noted: HashSet<_> = raw.items(b'w').await.into_iter().map(of_note).collect();
    let stored: HashSet<_> = raw.items(b'p').await.into_iter().map(of_part).collect();
    assert!(stored.is_subset(&noted), "{} were noted, {} are there", noted.len(), stored.len());
    assert!(!noted.is_empty(), "nothing arrived");
}

#[tokio::test]
async fn a_domain_without_objects_is_forgotten_a_day_later() {
    let server = Server::start(Kind::Ministack);
    let url = server.url("forgotten");
    let [storage, other] = [storage::open(&url).await.unwrap(), storage::open(&url).await.unwrap()];
    let raw = Raw::of(&server, "forgotten");
    // The probes had domains of their own.
    raw.remove(b'd').await;
    storage.put_many(vec![sealed(1, 10)]).await.unwrap();
    raw.age(b'd').await;
    assert_eq!(other.list(None, None, 10).await.unwrap().len(), 1);
    assert_eq!(raw.count(b'd').await, 1, "it holds something");
    let listed = storage.list(None, None, 10).await.unwrap();
    storage.delete_exact(&[(key(1), listed[0].token.clone())]).await.unwrap();
    assert_eq!(storage.list(None, None, 10).await.unwrap(), []);
    assert_eq!(raw.count(b'd').await, 0);
    other.put_many(vec![sealed(2, 10)]).await.unwrap();
    assert_eq!(storage.list(None, None, 10).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_comes_back_is_used_again() {
    let mut server = Server::start(Kind::Ministack);
    let storage = storage::open(&server.url("restarted")).await.unwrap();
    let expected = commit(&storage, vec![sealed(1, 10)], Expected::Absent).await;
    let committing = tokio::spawn({
        let storage = Arc::clone(&storage);
        async move {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            commit(&storage, vec![sealed(2, 10)], expected).await
        }
    });
    block_in_place(|| server.restart_politely());
    let expected = committing.await.unwrap();
    commit(&storage, Vec::new(), expected).await;
    assert!(storage.get_many(&[key(1), key(2)]).await.unwrap().iter().all(Option::is_some));
}

#[tokio::test]
async fn half_of_the_credentials_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("credentials");
    std::fs::write(&file, "AWS_ACCESS_KEY_ID=a\nAWS_REGION=us-east-1\n").unwrap();
    let url = format!("dynamodb://table?credentials-file={}", file.display());
    let err = storage::open(&url).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err}");
    assert!(err.to_string().contains("belong together"), "{err}");
}

async fn commit(
    storage: &Arc<dyn Storage>,
    objects: Vec<(ObjectKey, Bytes)>,
    expected: Expected,
) -> Expected {
    let swap = storage.commit(objects, &root(), &expected, Bytes::from(noise(200))).await.unwrap();
    let Swap::Won(token) = swap else { unreachable!("nobody else commits") };
    Expected::Token(token)
}

fn root() -> RefKey {
    RefKey::new("sandboxes/demo/root").unwrap()
}

fn key(number: u8) -> ObjectKey {
    let mut id = [7; 32];
    id[0] = number;
    ObjectKey { domain: Domain([1; 16]), id: ObjectId(id) }
}

/// An object of so many bytes that do not compress.
fn sealed(number: u8, len: usize) -> (ObjectKey, Bytes) {
    (key(number), frame::seal(&noise(len)))
}

fn noise(len: usize) -> Vec<u8> {
    use rand::Rng as _;
    let mut bytes = vec![0; len];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

type Item = HashMap<String, AttributeValue>;

fn bytes<'a>(item: &'a Item, name: &str) -> &'a [u8] {
    item.get(name).unwrap().as_b().unwrap().as_ref()
}

/// The table as the service sees it.
struct Raw {
    client: Client,
    table: String,
}

impl Raw {
    fn of(server: &Server, namespace: &str) -> Self {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .endpoint_url(format!("http://{}", server.address()))
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
            .build();
        let url = server.url(namespace);
        let table = url.strip_prefix("dynamodb://").and_then(|rest| rest.split('?').next());
        Self { client: Client::from_conf(config), table: table.unwrap().to_owned() }
    }

    /// The items of one kind, in a store without a prefix.
    async fn items(&self, kind: u8) -> Vec<Item> {
        let scan = self.client.scan().table_name(&self.table).consistent_read(true);
        let mut pages = scan.into_paginator().items().send();
        let mut items = Vec::new();
        while let Some(item) = pages.next().await {
            let item = item.unwrap();
            if bytes(&item, "pk").get(2) == Some(&kind) {
                items.push(item);
            }
        }
        items
    }

    async fn count(&self, kind: u8) -> usize {
        self.items(kind).await.len()
    }

    /// Makes items of a kind two days older.
    async fn age(&self, kind: u8) {
        for mut item in self.items(kind).await {
            let since: u64 = item.get("s").unwrap().as_n().unwrap().parse().unwrap();
            let since = since - 2 * 24 * 3600 * 1000;
            item.insert("s".to_owned(), AttributeValue::N(since.to_string()));
            let put = self.client.put_item().table_name(&self.table).set_item(Some(item));
            put.send().await.unwrap();
        }
    }

    async fn remove(&self, kind: u8) {
        for mut item in self.items(kind).await {
            item.retain(|name, _| name == "pk" || name == "sk");
            let delete = self.client.delete_item().table_name(&self.table).set_key(Some(item));
            delete.send().await.unwrap();
        }
    }

    async fn make_with_a_text_key(&self) {
        let attribute = AttributeDefinition::builder().attribute_name("pk");
        let attribute = attribute.attribute_type(ScalarAttributeType::S).build().unwrap();
        let key = KeySchemaElement::builder().attribute_name("pk").key_type(KeyType::Hash);
        let make = self.client.create_table().table_name(&self.table);
        let make = make.attribute_definitions(attribute).key_schema(key.build().unwrap());
        make.billing_mode(BillingMode::PayPerRequest).send().await.unwrap();
    }
}
