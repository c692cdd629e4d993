//! Tests that every store has to pass, and the macro `store_suite!`, which runs them.

mod faults;
mod logs;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    random::random,
    storage::{
        Condition, Follower, LogEvent, Output, Record, Rejection, Store, StoreOperation,
        Transaction, TransactionResult,
    },
};

pub use faults::*;
pub use logs::*;

/// Writes the tests that every [`Store`](crate::store::Store) has to pass, each a `#[tokio::test]`, into a module of this name.
///
/// The expression is evaluated in each test, which is an `async fn` without a result. It may be a new store each time, or an `Arc` of the same
/// store: the tests use names of their own. Needs the feature `store-suite`, and `tokio` with the features `macros` and `rt` in the
/// dev-dependencies. A third argument replaces the attribute of the tests, such as `#[tokio::test(flavor = "multi_thread")]`.
///
/// ```
/// mod tests {
///     use mcp_runtime::{store::MemoryStore, testing::store_suite};
///
///     store_suite!(memory, MemoryStore::new());
/// }
/// # fn main() {}
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __store_suite {
    ($name:ident, $store:expr) => {
        $crate::__store_suite!($name, $store, #[tokio::test]);
    };
    ($name:ident, $store:expr, #[$test:meta]) => {
        $crate::__store_suite! {
            @tests $name, $store, [$test],
            a_record_is_read_as_it_was_written,
            a_condition_decides_about_the_whole_transaction,
            versions_increase_even_after_a_removal,
            operations_see_the_changes_of_those_before_them,
            names_of_partitions_and_kinds_do_not_collide,
            a_record_expires_unless_it_is_touched,
            a_log_is_bounded_and_numbered,
            a_log_goes_on_with_higher_ids_after_it_was_cleared_or_has_expired,
            an_index_has_an_order_and_pages,
            an_index_entry_expires_no_earlier_than_before,
            a_rate_allows_its_burst_and_then_waits,
            places_are_leased,
            one_of_many_writers_wins,
            an_append_of_many_writers_loses_nothing,
            a_follower_returns_old_and_new_events,
            a_follower_loses_nothing_when_its_future_is_dropped,
            a_follower_shows_gaps_and_goes_on_after_a_clear,
            a_dropped_future_leaves_the_store_usable,
            a_server_tells_clients_of_no_task_that_the_store_does_not_hold,
            a_server_tells_clients_of_no_result_that_the_store_does_not_hold,
        }
    };
    (@tests $name:ident, $store:expr, $attribute:tt, $($test:ident,)*) => {
        mod $name {
            #[allow(unused_imports, reason = "the expression may name anything around the macro")]
            use super::*;

            $(
                #$attribute
                async fn $test() {
                    $crate::testing::store_suite::$test(::std::sync::Arc::new($store)).await;
                }
            )*
        }
    };
}

/// Time in which everything that a test waits for has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time to live of what must not expire during a test.
const LONG: Duration = Duration::from_secs(600);

/// Time to live of what a test waits for to expire.
const SHORT: Duration = Duration::from_millis(30);

/// Names for one test, which no other test and no earlier run uses.
struct Bench<S: Store> {
    store: Arc<S>,
    partition: String,
}

impl<S: Store> Bench<S> {
    async fn on(store: Arc<S>) -> Self {
        store.open().await.expect("the store opens");
        let bytes: [u8; 16] = random().expect("random numbers");
        let partition = format!("suite:{:032x}", u128::from_ne_bytes(bytes));
        Self { store, partition }
    }

    fn transaction(&self) -> Transaction {
        Transaction::on(&*self.partition)
    }

    async fn execute(&self, transaction: Transaction) -> TransactionResult {
        let results = self.store.execute(vec![transaction]).await.expect("the store works");
        let [result] = <[_; 1]>::try_from(results).expect("a result for each transaction");
        result
    }

    /// Executes a single operation that is not rejected.
    async fn run(&self, operation: StoreOperation) -> Output {
        let outputs = self.execute(self.transaction().then(operation)).await;
        let outputs = outputs.expect("the operation is not rejected");
        let [output] = <[_; 1]>::try_from(outputs).expect("an output for each operation");
        output
    }

    async fn get(&self, name: &str) -> Option<Record> {
        match self.run(StoreOperation::get(name)).await {
            Output::Record(record) => record,
            other => panic!("a record, not {other:?}"),
        }
    }

    async fn value(&self, name: &str) -> Option<Vec<u8>> {
        self.get(name).await.map(|record| record.value)
    }

    async fn put(&self, name: &str, value: &[u8], ttl: Duration) -> u64 {
        match self.run(StoreOperation::put(name, value, ttl, Condition::Any)).await {
            Output::Version(version) => version,
            other => panic!("a version, not {other:?}"),
        }
    }

    async fn append(&self, log: &str, value: &[u8], most: usize) -> u64 {
        match self.run(StoreOperation::append(log, value, LONG, most)).await {
            Output::Appended(id) => id,
            other => panic!("an id, not {other:?}"),
        }
    }

    async fn events(&self, log: &str, after: u64, most: usize) -> (Vec<LogEvent>, u64) {
        match self.run(StoreOperation::read(log, after, most)).await {
            Output::Events { events, last } => (events, last),
            other => panic!("events, not {other:?}"),
        }
    }

    async fn names(&self, index: &str, after: Option<(u64, &str)>, most: usize) -> Vec<String> {
        let after = after.map(|(order, name)| (order, name.to_owned()));
        match self.run(StoreOperation::list(index, after, most)).await {
            Output::Entries(entries) => entries.into_iter().map(|entry| entry.name).collect(),
            other => panic!("entries, not {other:?}"),
        }
    }

    async fn clear(&self, log: &str) {
        assert_eq!(self.run(StoreOperation::Clear { log: log.to_owned() }).await, Output::Done);
    }

    fn follow(&self, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(&self.partition, log, after)
    }
}

/// Waits until the condition holds.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let since = Instant::now();
    while !holds().await {
        assert!(since.elapsed() < PATIENCE, "{what} does not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn next(follower: &mut Box<dyn Follower>) -> LogEvent {
    let next = tokio::time::timeout(PATIENCE, follower.next()).await;
    next.expect("the event comes").expect("the store works")
}

fn event(id: u64, value: &[u8]) -> LogEvent {
    LogEvent { id, value: value.to_vec() }
}

pub async fn a_record_is_read_as_it_was_written<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let large = vec![0xA5; 1 << 20];
    let values: [&[u8]; 4] = [b"", b"\0\r\n\xFF", "ü🦀".as_bytes(), &large];
    let names = ["", "a", "a\0b", "{x}:*?[\u{1F980}]'\"; --", &"n".repeat(300)];
    for name in names {
        assert_eq!(bench.get(name).await, None, "{name:?}");
        for value in values {
            bench.put(name, value, LONG).await;
            assert!(bench.value(name).await.as_deref() == Some(value), "{name:?}");
        }
        bench.run(StoreOperation::remove(name, Condition::Any)).await;
        assert_eq!(bench.get(name).await, None, "{name:?}");
    }
    bench.run(StoreOperation::remove("nothing", Condition::Any)).await;
}

pub async fn a_condition_decides_about_the_whole_transaction<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let version = bench.put("a", b"1", LONG).await;
    let others = || {
        bench
            .transaction()
            .then(StoreOperation::put("b", *b"2", LONG, Condition::Any))
            .then(StoreOperation::append("log", *b"2", LONG, 9))
            .then(StoreOperation::enlist("index", "b", 1, LONG))
    };
    let conditions = [Condition::Absent, Condition::Version(version + 1)];
    for condition in conditions {
        for refused in [
            StoreOperation::put("a", *b"3", LONG, condition),
            StoreOperation::remove("a", condition),
        ] {
            let result = bench.execute(others().then(refused)).await;
            assert_eq!(result, Err(Rejection::Condition(3)), "{condition:?}");
        }
    }
    let absent = others().then(StoreOperation::remove("c", Condition::Version(version)));
    assert_eq!(bench.execute(absent).await, Err(Rejection::Condition(3)));
    assert_eq!(bench.value("a").await.as_deref(), Some(&b"1"[..]));
    assert_eq!(bench.get("b").await, None);
    assert_eq!(bench.events("log", 0, 9).await, (Vec::new(), 0));
    assert_eq!(bench.names("index", None, 9).await, [""; 0]);
    // The other transactions of the same call are applied.
    let refused = bench.transaction().then(StoreOperation::remove("a", Condition::Absent));
    let applied =
        bench.transaction().then(StoreOperation::put("d", *b"4", LONG, Condition::Absent));
    let results = bench.store.execute(vec![refused, applied]).await.expect("the store works");
    assert_eq!(results[0], Err(Rejection::Condition(0)));
    assert!(results[1].is_ok());
    let right = others().then(StoreOperation::put("a", *b"3", LONG, Condition::Version(version)));
    assert_eq!(bench.execute(right).await.map(|outputs| outputs.len()), Ok(4));
    assert_eq!(bench.value("a").await.as_deref(), Some(&b"3"[..]));
    assert_eq!(bench.value("b").await.as_deref(), Some(&b"2"[..]));
}

