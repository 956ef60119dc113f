//! A store brought to another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use sandkeep_storage::{
    self as storage, Amount, Copied, Domain, ErrorKind, Expected, MemoryStorage, ObjectId,
    ObjectKey, Progress, RefKey, Result, Storage, Swap, frame, is_unfinished_copy,
};

use crate::directory::url;
use crate::watched::{UnderWay, Watched};

async fn copy(from: &Arc<dyn Storage>, to: &Arc<dyn Storage>) -> Result<Copied> {
    storage::copy(from, to, |_| ()).await
}

fn memory() -> Arc<dyn Storage> {
    Arc::new(MemoryStorage::default())
}

fn key(domain: u8, number: u32) -> ObjectKey {
    let mut id = [0; 32];
    // Spread as hashes are.
    id[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b1).to_be_bytes());
    ObjectKey { domain: Domain([domain; 16]), id: ObjectId(id) }
}

fn named(name: &str) -> RefKey {
    RefKey::new(name).unwrap()
}

async fn put(storage: &dyn Storage, domain: u8, numbers: impl IntoIterator<Item = u32>) {
    let sealed = |number: u32| (key(domain, number), frame::seal(&number.to_le_bytes()));
    storage.put_many(numbers.into_iter().map(sealed).collect()).await.unwrap();
}

/// Sets a ref, whatever it was.
async fn set(storage: &dyn Storage, name: &str, value: &str) {
    let current = storage.load(&named(name)).await.unwrap();
    let expected = current.map_or(Expected::Absent, |current| Expected::Token(current.token));
    let swap = storage.swap(&named(name), &expected, value.to_owned().into()).await.unwrap();
    assert!(matches!(swap, Swap::Won(_)));
}

async fn refs(storage: &dyn Storage) -> Vec<(String, String)> {
    let all = storage.list_refs("", None, usize::MAX).await.unwrap();
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    all.into_iter().map(|(key, it)| (key.to_string(), text(&it.value))).collect()
}

/// Both hold the same objects, to the byte, and the same refs.
async fn same(one: &dyn Storage, other: &dyn Storage) {
    let [ours, theirs] = [one, other].map(|it| it.list(None, None, usize::MAX));
    let (ours, theirs) = (ours.await.unwrap(), theirs.await.unwrap());
    let [ours, theirs] = [ours, theirs].map(|all| all.iter().map(|it| it.key).collect::<Vec<_>>());
    assert_eq!(ours, theirs);
    assert!(one.get_many(&ours).await.unwrap() == other.get_many(&ours).await.unwrap());
    assert_eq!(refs(one).await, refs(other).await);
}

/// A store with objects in three domains and some refs.
async fn filled() -> Arc<dyn Storage> {
    let storage = memory();
    for domain in 1..=3 {
        put(&*storage, domain, 0..500).await;
        set(&*storage, &format!("sandboxes/s{domain}/root"), &format!("value {domain}")).await;
    }
    storage
}

#[tokio::test]
async fn everything_arrives_from_memory_in_a_directory_and_back() {
    let home = tempfile::tempdir().unwrap();
    let (from, back) = (filled().await, memory());
    let file = storage::open(&url(&home.path().join("store"))).await.unwrap();
    let copied = copy(&from, &file).await.unwrap();
    assert_eq!((copied.sent.objects, copied.present.objects, copied.refs), (1500, 0, 3));
    assert_eq!((copied.resumed, copied.vanished), (false, 0));
    same(&*from, &*file).await;
    copy(&file, &back).await.unwrap();
    same(&*from, &*back).await;
}

#[tokio::test]
async fn an_empty_store_is_copied() {
    let (from, to) = (memory(), memory());
    assert_eq!(copy(&from, &to).await.unwrap(), Copied::default());
    same(&*from, &*to).await;
}

