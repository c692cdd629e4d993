//! Behaviour that every task store guarantees.

use mcp_runtime::tasks::{MemoryTasks, TaskRecord, TaskStore};
#[cfg(feature = "sqlite")]
use proptest::prelude::*;

/// Runs each test on every store. `make` creates a store with a bound on the number of tasks and a bound on their bytes.
macro_rules! every_store {
    ($(async fn $name:ident($make:ident) $body:block)*) => {$(
        async fn $name($make: impl Fn(usize, usize) -> Box<dyn TaskStore>) $body

        mod $name {
            #[tokio::test]
            async fn in_memory() {
                super::$name(super::in_memory).await;
            }

            #[cfg(feature = "sqlite")]
            #[tokio::test]
            async fn in_sqlite() {
                let folder = super::sqlite::Folder::default();
                super::$name(|most, bytes| folder.store(most, bytes)).await;
            }
        }
    )*};
}

fn in_memory(most: usize, bytes: usize) -> Box<dyn TaskStore> {
    Box::new(MemoryTasks::new().most(most).bytes(bytes))
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::{
        env, fs,
        path::PathBuf,
        process,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use mcp_runtime::tasks::SqliteStore;

    use super::*;

    /// A folder of database files, which is deleted when the test ends.
    pub(super) struct Folder(PathBuf, AtomicUsize);

    impl Default for Folder {
        fn default() -> Self {
            static FOLDERS: AtomicUsize = AtomicUsize::new(0);
            let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("mcp-stores-{}-{number}", process::id()));
            fs::create_dir_all(&path).expect("a folder");
            Self(path, AtomicUsize::new(0))
        }
    }

    impl Folder {
        pub(super) fn store(&self, most: usize, bytes: usize) -> Box<dyn TaskStore> {
            let path = self.0.join(format!("{}.db", self.1.fetch_add(1, Ordering::Relaxed)));
            Box::new(SqliteStore::new(path).most(most).bytes(bytes))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

const ROOM: usize = 1 << 20;

fn task(id: &str, owner: &str, created: u64) -> TaskRecord {
    TaskRecord {
        id: id.to_owned(),
        owner: owner.to_owned(),
        created,
        expires: None,
        finished: false,
        json: format!(r#"{{"of":"{id}"}}"#),
        end: String::new(),
    }
}

fn finished(id: &str, owner: &str, created: u64) -> TaskRecord {
    TaskRecord { finished: true, end: format!("\"{id}\""), ..task(id, owner, created) }
}

fn now() -> u64 {
    crate::support::since_1970().as_millis().try_into().unwrap()
}

async fn ids(store: &dyn TaskStore, owner: &str) -> Vec<String> {
    let found = store.list(owner, None, ROOM).await.unwrap();
    found.into_iter().map(|task| task.id).collect()
}

async fn put_all(store: &dyn TaskStore, tasks: impl IntoIterator<Item = TaskRecord>) {
    for task in tasks {
        store.put(task).await.unwrap();
    }
}

async fn check_no_room(store: &dyn TaskStore, task: TaskRecord) {
    let error = store.put(task).await.unwrap_err();
    assert!(error.to_string().contains("no room"), "{error}");
}

every_store! {
    async fn a_stored_task_is_found(make) {
        let store = make(10, ROOM);
        let plain = task("a", "", 0);
        let odd = TaskRecord {
            expires: Some(i64::MAX as u64),
            created: i64::MAX as u64,
            json: "{\"text\":\"' \\\" ; -- \u{1F980}\\u0000\"}".to_owned(),
            ..finished("b'\u{0}ü", "o'\u{0}wner", 0)
        };
        put_all(&*store, [plain.clone(), odd.clone()]).await;
        for kept in [plain, odd] {
            assert_eq!(store.get(&kept.id).await.unwrap().as_ref(), Some(&kept));
            let head = TaskRecord { end: String::new(), ..kept };
            let owner = head.owner.clone();
            assert_eq!(store.list(&owner, None, 10).await.unwrap(), [head]);
        }
        assert_eq!(store.get("A").await.unwrap(), None);
        assert_eq!(store.get("").await.unwrap(), None);
    }

    async fn a_task_is_replaced_as_a_whole(make) {
        let store = make(10, ROOM);
        put_all(&*store, [task("a", "x", 5), task("b", "x", 6)]).await;
        let ended = TaskRecord { expires: Some(now() + 60_000), ..finished("a", "y", 7) };
        store.put(ended.clone()).await.unwrap();
        assert_eq!(store.get("a").await.unwrap(), Some(ended));
        assert_eq!(ids(&*store, "x").await, ["b"]);
        assert_eq!(ids(&*store, "y").await, ["a"]);
        let left = store.unfinished().await.unwrap();
        assert_eq!(left.iter().map(|task| &*task.id).collect::<Vec<_>>(), ["b"]);
    }

    async fn a_list_has_an_order_and_pages(make) {
        let store = make(100, ROOM);
        // Sorted by time, then by the bytes of the id.
        let order = [("z", 1), ("B", 2), ("a", 2), ("a1", 2), ("ä", 2), ("a", 10)];
        let name = |(id, created): &(&str, u64)| format!("{id}-{created}");
        for at in [3, 0, 5, 2, 4, 1] {
            let (id, created) = order[at];
            let task = TaskRecord { id: name(&order[at]), ..task(id, "me", created) };
            put_all(&*store, [task]).await;
        }
        let order: Vec<_> = order.iter().map(name).collect();
        assert_eq!(ids(&*store, "me").await, order);
        for page in 1..=order.len() + 1 {
            let (mut seen, mut last) = (Vec::new(), None::<TaskRecord>);
            loop {
                let after = last.as_ref().map(TaskRecord::place);
                let found = store.list("me", after, page).await.unwrap();
                assert!(found.len() <= page);
                seen.extend(found.iter().map(|task| task.id.clone()));
                match found.last() {
                    Some(task) => last = Some(task.clone()),
                    None => break,
                }
            }
            assert_eq!(seen, order, "pages of {page}");
        }
        // A list can begin after a position at which there is no task.
        let found = store.list("me", Some((2, "a-3")), 2).await.unwrap();
        assert_eq!(found.iter().map(|task| &*task.id).collect::<Vec<_>>(), order[3..5]);
        assert_eq!(store.list("me", Some((u64::MAX, "")), 2).await.unwrap(), []);
        assert_eq!(store.list("me", None, 0).await.unwrap(), []);
        assert_eq!(store.list("me", Some((0, "")), 1).await.unwrap().len(), 1);
    }

    async fn owners_see_only_their_own_tasks(make) {
        let store = make(10, ROOM);
        let owners = ["", "al", "alice", "al\u{0}", "Al"];
        for owner in owners {
            put_all(&*store, [task(&format!("1 {owner}"), owner, 1), task(&format!("2 {owner}"), owner, 2)]).await;
        }
        for owner in owners {
            assert_eq!(ids(&*store, owner).await, [format!("1 {owner}"), format!("2 {owner}")]);
        }
        assert_eq!(ids(&*store, "bob").await, [""; 0]);
        assert_eq!(store.unfinished().await.unwrap().len(), 10);
    }

    async fn an_expired_task_is_evicted_for_any_owner(make) {
        let store = make(4, ROOM);
        let expires = |expires, task| TaskRecord { expires: Some(expires), ..task };
        put_all(&*store, [
            expires(1, finished("a", "x", 1)),
            expires(now() - 1, task("b", "x", 2)),
            expires(now() + 60_000, finished("c", "x", 3)),
            finished("d", "x", 4),
        ]).await;
        put_all(&*store, [task("e", "y", 5), task("f", "y", 6)]).await;
        assert_eq!(ids(&*store, "x").await, ["c", "d"]);
        check_no_room(&*store, task("g", "y", 7)).await;
        assert_eq!(ids(&*store, "x").await, ["c", "d"]);
    }

    async fn a_task_that_expires_while_it_is_stored_is_found(make) {
        let store = make(1, ROOM);
        let late = TaskRecord { expires: Some(1), ..finished("a", "x", 1) };
        store.put(late.clone()).await.unwrap();
        assert_eq!(store.get("a").await.unwrap(), Some(late));
    }

    async fn the_oldest_finished_task_is_evicted_for_its_owner(make) {
        let store = make(5, ROOM);
        put_all(&*store, [
            finished("foreign", "y", 0),
            task("running", "x", 1),
            finished("third", "x", 4),
            finished("first", "x", 2),
            finished("second", "x", 3),
        ]).await;
        put_all(&*store, [task("new", "x", 5)]).await;
        assert_eq!(ids(&*store, "x").await, ["running", "second", "third", "new"]);
        put_all(&*store, [task("newer", "x", 6), task("newest", "x", 7)]).await;
        assert_eq!(ids(&*store, "x").await, ["running", "new", "newer", "newest"]);
        check_no_room(&*store, task("a", "x", 8)).await;
        check_no_room(&*store, task("a", "z", 8)).await;
        assert_eq!(store.get("a").await.unwrap(), None);
        // A task that is in the store can still end.
        put_all(&*store, [finished("running", "x", 1)]).await;
        assert_eq!(ids(&*store, "y").await, ["foreign"]);
    }

    async fn the_size_of_tasks_is_limited_too(make) {
        let store = make(100, 1000);
        let sized = |size, task| TaskRecord { json: format!("\"{}\"", "x".repeat(size)), ..task };
        put_all(&*store, [sized(300, finished("a", "x", 1)), sized(300, finished("b", "x", 2))]).await;
        put_all(&*store, [sized(500, task("c", "x", 3))]).await;
        assert_eq!(ids(&*store, "x").await, ["b", "c"]);
        // A task that gets smaller or is evicted frees space for other tasks.
        put_all(&*store, [sized(10, finished("c", "x", 3)), sized(500, task("d", "x", 4))]).await;
        assert_eq!(ids(&*store, "x").await, ["b", "c", "d"]);
        check_no_room(&*store, sized(990, task("e", "y", 5))).await;
        assert_eq!(ids(&*store, "x").await, ["b", "c", "d"]);
    }

    async fn a_rejected_task_changes_nothing(make) {
        let store = make(100, 1000);
        put_all(&*store, [finished("a", "x", 1), finished("b", "x", 2), task("c", "x", 3)]).await;
        let before = store.list("x", None, 10).await.unwrap();
        let large = |task| TaskRecord { json: "x".repeat(1001), ..task };
        check_no_room(&*store, large(task("d", "x", 4))).await;
        check_no_room(&*store, large(finished("c", "x", 3))).await;
        assert_eq!(store.list("x", None, 10).await.unwrap(), before);
        assert_eq!(store.unfinished().await.unwrap().len(), 1);
    }
}

#[cfg(feature = "sqlite")]
fn any_task() -> impl Strategy<Value = TaskRecord> {
    let json = (0..60_usize).prop_map(|length| "x".repeat(length));
    (0..12_u8, 0..3_u8, 0..6_u64, any::<bool>(), json).prop_map(
        |(id, owner, created, finished, json)| TaskRecord {
            json,
            finished,
            ..task(&format!("id {id}"), &format!("owner {owner}"), created)
        },
    )
}

#[cfg(feature = "sqlite")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Within any bounds, the two stores reject, evict and list the same tasks.
    #[test]
    fn both_stores_do_the_same(
        tasks in proptest::collection::vec(any_task(), 1..30),
        most in 1..10_usize,
        bytes in 50..400_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = sqlite::Folder::default();
            let (memory, sqlite) = (in_memory(most, bytes), folder.store(most, bytes));
            for task in tasks {
                let put = [memory.put(task.clone()).await, sqlite.put(task).await];
                prop_assert_eq!(put[0].is_ok(), put[1].is_ok());
                for owner in ["owner 0", "owner 1", "owner 2"] {
                    let lists = [memory.list(owner, None, 99).await, sqlite.list(owner, None, 99).await];
                    let [a, b] = lists.map(Result::unwrap);
                    prop_assert_eq!(a, b);
                }
            }
            let mut left = [memory.unfinished().await.unwrap(), sqlite.unfinished().await.unwrap()];
            left.iter_mut().for_each(|tasks| tasks.sort_by(|a, b| a.id.cmp(&b.id)));
            prop_assert_eq!(&left[0], &left[1]);
            Ok(())
        })?;
    }
}