pub async fn versions_increase_even_after_a_removal<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let mut last = 0;
    for round in 0..20 {
        let version = bench.put("a", b"same", LONG).await;
        assert!(version > last, "{version} follows {last}");
        assert_eq!(bench.get("a").await.map(|record| record.version), Some(version));
        last = version;
        if round % 3 == 0 {
            bench.run(StoreOperation::remove("a", Condition::Version(version))).await;
        }
    }
}

pub async fn operations_see_the_changes_of_those_before_them<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let both = bench
        .transaction()
        .then(StoreOperation::put("a", *b"1", LONG, Condition::Absent))
        .then(StoreOperation::get("a"))
        .then(StoreOperation::append("a", *b"x", LONG, 9))
        .then(StoreOperation::append("a", *b"y", LONG, 9))
        .then(StoreOperation::read("a", 0, 9))
        .then(StoreOperation::enlist("a", "a", 7, LONG))
        .then(StoreOperation::list("a", None, 9))
        .then(StoreOperation::remove("a", Condition::Any))
        .then(StoreOperation::get("a"));
    let outputs = bench.execute(both).await.expect("nothing is rejected");
    let Output::Record(Some(record)) = &outputs[1] else { panic!("{outputs:?}") };
    assert_eq!(record.value, b"1");
    let [Output::Appended(first), Output::Appended(second)] = outputs[2..4] else {
        panic!("{outputs:?}")
    };
    assert_eq!(second, first + 1);
    let events = vec![event(first, b"x"), event(second, b"y")];
    assert_eq!(outputs[4], Output::Events { events, last: second });
    let Output::Entries(entries) = &outputs[6] else { panic!("{outputs:?}") };
    assert_eq!((entries[0].order, &*entries[0].name), (7, "a"));
    assert_eq!(entries[0].record.as_ref(), Some(record));
    assert_eq!(outputs[8], Output::Record(None));
}