#[tokio::test]
async fn what_a_probe_left_is_not_copied_and_is_not_in_the_way() {
    let (from, to) = (filled().await, memory());
    set(&*from, "probe/dead/counted", "7").await;
    set(&*to, "probe/other/counted", "8").await;
    assert_eq!(copy(&from, &to).await.unwrap().refs, 3);
    assert!(to.load(&named("probe/dead/counted")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_copy_that_broke_off_sends_only_what_is_missing_the_second_time() {
    let (from, to) = (filled().await, Watched::new());
    to.objects_left.store(700, Ordering::Relaxed);
    assert_eq!(copy(&from, &to.storage()).await.unwrap_err().kind(), ErrorKind::Unavailable);
    let before = to.puts();
    assert!((300..=700).contains(&before), "{before}");
    assert!(is_unfinished_copy(&*to).await.unwrap());
    assert_eq!(refs(&*to).await.len(), 1, "no ref leads to what is not there");
    to.objects_left.store(u64::MAX, Ordering::Relaxed);
    let copied = copy(&from, &to.storage()).await.unwrap();
    assert!(copied.resumed);
    assert_eq!((copied.sent.objects, copied.present.objects), (1500 - before, before));
    // One more notes which refs are written.
    assert_eq!(to.puts(), 1500 - before + 1);
    assert!(!is_unfinished_copy(&*to).await.unwrap());
    same(&*from, &*to).await;
}

#[tokio::test]
async fn a_copy_that_broke_off_among_its_refs_has_those_of_the_second_time() {
    let (from, to) = (filled().await, Watched::new());
    // The mark twice, and two of three.
    to.refs_left.store(4, Ordering::Relaxed);
    copy(&from, &to.storage()).await.unwrap_err();
    assert!(is_unfinished_copy(&*to).await.unwrap());
    let written = to.storage().list_refs("sandboxes/", None, 10).await.unwrap();
    let [(gone, _), (changed, _)] = &written[..] else { panic!("{written:?}") };
    to.refs_left.store(u64::MAX, Ordering::Relaxed);
    set(&*from, changed.as_str(), "changed").await;
    let current = from.load(gone).await.unwrap().unwrap();
    from.delete_ref(gone, &current.token).await.unwrap();
    assert_eq!(copy(&from, &to.storage()).await.unwrap().sent, Amount::default());
    same(&*from, &*to).await;
}

#[tokio::test]
async fn a_store_that_holds_something_is_refused_and_left_alone() {
    let (from, to) = (filled().await, memory());
    set(&*to, "sandboxes/mine/root", "mine").await;
    let err = copy(&from, &to).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("holds something already"), "{err}");
    assert_eq!(refs(&*to).await, [("sandboxes/mine/root".to_owned(), "mine".to_owned())]);
    assert_eq!(to.list(None, None, 1).await.unwrap(), []);
}

/// A store in which somebody makes a sandbox as soon as the copy asks for objects.
fn used_meanwhile(inner: &Arc<dyn Storage>, to: &Arc<dyn Storage>) -> Arc<Watched> {
    let (from, to) = (Watched::over(Arc::clone(inner), Arc::default()), Arc::clone(to));
    from.meanwhile(move |_| {
        let to = Arc::clone(&to);
        async move {
            if to.load(&named("sandboxes/mine/root")).await.unwrap().is_none() {
                set(&*to, "sandboxes/mine/root", "mine").await;
            }
        }
    });
    from
}

#[tokio::test]
async fn what_somebody_makes_in_the_target_meanwhile_stays_and_ends_the_copy() {
    let (inner, to) = (filled().await, memory());
    let from = used_meanwhile(&inner, &to);
    let err = copy(&from.storage(), &to).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InUse);
    assert!(err.to_string().contains("`sandboxes/mine/root`"), "{err}");
    assert!(err.to_string().contains("copy to an empty store"), "{err}");
    // It is a store of theirs alone, and can be opened as such.
    assert_eq!(refs(&*to).await, [("sandboxes/mine/root".to_owned(), "mine".to_owned())]);
}

#[tokio::test]
async fn what_somebody_makes_under_a_name_of_the_source_is_not_overwritten() {
    let (inner, to) = (filled().await, memory());
    set(&*inner, "sandboxes/mine/root", "theirs").await;
    let from = used_meanwhile(&inner, &to);
    assert_eq!(copy(&from.storage(), &to).await.unwrap_err().kind(), ErrorKind::InUse);
    assert_eq!(refs(&*to).await, [("sandboxes/mine/root".to_owned(), "mine".to_owned())]);
}

#[tokio::test]
async fn a_copy_that_goes_on_removes_and_overwrites_only_what_copies_wrote() {
    for stranger in ["sandboxes/mine/root", "sandboxes/s1/root"] {
        let (from, to) = (filled().await, Watched::new());
        to.refs_left.store(4, Ordering::Relaxed);
        copy(&from, &to.storage()).await.unwrap_err();
        to.refs_left.store(u64::MAX, Ordering::Relaxed);
        set(&*to, stranger, "mine").await;
        let before = refs(&*to).await.len();
        let err = copy(&from, &to.storage()).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InUse);
        assert!(err.to_string().contains(stranger), "{err}");
        assert!(is_unfinished_copy(&*to).await.unwrap(), "it has a part of what is copied");
        let after = refs(&*to).await;
        assert_eq!(after.len(), before);
        assert!(after.contains(&(stranger.to_owned(), "mine".to_owned())), "{after:?}");
    }
}

