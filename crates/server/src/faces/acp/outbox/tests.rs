//! What an outbox promises.

use engine::KeyId;
use futures::FutureExt as _;

use super::common::SHARES;
use super::*;

fn outbox(messages: usize, bytes: usize) -> Arc<Outbox> {
    Outbox::new(OutboxRoom { messages, bytes }, &CommonStore::new(1024 * 1024), None)
}

/// What is there by now.
async fn read(outbox: &Arc<Outbox>, after: Option<u64>) -> Vec<Delivery> {
    let mut reader = outbox.read(after).await.unwrap();
    let mut all = Vec::new();
    while let Some(Some(next)) = reader.next().now_or_never() {
        all.push(next);
    }
    all
}

fn message(number: u64) -> Delivery {
    Delivery::Message(number, number.to_string().into())
}

fn posted(outbox: &Outbox, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        assert_eq!(outbox.post(&number), number);
    }
}

#[tokio::test]
async fn whoever_comes_back_gets_exactly_what_he_missed() {
    let outbox = outbox(8, 4096);
    posted(&outbox, 1..=3);
    assert_eq!(read(&outbox, None).await, [message(1), message(2), message(3)]);
    posted(&outbox, 4..=4);
    assert_eq!(read(&outbox, Some(2)).await, [message(3), message(4)]);
    assert_eq!(read(&outbox, Some(4)).await, []);
    assert_eq!(read(&outbox, Some(0)).await.len(), 4);
}

#[tokio::test]
async fn a_number_that_was_never_given_away_is_of_another_stream() {
    let outbox = outbox(8, 4096);
    posted(&outbox, 1..=2);
    assert_eq!(read(&outbox, Some(9)).await, [message(1), message(2)]);
}

#[tokio::test]
async fn what_fell_out_is_told_and_not_passed_over() {
    let outbox = outbox(2, 4096);
    posted(&outbox, 1..=5);
    let missed = Delivery::Missed { after: 1, until: 3 };
    assert_eq!(read(&outbox, Some(1)).await, [missed, message(4), message(5)]);
    assert_eq!(read(&outbox, Some(3)).await, [message(4), message(5)]);
}

#[tokio::test]
async fn bytes_are_bounded_too_and_what_never_fits_is_told() {
    let outbox = outbox(100, 4 * (ENVELOPE + 1));
    posted(&outbox, 1..=6);
    let first = &read(&outbox, None).await[0];
    assert_eq!(*first, Delivery::Missed { after: 0, until: 2 });
    assert_eq!(outbox.post(&"x".repeat(4096)), 7);
    assert_eq!(read(&outbox, Some(6)).await, [Delivery::Missed { after: 6, until: 7 }]);
    posted(&outbox, 8..=8);
    assert_eq!(read(&outbox, Some(7)).await, [message(8)]);
}

#[tokio::test]
async fn all_outboxes_together_keep_no_more_than_the_common_store_and_a_few_each() {
    let common = CommonStore::new(4 * OWN);
    let room = OutboxRoom { messages: 1000, bytes: 64 * OWN };
    let boxes: Vec<_> = (0..8).map(|_| Outbox::new(room, &common, None)).collect();
    let text = "x".repeat(1000);
    for outbox in boxes.iter().cycle().take(8 * 200) {
        outbox.post(&text);
    }
    let kept = |outbox: &Arc<Outbox>| outbox.state.lock().bytes;
    let total: usize = boxes.iter().map(kept).sum();
    assert!(total <= 8 * OWN + 4 * OWN, "{total}");
    // Nobody's share is taken by others.
    assert!(boxes.iter().all(|outbox| kept(outbox) > OWN - 2 * 1000));
    drop(boxes);
    let drawn = common.drawn.lock();
    assert_eq!((drawn.total, drawn.each.len()), (0, 0));
}