pub async fn names_of_partitions_and_kinds_do_not_collide<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let other = |end: &str| Bench {
        store: bench.store.clone(),
        partition: format!("{}{end}", bench.partition),
    };
    let others = [other(""), other(":"), other("a"), other("}"), other("\0")];
    for (number, bench) in others.iter().enumerate() {
        bench.put("a", &[number as u8], LONG).await;
    }
    for (number, bench) in others.iter().enumerate() {
        assert_eq!(bench.value("a").await, Some(vec![number as u8]));
        // Neither the record nor a place or a rate of this name is a log or an index.
        bench
            .run(StoreOperation::Enter {
                places: "a".to_owned(),
                holder: "a".to_owned(),
                most: 1,
                lease: LONG,
            })
            .await;
        bench
            .run(StoreOperation::Pass { rate: "a".to_owned(), interval: SHORT, slack: LONG })
            .await;
        assert_eq!(bench.events("a", 0, 9).await, (Vec::new(), 0));
        assert_eq!(bench.names("a", None, 9).await, [""; 0]);
        assert!(bench.append("a", b"x", 9).await > 0);
    }
}

pub async fn a_record_expires_unless_it_is_touched<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    for name in ["touched", "left", "never touched"] {
        bench.put(name, b"1", LONG).await;
    }
    let version = bench.get("touched").await.map(|record| record.version);
    let touch = |name: &str, ttl| StoreOperation::Touch { name: name.to_owned(), ttl };
    bench.run(touch("left", SHORT)).await;
    bench.run(touch("touched", SHORT)).await;
    bench.run(touch("touched", LONG)).await;
    bench.run(touch("nothing", LONG)).await;
    until("the end of the record", async || bench.get("left").await.is_none()).await;
    assert_eq!(bench.get("nothing").await, None);
    assert_eq!(bench.get("touched").await.map(|record| record.version), version);
    // A record that has expired is absent for conditions too, and does not come back.
    bench.run(touch("left", LONG)).await;
    assert_eq!(bench.get("left").await, None);
    let absent = StoreOperation::put("left", *b"2", LONG, Condition::Absent);
    assert!(matches!(bench.run(absent).await, Output::Version(_)));
}

