//! Tests of logs, and of the followers that read them.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{Bench, LONG, SHORT, at_once, event, next, until};
use crate::storage::{Output, Store, StoreOperation};

pub async fn a_log_is_bounded_and_numbered<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let first = bench.append("log", &[0], 3).await;
    for number in 1..7 {
        assert_eq!(bench.append("log", &[number], 3).await, first + u64::from(number));
    }
    let (last, kept) =
        (first + 6, [4, 5, 6].map(|number| event(first + u64::from(number), &[number])));
    assert_eq!(bench.events("log", 0, 9).await, (kept.to_vec(), last));
    assert_eq!(bench.events("log", last - 3, 9).await, (kept.to_vec(), last));
    assert_eq!(bench.events("log", last - 2, 1).await, (kept[1..2].to_vec(), last));
    assert_eq!(bench.events("log", last, 9).await, (Vec::new(), last));
    assert_eq!(bench.events("log", last + 100, 9).await, (Vec::new(), last));
    assert_eq!(bench.events("log", 0, 0).await, (Vec::new(), last));
    // Fewer events are kept from now on.
    assert_eq!(bench.append("log", b"", 1).await, last + 1);
    assert_eq!(bench.events("log", 0, 9).await, (vec![event(last + 1, b"")], last + 1));
}

pub async fn a_log_goes_on_with_higher_ids_after_it_was_cleared_or_has_expired<S: Store>(
    store: Arc<S>,
) {
    let bench = Bench::on(store).await;
    let first = bench.append("log", b"a", 9).await;
    bench.clear("log").await;
    bench.clear("log").await;
    assert_eq!(bench.events("log", 0, 9).await, (Vec::new(), 0));
    let second = bench.append("log", b"c", 9).await;
    assert!(second > first);
    bench.run(StoreOperation::append("log", *b"d", SHORT, 9)).await;
    until("the end of the log", async || bench.events("log", 0, 9).await.1 == 0).await;
    let third = bench.append("log", b"e", 9).await;
    assert!(third > second + 1);
    assert_eq!(bench.events("log", second, 9).await, (vec![event(third, b"e")], third));
}

pub async fn an_append_of_many_writers_loses_nothing<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let append =
        |value: u8| bench.transaction().then(StoreOperation::append("log", [value], LONG, 99));
    let results = at_once(&bench, (0..50).map(append)).await;
    let ids: BTreeSet<_> = results
        .into_iter()
        .map(|result| match result.as_deref() {
            Ok([Output::Appended(id)]) => *id,
            other => panic!("an id, not {other:?}"),
        })
        .collect();
    let first = *ids.first().expect("ids");
    assert!(ids.iter().copied().eq(first..first + 50));
    let (events, _) = bench.events("log", 0, 99).await;
    let values: BTreeSet<_> = events.iter().map(|event| event.value[0]).collect();
    assert_eq!(values.len(), 50);
    assert!(events.iter().map(|event| event.id).eq(first..first + 50));
}

pub async fn a_follower_returns_old_and_new_events<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let first = bench.append("log", b"a", 99).await;
    for value in [b"b", b"c"] {
        bench.append("log", value, 99).await;
    }
    let (mut all, mut some) = (bench.follow("log", 0), bench.follow("log", first + 1));
    for (number, value) in [(0, b"a"), (1, b"b"), (2, b"c")] {
        assert_eq!(next(&mut all).await, event(first + number, value));
    }
    assert_eq!(next(&mut some).await, event(first + 2, b"c"));
    let waiting = tokio::spawn(async move { next(&mut some).await });
    // An event of another log is not an event of this one.
    bench.append("other", b"x", 99).await;
    tokio::task::yield_now().await;
    bench.append("log", b"d", 99).await;
    assert_eq!(waiting.await.expect("no panic"), event(first + 3, b"d"));
    assert_eq!(next(&mut all).await, event(first + 3, b"d"));
    // A follower may begin before the log.
    let mut early = bench.follow("later", 0);
    let waiting = tokio::spawn(async move { next(&mut early).await });
    tokio::task::yield_now().await;
    let first = bench.append("later", b"first", 99).await;
    assert_eq!(waiting.await.expect("no panic"), event(first, b"first"));
}

pub async fn a_follower_loses_nothing_when_its_future_is_dropped<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let mut follower = bench.follow("log", 0);
    for number in 1..=20 {
        // Drops the future at a different point each time.
        let short = Duration::from_micros(u64::from(number) * 150);
        let _ = tokio::time::timeout(short, std::future::pending::<()>()).await;
        let early = tokio::time::timeout(short, follower.next()).await;
        assert!(early.is_err(), "there is no event yet");
        let id = bench.append("log", &[number], 99).await;
        assert_eq!(next(&mut follower).await, event(id, &[number]));
    }
}

pub async fn a_follower_shows_gaps_and_goes_on_after_a_clear<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let mut follower = bench.follow("log", 0);
    let first = bench.append("log", b"a", 2).await;
    assert_eq!(next(&mut follower).await.id, first);
    for value in [b"b", b"c", b"d"] {
        bench.append("log", value, 2).await;
    }
    assert_eq!(next(&mut follower).await, event(first + 2, b"c"));
    assert_eq!(next(&mut follower).await, event(first + 3, b"d"));
    bench.clear("log").await;
    let new = bench.append("log", b"new", 2).await;
    assert!(new > first + 3);
    assert_eq!(next(&mut follower).await, event(new, b"new"));
}
