//! Faults of the way to a store, and what a caller notices of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use sandkeep_storage::{
    Capabilities, Domain, Error, ErrorKind, Expected, Listed, MemoryStorage, ObjectId, ObjectKey,
    Objects, Ref, RefKey, Refs, Result, Storage, Swap, Token, frame, steady,
};

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn of_changes_whose_answers_get_lost_each_happens_once() {
    let (storage, faults) = troubled(Faults { before: 0.2, after: 0.3 });
    won(storage.swap(&key(), &Expected::Absent, vec![0; 8].into()).await.unwrap());
    let counting = (0..8).map(|who| tokio::spawn(count_up(Arc::clone(&storage), who, 10)));
    for counted in counting.collect::<Vec<_>>() {
        counted.await.unwrap();
    }
    assert_eq!(storage.load(&key()).await.unwrap().unwrap().value, vec![10; 8]);
    assert!(faults.lost() > 20, "{} answers got lost", faults.lost());
}

#[tokio::test]
async fn a_win_whose_answer_got_lost_is_a_win() {
    let (storage, faults) = troubled(Faults::NONE);
    faults.lose_next_answers(1);
    let token = won(storage.swap(&key(), &Expected::Absent, "one".into()).await.unwrap());
    faults.lose_next_answers(2);
    let expected = Expected::Token(token.clone());
    let second = won(storage.swap(&key(), &expected, "two".into()).await.unwrap());
    let now = storage.load(&key()).await.unwrap().unwrap();
    assert_eq!((now.value.as_ref(), now.token), (b"two".as_slice(), second));
    assert!(matches!(
        storage.swap(&key(), &expected, "three".into()).await.unwrap(),
        Swap::Lost(Some(current)) if current.value == "two"
    ));
}

#[tokio::test]
async fn a_loss_tells_what_is_there_without_anybodys_mark() {
    let (storage, faults) = troubled(Faults::NONE);
    won(storage.swap(&key(), &Expected::Absent, "theirs".into()).await.unwrap());
    faults.lose_next_answers(1);
    let swap = storage.swap(&key(), &Expected::Absent, "ours".into()).await.unwrap();
    let Swap::Lost(Some(current)) = swap else { unreachable!("won over what was there") };
    assert_eq!(current.value, "theirs");
    let listed = storage.list_refs("", None, 10).await.unwrap();
    assert_eq!(listed, [(key(), current)]);
}

#[tokio::test]
async fn a_ref_that_went_with_a_lost_answer_is_gone() {
    let (storage, faults) = troubled(Faults::NONE);
    let token = won(storage.swap(&key(), &Expected::Absent, "x".into()).await.unwrap());
    faults.lose_next_answers(1);
    assert!(!storage.delete_ref(&key(), &Token::new("other")).await.unwrap());
    faults.lose_next_answers(1);
    assert!(storage.delete_ref(&key(), &token).await.unwrap());
    assert_eq!(storage.load(&key()).await.unwrap(), None);
}

#[tokio::test]
async fn patience_ends() {
    let (storage, faults) = troubled_for(Faults::NONE, Duration::from_millis(300));
    faults.lose_next_answers(u32::MAX);
    let begin = Instant::now();
    let err = storage.load(&key()).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert!(faults.lost() >= 3, "only {} tries", faults.lost());
}

#[tokio::test]
async fn what_fails_for_good_is_not_tried_again() {
    let (storage, faults) = troubled(Faults::NONE);
    faults.fail_for_good();
    let err = storage.load(&key()).await.unwrap_err();
    assert_eq!((err.kind(), faults.calls()), (ErrorKind::Io, 1));
}

#[tokio::test]
async fn what_a_later_try_is_told_says_nothing_of_an_earlier_one() {
    let (storage, faults) = troubled(Faults::NONE);
    faults.lose_next_answers(1);
    faults.fail_for_good_after(1);
    let err = storage.swap(&key(), &Expected::Absent, "x".into()).await.unwrap_err();
    assert_eq!((err.kind(), faults.calls()), (ErrorKind::Unavailable, 2));
}

#[tokio::test(start_paused = true)]
async fn a_try_without_an_answer_is_given_up_for_another() {
    let (storage, faults) = troubled_for(Faults::NONE, Duration::from_secs(60));
    faults.hang_next();
    assert_eq!(storage.load(&key()).await.unwrap(), None);
    assert_eq!(faults.calls(), 2);
}

#[tokio::test]
async fn objects_come_through_troubled_ways_whole() {
    let (storage, _) = troubled(Faults { before: 0.3, after: 0.3 });
    let domain = Domain::random();
    let object = |number: u8| ObjectKey { domain, id: ObjectId([number; 32]) };
    for number in 0..20 {
        storage.put_many(vec![(object(number), frame::seal(&[number; 500]))]).await.unwrap();
    }
    let keys: Vec<_> = (0..20).map(object).collect();
    for (number, stored) in storage.get_many(&keys).await.unwrap().into_iter().enumerate() {
        assert_eq!(frame::open(&stored.unwrap()).unwrap(), vec![number as u8; 500]);
    }
    assert_eq!(storage.list(Some(domain), None, 100).await.unwrap().len(), 20);
}