#[tokio::test]
async fn a_finished_copy_is_not_overwritten() {
    let (from, to) = (filled().await, memory());
    copy(&from, &to).await.unwrap();
    assert_eq!(copy(&from, &to).await.unwrap_err().kind(), ErrorKind::InvalidUrl);
}

#[tokio::test]
async fn a_store_is_not_copied_to_itself_even_under_another_name() {
    let one = memory();
    let other_name = Watched::over(Arc::clone(&one), Arc::default());
    for to in [Arc::clone(&one), other_name.storage()] {
        let err = copy(&one, &to).await.unwrap_err();
        assert!(err.to_string().contains("to itself"), "{err}");
        assert_eq!(refs(&*one).await, []);
    }
}

#[tokio::test]
async fn a_copy_that_did_not_finish_is_not_copied() {
    let (from, to) = (filled().await, Watched::new());
    to.objects_left.store(0, Ordering::Relaxed);
    copy(&from, &to.storage()).await.unwrap_err();
    let err = copy(&to.storage(), &memory()).await.unwrap_err();
    assert!(err.to_string().contains("did not finish"), "{err}");
}

#[tokio::test]
async fn of_two_who_copy_into_one_store_the_first_gives_way() {
    let (inner, to) = (filled().await, memory());
    let from = Watched::over(Arc::clone(&inner), Arc::default());
    let (second, to_too) = (Arc::new(AtomicU64::new(0)), Arc::clone(&to));
    from.meanwhile(move |inner| {
        let (second, to) = (Arc::clone(&second), Arc::clone(&to_too));
        async move {
            if second.fetch_add(1, Ordering::Relaxed) == 0 {
                copy(&inner, &to).await.unwrap();
                set(&*to, "sandboxes/s1/root", "used since").await;
            }
        }
    });
    let err = copy(&from.storage(), &to).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InUse);
    assert!(refs(&*to).await.iter().any(|(_, value)| value == "used since"));
}

/// The ref of domain 9 says how many objects it leads to; they must be there.
async fn whole(storage: &dyn Storage) -> u32 {
    let root = storage.load(&named("sandboxes/busy/root")).await.unwrap().unwrap();
    let count: u32 = str::from_utf8(&root.value).unwrap().parse().unwrap();
    let keys: Vec<_> = (count - 10..count).map(|number| key(9, number)).collect();
    let found = storage.get_many(&keys).await.unwrap();
    assert!(found.iter().all(Option::is_some), "the root says {count}");
    count
}

/// Replaces all ten objects of the busy sandbox.
async fn change(storage: &dyn Storage) -> u32 {
    let current = storage.load(&named("sandboxes/busy/root")).await.unwrap();
    let count: u32 = current.map_or(0, |it| str::from_utf8(&it.value).unwrap().parse().unwrap());
    put(storage, 9, count..count + 10).await;
    set(storage, "sandboxes/busy/root", &(count + 10).to_string()).await;
    count
}

#[tokio::test]
async fn a_source_that_changes_once_meanwhile_is_copied_as_it_is_then() {
    let inner = filled().await;
    change(&*inner).await;
    let (from, to) = (Watched::over(Arc::clone(&inner), Arc::default()), memory());
    let times = Arc::new(AtomicU64::new(0));
    from.meanwhile(move |inner| {
        let times = Arc::clone(&times);
        async move {
            if times.fetch_add(1, Ordering::Relaxed) == 0 {
                let old = change(&*inner).await;
                // What nothing leads to any more goes, as a collector without grace takes it.
                let listed = inner.list(Some(Domain([9; 16])), None, usize::MAX).await.unwrap();
                let old: Vec<_> = (old - 10..old).map(|number| key(9, number)).collect();
                let old = listed.into_iter().filter(|it| old.contains(&it.key));
                let old: Vec<_> = old.map(|it| (it.key, it.token)).collect();
                assert_eq!(inner.delete_exact(&old).await.unwrap(), 10);
            }
        }
    });
    let copied = copy(&from.storage(), &to).await.unwrap();
    assert_eq!(whole(&*to).await, 20);
    assert_eq!(copied.vanished, 0, "nothing of the second round did");
    assert_eq!(refs(&*inner).await, refs(&*to).await);
}

