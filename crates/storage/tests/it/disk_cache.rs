//! Objects on a disk of this machine, in front of a storage.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use sandkeep_storage::{
    DiskCache, Domain, ErrorKind, Expected, MemoryStorage, ObjectId, ObjectKey, RefKey, Storage,
    frame,
};
use tempfile::TempDir;

use crate::disk::Disk;
use crate::watched::Watched;

const MIB: u64 = 1 << 20;

/// A storage that is watched, behind a cache.
struct Site {
    home: TempDir,
    storage: Arc<Watched>,
}

impl Site {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), storage: Watched::new() }
    }

    fn dir(&self) -> PathBuf {
        self.home.path().join("cache")
    }

    async fn open(&self) -> Arc<dyn Storage> {
        self.open_at(&self.dir(), 64 * MIB).await
    }

    async fn open_at(&self, dir: &Path, limit: u64) -> Arc<dyn Storage> {
        DiskCache::over(self.storage.storage(), dir, limit).await.unwrap()
    }

    /// Puts so many objects through a cache.
    async fn fill(&self, cache: &dyn Storage, count: u32) {
        cache
            .put_many((0..count).map(|number| (key(number), sealed(number))).collect())
            .await
            .unwrap();
    }
}

fn key(number: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ObjectKey { domain: Domain([3; 16]), id: ObjectId(id) }
}

fn sealed(number: u32) -> Bytes {
    frame::seal(&number.to_le_bytes().repeat(20))
}

async fn content(storage: &dyn Storage, number: u32) -> Bytes {
    frame::open(&storage.get(&key(number)).await.unwrap().unwrap()).unwrap()
}

async fn all_right(storage: &dyn Storage, numbers: impl IntoIterator<Item = u32>) {
    for number in numbers {
        assert!(content(storage, number).await == number.to_le_bytes().repeat(20), "{number}");
    }
}

/// How many bytes the files of a directory have.
fn size(dir: &Path) -> u64 {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

fn files(dir: &Path, kind: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|it| it == kind)).collect()
}

#[tokio::test]
async fn what_was_written_is_read_without_the_storage() {
    let site = Site::new();
    let cache = site.open().await;
    site.fill(&*cache, 100).await;
    all_right(&*cache, 0..100).await;
    let root = RefKey::new("root").unwrap();
    let objects = vec![(key(100), sealed(100))];
    cache.commit(objects, &root, &Expected::Absent, "x".into()).await.unwrap();
    all_right(&*cache, [100]).await;
    assert_eq!(site.storage.gets(), 0);
    assert_eq!(site.storage.puts(), 101);
}

#[tokio::test]
async fn what_was_read_once_is_read_without_the_storage() {
    let site = Site::new();
    site.fill(&*site.storage, 10).await;
    let cache = site.open().await;
    all_right(&*cache, 0..5).await;
    assert_eq!(site.storage.gets(), 5);
    all_right(&*cache, 0..5).await;
    assert_eq!(site.storage.gets(), 0);
    let keys: Vec<_> = [7, 0, 99, 4, 8].map(key).into();
    let found = cache.get_many(&keys).await.unwrap();
    assert_eq!(site.storage.gets(), 3, "only what it does not have is asked for");
    let found = found.iter().map(|it| it.as_ref().map(|it| frame::open(it).unwrap()[0]));
    assert_eq!(found.collect::<Vec<_>>(), [Some(7), Some(0), None, Some(4), Some(8)]);
}

#[tokio::test]
async fn it_is_all_there_when_it_is_opened_again() {
    let site = Site::new();
    let cache = site.open().await;
    site.fill(&*cache, 100).await;
    drop(cache);
    let cache = site.open().await;
    site.fill(&*cache, 50).await;
    drop(cache);
    all_right(&*site.open().await, 0..100).await;
    assert_eq!(site.storage.gets(), 0);
}