pub async fn an_index_has_an_order_and_pages<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    // Sorted by number, then by the bytes of the name.
    let order =
        [("z", 0), ("B", 2), ("a", 2), ("a1", 2), ("ä", 2), ("early", 10), ("last", 1 << 53)];
    for at in [3, 0, 5, 6, 2, 4, 1] {
        let (name, order) = order[at];
        bench.run(StoreOperation::enlist("index", name, order, LONG)).await;
    }
    bench.put("a", b"record", LONG).await;
    let names: Vec<_> = order.iter().map(|entry| entry.0).collect();
    assert_eq!(bench.names("index", None, 99).await, names);
    for page in 1..=names.len() + 1 {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let list = StoreOperation::list("index", after, page);
            let Output::Entries(found) = bench.run(list).await else { panic!("entries") };
            assert!(found.len() <= page);
            let Some(last) = found.last() else { break };
            after = Some((last.order, last.name.clone()));
            for entry in found {
                let value = entry.record.map(|record| record.value);
                assert_eq!(value.as_deref(), (entry.name == "a").then_some(&b"record"[..]));
                seen.push(entry.name);
            }
        }
        assert_eq!(seen, names, "pages of {page}");
    }
    // A list may begin after an entry that is not there.
    assert_eq!(bench.names("index", Some((2, "a0")), 2).await, ["a1", "ä"]);
    assert_eq!(bench.names("index", Some((1, "")), 1).await, ["B"]);
    assert_eq!(bench.names("index", Some((1 << 53, "last")), 9).await, [""; 0]);
    assert_eq!(bench.names("index", None, 0).await, [""; 0]);
    bench.run(StoreOperation::enlist("index", "z", 3, LONG)).await;
    bench.run(StoreOperation::delist("index", "a")).await;
    bench.run(StoreOperation::delist("index", "nothing")).await;
    assert_eq!(bench.names("index", None, 9).await, ["B", "a1", "ä", "z", "early", "last"]);
}

pub async fn an_index_entry_expires_no_earlier_than_before<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    for name in ["long", "short", "renewed"] {
        let ttl = if name == "long" { LONG } else { SHORT };
        bench.run(StoreOperation::enlist("index", name, 1, ttl)).await;
    }
    bench.run(StoreOperation::enlist("index", "long", 1, SHORT)).await;
    bench.run(StoreOperation::enlist("index", "renewed", 1, LONG)).await;
    let left = async || bench.names("index", None, 9).await == ["long", "renewed"];
    until("the end of the entry", left).await;
}

pub async fn a_rate_allows_its_burst_and_then_waits<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let interval = Duration::from_secs(60);
    let pass = |rate: &str, interval, slack| {
        let pass = StoreOperation::Pass { rate: rate.to_owned(), interval, slack };
        bench.transaction().then(StoreOperation::append("used", *b"", LONG, 99)).then(pass)
    };
    for _ in 0..3 {
        assert!(bench.execute(pass("a", interval, 2 * interval)).await.is_ok());
    }
    let Err(Rejection::Wait(1, wait)) = bench.execute(pass("a", interval, 2 * interval)).await
    else {
        panic!("the fourth use is too early")
    };
    assert!(wait <= interval && wait > interval / 2, "{wait:?}");
    assert!(bench.execute(pass("b", interval, 2 * interval)).await.is_ok());
    assert_eq!(
        bench.events("used", 0, 99).await.0.len(),
        4,
        "a use that is too early changes nothing"
    );
    // A rate with a short interval allows a further use soon.
    assert!(bench.execute(pass("c", SHORT, Duration::ZERO)).await.is_ok());
    until("the next use", async || bench.execute(pass("c", SHORT, Duration::ZERO)).await.is_ok())
        .await;
}