#[tokio::test]
async fn a_key_draws_its_share_of_the_common_store_and_leaves_the_rest_to_others() {
    let common = CommonStore::new(SHARES * 2 * OWN);
    let room = OutboxRoom { messages: 1000, bytes: 64 * OWN };
    let key = |id: &str| Some(Actor::Key(KeyId::parse(id).unwrap()));
    let (greedy, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
    let many: Vec<_> = (0..2 * SHARES).map(|_| Outbox::new(room, &common, greedy)).collect();
    let text = "x".repeat(1000);
    for outbox in many.iter().cycle().take(many.len() * 100) {
        outbox.post(&text);
    }
    assert!(common.drawn.lock().total <= 2 * OWN);
    let victim = Outbox::new(room, &common, other);
    for _ in 0..40 {
        victim.post(&text);
    }
    assert_eq!(read(&victim, None).await.len(), 40);
    // The operator has no share but all of it.
    let operator = Outbox::new(room, &common, Some(Actor::Token));
    for _ in 0..80 {
        operator.post(&text);
    }
    assert_eq!(read(&operator, None).await.len(), 80);
}

#[tokio::test(start_paused = true)]
async fn only_one_reads_and_whoever_comes_next_waits_a_moment() {
    let outbox = outbox(8, 4096);
    let first = outbox.read(None).await.unwrap();
    assert_eq!(outbox.read(None).await.unwrap_err(), Taken);
    let (second, ()) = tokio::join!(outbox.read(None), async {
        tokio::time::sleep(PATIENCE / 2).await;
        drop(first);
    });
    assert!(second.is_ok() && outbox.is_read());
    drop(second);
    assert!(!outbox.is_read());
}

#[tokio::test(start_paused = true)]
async fn whoever_is_in_the_way_is_asked_whether_he_is_there() {
    let outbox = outbox(8, 4096);
    let mut first = outbox.read(None).await.unwrap();
    let (second, probe) = tokio::join!(outbox.read(None), first.next());
    assert_eq!((second.unwrap_err(), probe), (Taken, Some(Delivery::Probe)));
}

#[tokio::test(start_paused = true)]
async fn whoever_says_where_he_was_cut_off_takes_the_place_of_the_first() {
    let outbox = outbox(8, 4096);
    let mut first = outbox.read(None).await.unwrap();
    posted(&outbox, 1..=2);
    assert_eq!(first.next().await, Some(message(1)));
    let mut second = outbox.read(Some(1)).await.unwrap();
    assert_eq!(second.next().await, Some(message(2)));
    assert_eq!(first.next().await, None);
    drop(first);
    assert_eq!(outbox.read(None).await.unwrap_err(), Taken);
}

#[tokio::test]
async fn a_few_may_listen_at_once_and_the_first_goes_when_there_are_too_many() {
    let outbox = outbox(8, 4096);
    let mut first = outbox.listen(None);
    let mut others: Vec<_> = (1..MOST_LISTENERS).map(|_| outbox.listen(None)).collect();
    posted(&outbox, 1..=1);
    for reader in others.iter_mut().chain([&mut first]) {
        assert_eq!(reader.next().await, Some(message(1)));
    }
    let (end, mut newest) = tokio::join!(first.next(), async { outbox.listen(Some(1)) });
    assert_eq!(end, None);
    drop(first);
    posted(&outbox, 2..=2);
    for reader in others.iter_mut().chain([&mut newest]) {
        assert_eq!(reader.next().await, Some(message(2)));
    }
    drop((others, newest));
    assert!(!outbox.is_read());
}

#[tokio::test]
async fn a_reader_is_woken_and_the_end_comes_behind_the_last_message() {
    let outbox = outbox(8, 4096);
    let mut reader = outbox.read(None).await.unwrap();
    let posting = async {
        tokio::task::yield_now().await;
        posted(&outbox, 1..=1);
        tokio::task::yield_now().await;
        posted(&outbox, 2..=2);
        outbox.close();
        outbox.post(&3);
    };
    let reading = async {
        let mut all = Vec::new();
        while let Some(next) = reader.next().await {
            all.push(next);
        }
        all
    };
    let (all, ()) = tokio::join!(reading, posting);
    assert_eq!(all, [message(1), message(2)]);
}