#[tokio::test]
async fn it_is_all_there_after_its_process_died() {
    let site = Site::new();
    let cache = site.open_at(&site.dir(), MIB).await;
    site.fill(&*cache, 100).await;
    // What another process finds when this one ends here.
    let found = site.home.path().join("found");
    fs::create_dir(&found).unwrap();
    for file in files(&site.dir(), "segment") {
        fs::copy(&file, found.join(file.file_name().unwrap())).unwrap();
    }
    assert!(files(&site.dir(), "notes").is_empty());
    all_right(&*site.open_at(&found, MIB).await, 0..100).await;
    assert_eq!(site.storage.gets(), 0);
    assert_eq!(files(&found, "notes").len(), files(&found, "segment").len(), "read through once");
    all_right(&*site.open_at(&found, MIB).await, 0..100).await;
}

#[tokio::test]
async fn it_stays_within_its_limit_and_keeps_the_latest() {
    let site = Site::new();
    let limit = 4 * MIB;
    let cache = site.open_at(&site.dir(), limit).await;
    let large = |number: u32| frame::seal(&noise(number, 20_000));
    let (count, mut most) = (2200, 0);
    for number in 0..count {
        cache.put_many(vec![(key(number), large(number))]).await.unwrap();
        most = most.max(size(&site.dir()));
    }
    assert!(most <= limit + limit / 4, "{most} bytes with a limit of {limit}");
    assert!(most >= limit - limit / 4, "{most} bytes of {limit} are used");
    for number in count - 130..count {
        assert_eq!(content(&*cache, number).await, noise(number, 20_000));
    }
    assert_eq!(site.storage.gets(), 0);
    assert_eq!(content(&*cache, 0).await, noise(0, 20_000));
    assert_eq!(site.storage.gets(), 1, "the first has gone");
    drop(cache);
    let cache = site.open_at(&site.dir(), limit / 4).await;
    assert!(size(&site.dir()) <= limit / 4, "a lower limit holds at once");
    assert_eq!(content(&*cache, count - 1).await, noise(count - 1, 20_000));
}

#[tokio::test]
async fn an_object_that_would_push_out_all_others_is_not_kept() {
    let site = Site::new();
    let cache = site.open_at(&site.dir(), MIB).await;
    site.fill(&*cache, 10).await;
    cache.put_many(vec![(key(99), frame::seal(&noise(99, 600_000)))]).await.unwrap();
    assert_eq!(content(&*cache, 99).await, noise(99, 600_000));
    assert_eq!(site.storage.gets(), 1);
    all_right(&*cache, 0..10).await;
    assert_eq!(site.storage.gets(), 0);
}

#[tokio::test]
async fn an_entry_that_was_damaged_is_fetched_again() {
    let site = Site::new();
    let cache = site.open().await;
    site.fill(&*cache, 100).await;
    let [segment] = &files(&site.dir(), "segment")[..] else { panic!() };
    let mut bytes = fs::read(segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(segment, bytes).unwrap();
    all_right(&*cache, 0..100).await;
    assert_eq!(site.storage.gets(), 1);
    all_right(&*cache, 0..100).await;
    assert_eq!(site.storage.gets(), 0);
}

#[tokio::test]
async fn a_directory_that_was_damaged_is_begun_anew() {
    let site = Site::new();
    for damage in [&b"garbage"[..], b"", &[0xff; 70_000]] {
        let cache = site.open().await;
        site.fill(&*cache, 100).await;
        drop(cache);
        for file in [files(&site.dir(), "segment"), files(&site.dir(), "notes")].concat() {
            fs::write(file, damage).unwrap();
        }
        let cache = site.open().await;
        all_right(&*cache, 0..100).await;
        assert_eq!(site.storage.gets(), 100);
        all_right(&*cache, 0..100).await;
        assert_eq!(site.storage.gets(), 0);
    }
}

#[tokio::test]
async fn a_segment_that_lost_its_end_keeps_its_beginning() {
    let site = Site::new();
    let cache = site.open().await;
    site.fill(&*cache, 100).await;
    drop(cache);
    let [segment] = &files(&site.dir(), "segment")[..] else { panic!() };
    let len = fs::metadata(segment).unwrap().len();
    fs::File::options().write(true).open(segment).unwrap().set_len(len / 2).unwrap();
    for notes in ["kept", "lost"] {
        let cache = site.open().await;
        all_right(&*cache, 0..100).await;
        let again = site.storage.gets();
        assert!(again <= 51, "{again} were fetched with notes that were {notes}");
        drop(cache);
        files(&site.dir(), "notes").iter().for_each(|file| fs::remove_file(file).unwrap());
    }
}

#[tokio::test]
async fn what_was_deleted_stays_deleted() {
    let site = Site::new();
    let cache = site.open().await;
    site.fill(&*cache, 10).await;
    let listed = cache.list(None, None, 5).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|it| (it.key, it.token)).collect();
    assert_eq!(cache.delete_exact(&listed).await.unwrap(), 5);
    for number in 0..5 {
        assert_eq!(cache.get(&key(number)).await.unwrap(), None);
    }
    drop(cache);
    let cache = site.open().await;
    assert_eq!(cache.get(&key(0)).await.unwrap(), None);
    files(&site.dir(), "notes").iter().for_each(|file| fs::remove_file(file).unwrap());
    drop(cache);
    files(&site.dir(), "notes").iter().for_each(|file| fs::remove_file(file).unwrap());
    let cache = site.open().await;
    assert_eq!(cache.get(&key(4)).await.unwrap(), None);
    site.storage.gets();
    all_right(&*cache, 5..10).await;
    assert_eq!(site.storage.gets(), 0);
}