pub async fn places_are_leased<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    let enter = |holder: &str, lease| {
        let (places, holder) = ("places".to_owned(), holder.to_owned());
        bench.transaction().then(StoreOperation::Enter { places, holder, most: 2, lease })
    };
    let leave = |holder: &str| {
        let (places, holder) = ("places".to_owned(), holder.to_owned());
        StoreOperation::Leave { places, holder }
    };
    let taken = async || bench.run(StoreOperation::count("places")).await;
    assert_eq!(taken().await, Output::Count(0));
    assert!(bench.execute(enter("a", LONG)).await.is_ok());
    assert!(bench.execute(enter("a", LONG)).await.is_ok(), "a holder renews its lease");
    assert_eq!(taken().await, Output::Count(1));
    assert!(bench.execute(enter("b", LONG)).await.is_ok());
    assert_eq!(bench.execute(enter("c", LONG)).await, Err(Rejection::NoPlace(0)));
    assert_eq!(taken().await, Output::Count(2));
    bench.run(leave("nobody")).await;
    assert_eq!(bench.execute(enter("c", LONG)).await, Err(Rejection::NoPlace(0)));
    bench.run(leave("a")).await;
    assert!(bench.execute(enter("c", SHORT)).await.is_ok());
    until("the end of the lease", async || taken().await == Output::Count(1)).await;
    assert!(bench.execute(enter("d", LONG)).await.is_ok());
    assert_eq!(bench.execute(enter("e", LONG)).await, Err(Rejection::NoPlace(0)));
}

/// Executes the transactions at the same time, each in a task of its own.
async fn at_once<S: Store>(
    bench: &Bench<S>,
    transactions: impl Iterator<Item = Transaction>,
) -> Vec<TransactionResult> {
    let running: Vec<_> = transactions
        .map(|transaction| {
            let store = bench.store.clone();
            tokio::spawn(async move { store.execute(vec![transaction]).await })
        })
        .collect();
    let mut results = Vec::new();
    for done in running {
        results.extend(done.await.expect("no panic").expect("the store works"));
    }
    results
}

pub async fn one_of_many_writers_wins<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    for round in 0..10 {
        let name = format!("round {round}");
        let put = |value: u8| {
            let put = StoreOperation::put(&*name, [value], LONG, Condition::Absent);
            bench.transaction().then(put).then(StoreOperation::append(&*name, [value], LONG, 99))
        };
        let results = at_once(&bench, (0..20).map(put)).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        let (events, _) = bench.events(&name, 0, 99).await;
        assert_eq!(events.len(), 1);
        assert_eq!(bench.value(&name).await.as_ref(), Some(&events[0].value));
    }
}

pub async fn a_dropped_future_leaves_the_store_usable<S: Store>(store: Arc<S>) {
    let bench = Bench::on(store).await;
    for round in 0..20_u64 {
        let both = bench
            .transaction()
            .then(StoreOperation::put("a", round.to_le_bytes(), LONG, Condition::Any))
            .then(StoreOperation::put("b", round.to_le_bytes(), LONG, Condition::Any));
        let limit = Duration::from_micros(round * 50);
        let _ = tokio::time::timeout(limit, bench.store.execute(vec![both])).await;
        let read =
            bench.transaction().then(StoreOperation::get("a")).then(StoreOperation::get("b"));
        let outputs = bench.execute(read).await.expect("nothing is rejected");
        let value = |output: &Output| match output {
            Output::Record(record) => record.as_ref().map(|record| record.value.clone()),
            other => panic!("a record, not {other:?}"),
        };
        assert_eq!(value(&outputs[0]), value(&outputs[1]), "applied as a whole or not at all");
    }
    bench.put("a", b"end", LONG).await;
    assert_eq!(bench.value("a").await.as_deref(), Some(&b"end"[..]));
}