/// Counts one's own number up, among those of others, as a root keeps the commits of its writers.
#[expect(clippy::indexing_slicing, reason = "everybody has a number")]
async fn count_up(storage: Arc<dyn Storage>, who: usize, times: u8) {
    for time in 1..=times {
        loop {
            let Ref { value, token } = storage.load(&key()).await.unwrap().unwrap();
            // A try whose answer got lost may have been overtaken since.
            if value[who] == time {
                break;
            }
            let mut next = value.to_vec();
            next[who] += 1;
            let object = ObjectKey { domain: Domain([1; 16]), id: ObjectId(rand::random()) };
            let (objects, expected) = (vec![(object, frame::seal(b"x"))], Expected::Token(token));
            let swap = storage.commit(objects, &key(), &expected, next.into()).await.unwrap();
            if matches!(swap, Swap::Won(_)) {
                break;
            }
        }
    }
}

fn key() -> RefKey {
    RefKey::new("a").unwrap()
}

fn won(swap: Swap) -> Token {
    match swap {
        Swap::Won(token) => token,
        Swap::Lost(current) => unreachable!("lost to {current:?}"),
    }
}

/// How likely a call gets lost on its way there, and its answer on the way back.
#[derive(Clone, Copy, Debug)]
struct Faults {
    before: f64,
    after: f64,
}

impl Faults {
    const NONE: Self = Self { before: 0.0, after: 0.0 };
}

fn troubled(faults: Faults) -> (Arc<dyn Storage>, Arc<Troubled>) {
    troubled_for(faults, PATIENCE)
}

fn troubled_for(faults: Faults, patience: Duration) -> (Arc<dyn Storage>, Arc<Troubled>) {
    let troubled = Arc::new(Troubled::with(faults));
    (steady(Arc::<Troubled>::clone(&troubled), patience), troubled)
}

/// A sound store at the end of a bad line.
#[derive(Debug)]
struct Troubled {
    sound: MemoryStorage,
    faults: Faults,
    to_lose: AtomicU32,
    to_hang: AtomicU32,
    broken: AtomicU32,
    calls: AtomicU32,
    lost: AtomicU32,
}

impl Troubled {
    fn with(faults: Faults) -> Self {
        let [to_lose, to_hang, broken, calls, lost] = [const { AtomicU32::new(0) }; 5];
        Self { sound: MemoryStorage::default(), faults, to_lose, to_hang, broken, calls, lost }
    }

    fn lose_next_answers(&self, count: u32) {
        self.to_lose.store(count, Ordering::Relaxed);
    }

    fn hang_next(&self) {
        self.to_hang.store(1, Ordering::Relaxed);
    }

    fn fail_for_good(&self) {
        self.fail_for_good_after(0);
    }

    fn fail_for_good_after(&self, calls: u32) {
        self.broken.store(calls + 1, Ordering::Relaxed);
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Carries a call over the bad line.
    async fn carry<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let call_number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if (1..=call_number).contains(&self.broken.load(Ordering::Relaxed)) {
            return Err(Error::new(ErrorKind::Io, "broken"));
        }
        if self.to_hang.swap(0, Ordering::Relaxed) > 0 {
            std::future::pending::<()>().await;
        }
        let cut = || Error::new(ErrorKind::Unavailable, "cut");
        if rand::random_bool(self.faults.before) {
            return Err(cut());
        }
        let answer = call.await;
        let count_down = |left: u32| left.checked_sub(1);
        let (set, seen) = (Ordering::Relaxed, Ordering::Relaxed);
        let is_to_lose = self.to_lose.fetch_update(set, seen, count_down).is_ok();
        if is_to_lose || rand::random_bool(self.faults.after) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return Err(cut());
        }
        answer
    }
}

#[async_trait]
impl Objects for Troubled {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.carry(self.sound.get(key)).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.carry(self.sound.get_many(keys)).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.carry(self.sound.put_many(objects)).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.carry(self.sound.list(domain, after, limit)).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.carry(self.sound.delete_exact(objects)).await
    }
}

#[async_trait]
impl Refs for Troubled {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.carry(self.sound.load(key)).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.carry(self.sound.swap(key, expected, value)).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.carry(self.sound.delete_ref(key, token)).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.carry(self.sound.list_refs(prefix, after, limit)).await
    }
}

#[async_trait]
impl Storage for Troubled {
    fn capabilities(&self) -> Capabilities {
        self.sound.capabilities()
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.carry(self.sound.commit(objects, key, expected, value)).await
    }
}