#[tokio::test]
async fn a_source_that_changes_all_the_time_gives_a_copy_that_is_whole() {
    let inner = filled().await;
    change(&*inner).await;
    let (from, to) = (Watched::over(inner, Arc::default()), memory());
    from.meanwhile(|inner| async move {
        change(&*inner).await;
    });
    copy(&from.storage(), &to).await.unwrap();
    from.quiet();
    let (then, now) = (whole(&*to).await, whole(&*from).await);
    assert!(then > 10 && then <= now, "{then} of {now}");
}

#[tokio::test]
async fn what_is_deleted_after_it_was_listed_is_told() {
    let inner = filled().await;
    put(&*inner, 7, [0]).await;
    let (from, to) = (Watched::over(Arc::clone(&inner), Arc::default()), memory());
    from.meanwhile(|inner| async move {
        let listed = inner.list(Some(Domain([7; 16])), None, 1).await.unwrap();
        let listed: Vec<_> = listed.into_iter().map(|it| (it.key, it.token)).collect();
        inner.delete_exact(&listed).await.unwrap();
    });
    let copied = copy(&from.storage(), &to).await.unwrap();
    assert_eq!((copied.vanished, copied.sent.objects), (1, 1500));
    same(&*inner, &*to).await;
}

#[tokio::test]
async fn long_listings_are_walked_in_pages() {
    let (from, to) = (Watched::new(), Watched::new());
    for domain in 1..=2 {
        put(&*from, domain, 0..12_000).await;
    }
    for number in 0..2500 {
        set(&*from, &format!("sandboxes/s{number}/root"), "value").await;
    }
    // A third is there, and with it what the source does not have.
    put(&*to, 1, 0..8000).await;
    put(&*to, 2, 50_000..53_000).await;
    let (before, _) = (to.puts(), from.puts());
    let copied = copy(&from.storage(), &to.storage()).await.unwrap();
    assert_eq!(before, 11_000);
    assert_eq!((copied.present.objects, copied.sent.objects, to.puts()), (8000, 16_000, 16_001));
    assert_eq!(copied.refs, 2500);
    for storage in [from, to] {
        assert!(storage.longest_page.load(Ordering::Relaxed) <= 1000);
    }
}

#[tokio::test]
async fn of_large_objects_few_are_under_way_at_a_time() {
    let (from, to, under_way) = (memory(), memory(), Arc::new(UnderWay::default()));
    let largest = frame::seal(&noise(frame::MAX_PLAIN));
    for number in 0..24 {
        from.put_many(vec![(key(1, number), largest.clone())]).await.unwrap();
    }
    let [from, to] = [from, to].map(|it| Watched::over(it, Arc::clone(&under_way)));
    let copied = copy(&from.storage(), &to.storage()).await.unwrap();
    assert_eq!(copied.sent, Amount { objects: 24, bytes: 24 * largest.len() as u64 });
    let most = under_way.most.load(Ordering::Relaxed);
    assert!((17 << 20..=64 << 20).contains(&most), "{most} bytes were under way");
}

#[tokio::test]
async fn progress_begins_with_a_count_and_ends_with_everything() {
    let (from, to, told) = (filled().await, memory(), Mutex::new(Vec::new()));
    let copied = storage::copy(&from, &to, |it| told.lock().unwrap().push(it)).await.unwrap();
    let told = told.into_inner().unwrap();
    assert!(matches!(told.first(), Some(Progress::Counting(_))), "{told:?}");
    assert_eq!(told.last(), Some(&Progress::Sending { sent: copied.sent, of: copied.sent }));
}

/// Bytes that no compression makes smaller.
fn noise(len: usize) -> Vec<u8> {
    use rand::Rng as _;
    let mut bytes = vec![0; len];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}