#[tokio::test]
async fn a_directory_that_goes_away_fails_nobody() {
    let site = Site::new();
    let cache = site.open_at(&site.dir(), MIB).await;
    site.fill(&*cache, 10).await;
    fs::remove_dir_all(site.dir()).unwrap();
    site.fill(&*cache, 3000).await;
    all_right(&*cache, 0..3000).await;
    let listed = cache.list(None, None, 1).await.unwrap();
    cache.delete_exact(&[(listed[0].key, listed[0].token.clone())]).await.unwrap();
    assert_eq!(cache.get(&listed[0].key).await.unwrap(), None);
}

#[tokio::test]
async fn a_disk_that_is_full_fails_nobody() {
    let Some(disk) = Disk::of(8 * MIB) else { return };
    let site = Site::new();
    let cache = site.open_at(&disk.path().join("cache"), 64 * MIB).await;
    for number in 0..600 {
        let objects = vec![(key(number), frame::seal(&noise(number, 20_000)))];
        cache.put_many(objects).await.unwrap();
    }
    for number in 0..600 {
        assert!(content(&*cache, number).await == noise(number, 20_000), "{number}");
    }
}

#[tokio::test]
async fn a_failing_storage_is_not_hidden() {
    let site = Site::new();
    let cache = site.open().await;
    site.storage.objects_left.store(0, Ordering::Relaxed);
    let put = cache.put_many(vec![(key(1), sealed(1))]).await;
    assert_eq!(put.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(cache.get(&key(1)).await.unwrap(), None, "what was not stored is not kept");
}

#[tokio::test]
async fn one_has_the_directory_at_a_time() {
    let site = Site::new();
    let cache = site.open().await;
    let second = DiskCache::over(site.storage.storage(), &site.dir(), MIB).await;
    assert_eq!(second.unwrap_err().kind(), ErrorKind::InUse);
    site.fill(&*cache, 1).await;
    drop(cache);
    all_right(&*site.open().await, [0]).await;
}

#[tokio::test]
async fn the_directory_is_made_with_its_parents_and_for_its_owner_alone() {
    let site = Site::new();
    let dir = site.home.path().join("a/b/cache");
    drop(site.open_at(&dir, MIB).await);
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_directory_that_holds_something_else_is_refused_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("letter.txt"), "dear reader").unwrap();
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
    let err = DiskCache::over(storage, home.path(), MIB).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

/// Bytes that do not compress.
fn noise(seed: u32, len: usize) -> Vec<u8> {
    let mut state = u64::from(seed) | 1 << 40;
    let noise = std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state ^ state >> 32).to_le_bytes()
    });
    noise.take(len / 8).collect::<Vec<_>>().into_flattened()
}
