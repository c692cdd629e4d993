use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use rusqlite::Connection;

use super::SqliteStore;
use crate::storage::{
    Condition, Output, Record, Store as _, StoreError, StoreOperation, Transaction,
};

/// Folder that is deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("mcp-store-{}-{number}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("tasks.db")
    }

    /// Runs SQL on the file through a separate connection, as a different program could.
    fn database(&self, sql: &str) {
        Connection::open(self.file()).unwrap().execute_batch(sql).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn open(path: &Path) -> Result<SqliteStore, String> {
    open_within(path, Duration::from_secs(60)).await
}

/// Opens the file, but waits only 20 milliseconds for a different server to release it.
async fn open_at_once(path: &Path) -> Result<SqliteStore, String> {
    open_within(path, Duration::from_millis(20)).await
}

async fn open_within(path: &Path, wait: Duration) -> Result<SqliteStore, String> {
    let store = SqliteStore::waiting(path, wait);
    store.open().await.map_err(|why| why.to_string())?;
    Ok(store)
}

/// Checks that the file is refused and not changed, and that the error names the file and contains `says`.
async fn check_refused(path: &Path, says: &str) {
    let before = fs::read(path).ok();
    let why = open(path).await.unwrap_err();
    let named = format!("cannot keep anything in `{}`: ", path.display());
    assert!(why.starts_with(&named) && why.contains(says), "{why}");
    assert!(fs::read(path).ok() == before, "the file has been written to");
}

/// Time to live of the records of these tests.
const LONG: Duration = Duration::from_secs(600);

async fn put(store: &SqliteStore, name: &str, value: impl Into<Vec<u8>>) -> Result<(), StoreError> {
    let put = StoreOperation::put(name, value, LONG, Condition::Any);
    store.execute(vec![Transaction::on("p").then(put)]).await.map(drop)
}

async fn get(store: &SqliteStore, name: &str) -> Option<Record> {
    let get = Transaction::on("p").then(StoreOperation::get(name));
    let mut results = store.execute(vec![get]).await.unwrap();
    match results.remove(0).unwrap().remove(0) {
        Output::Record(record) => record,
        other => panic!("a record, not {other:?}"),
    }
}

#[tokio::test]
async fn everything_is_there_when_the_file_is_opened_again() {
    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    let all = Transaction::on("p")
        .then(StoreOperation::put("a", vec![7; 700_000], LONG, Condition::Any))
        .then(StoreOperation::append("log", *b"x", LONG, 9))
        .then(StoreOperation::enlist("index", "a", 1, LONG))
        .then(StoreOperation::Pass { rate: "r".to_owned(), interval: LONG, slack: Duration::ZERO })
        .then(StoreOperation::Enter {
            places: "s".to_owned(),
            holder: "h".to_owned(),
            most: 1,
            lease: LONG,
        });
    store.execute(vec![all]).await.unwrap().remove(0).unwrap();
    let version = get(&store, "a").await.unwrap().version;
    drop(store);
    let store = open(&folder.file()).await.unwrap().bytes(1_000_000);
    assert_eq!(get(&store, "a").await, Some(Record { value: vec![7; 700_000], version }));
    let look = Transaction::on("p")
        .then(StoreOperation::read("log", 0, 9))
        .then(StoreOperation::list("index", None, 9));
    let outputs = store.execute(vec![look]).await.unwrap().remove(0).unwrap();
    assert!(matches!(&outputs[0], Output::Events { events, .. } if events.len() == 1));
    assert!(matches!(&outputs[1], Output::Entries(entries) if entries.len() == 1));
    let rejected = [
        StoreOperation::Pass { rate: "r".to_owned(), interval: LONG, slack: Duration::ZERO },
        StoreOperation::Enter {
            places: "s".to_owned(),
            holder: "i".to_owned(),
            most: 1,
            lease: LONG,
        },
    ];
    for operation in rejected {
        let results = store.execute(vec![Transaction::on("p").then(operation)]).await.unwrap();
        assert!(results[0].is_err(), "{results:?}");
    }
    let why = put(&store, "b", vec![7; 700_000]).await.unwrap_err();
    assert!(why.is_full() && why.to_string().contains("`SqliteStore::bytes`"), "{why}");
}

#[tokio::test]
async fn a_file_has_one_server() {
    let folder = Folder::new();
    let first = open(&folder.file()).await.unwrap();
    let why = open_at_once(&folder.file()).await.unwrap_err();
    assert!(why.contains("tasks.db") && why.contains("a file of its own"), "{why}");
    // No other connection can even read the file.
    let look = Connection::open(folder.file()).unwrap();
    look.busy_timeout(Duration::ZERO).unwrap();
    assert!(look.query_row("SELECT count(*) FROM record", [], |_| Ok(())).is_err());
    drop((look, first));
    drop(open(&folder.file()).await.unwrap());
    // A connection that has read the file also prevents a server from opening it.
    let look = Connection::open(folder.file()).unwrap();
    look.query_row("SELECT count(*) FROM record", [], |_| Ok(())).unwrap();
    assert!(open_at_once(&folder.file()).await.is_err());
}

/// Checks that the search for the cause of an error does not open and close the file, which would release the server's lock on the file.
/// Only a different process can observe the lock, so the test runs itself again in a second process.
#[tokio::test]
async fn an_error_while_the_file_is_in_use_leaves_it_locked() {
    const TEST: &str = "sqlite::tests::an_error_while_the_file_is_in_use_leaves_it_locked";
    const FILE: &str = "MCP_STORE_TEST_LOCKED";

    if let Some(file) = env::var_os(FILE) {
        let why = open_at_once(Path::new(&file)).await.unwrap_err();
        assert!(why.contains("a file of its own"), "{why}");
        return;
    }
    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    let broken = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR);
    let failed =
        store.with_connection(move |_| Err::<(), _>(rusqlite::Error::SqliteFailure(broken, None)));
    let why = failed.await.unwrap_err();
    assert!(why.to_string().contains("tasks.db"), "{why:?}");
    let mut other = process::Command::new(env::current_exe().unwrap());
    let output = other.args(["--exact", TEST]).env(FILE, folder.file()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    drop(store);
}

#[tokio::test]
async fn a_server_waits_for_the_one_before_it() {
    let folder = Folder::new();
    let first = open(&folder.file()).await.unwrap();
    let file = folder.file();
    let next = tokio::spawn(async move { open(&file).await });
    for _ in 0..3 {
        assert!(open_at_once(&folder.file()).await.is_err());
    }
    assert!(!next.is_finished(), "the file still has a server");
    drop(first);
    next.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_file_of_another_format_is_refused() {
    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    put(&store, "a", "1").await.unwrap();
    drop(store);
    folder.database("PRAGMA user_version = 1");
    check_refused(&folder.file(), "in format 1, and this version knows only format 2").await;
    folder.database("PRAGMA user_version = 2");
    let store = open(&folder.file()).await.unwrap();
    assert!(get(&store, "a").await.is_some());
}

#[tokio::test]
async fn a_database_of_something_else_is_refused() {
    for of in [
        "CREATE TABLE task (id TEXT)",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 1",
        "PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT)",
    ] {
        let folder = Folder::new();
        folder.database(of);
        check_refused(&folder.file(), "a database of another application").await;
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = Folder::new();
    for text in ["ab", "Notes\n=====\n", &"garbage ".repeat(10_000)] {
        fs::write(folder.file(), text).unwrap();
        check_refused(&folder.file(), "it is not a SQLite database").await;
    }
}

#[tokio::test]
async fn a_damaged_file_is_refused() {
    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    for id in 0..300 {
        put(&store, &id.to_string(), [7; 1000]).await.unwrap();
    }
    drop(store);
    let mut bytes = fs::read(folder.file()).unwrap();
    bytes[4096..].fill(0xA5);
    fs::write(folder.file(), &bytes).unwrap();
    check_refused(&folder.file(), "malformed").await;
    // The file is cut off, like an unfinished copy.
    bytes.truncate(100);
    fs::write(folder.file(), &bytes).unwrap();
    check_refused(&folder.file(), "").await;
}

#[tokio::test]
async fn an_empty_file_is_a_new_one() {
    let folder = Folder::new();
    fs::write(folder.file(), "").unwrap();
    open(&folder.file()).await.unwrap();
}

#[tokio::test]
async fn a_path_that_cannot_be_a_file_is_refused() {
    let folder = Folder::new();
    check_refused(&folder.0, "it is a directory: name a file in it").await;
    let missing = folder.0.join("none");
    let says = format!("the directory `{}` does not exist: create it", missing.display());
    check_refused(&missing.join("tasks.db"), &says).await;
    fs::write(folder.0.join("notes"), "").unwrap();
    check_refused(&folder.0.join("notes").join("tasks.db"), "notes` is not a directory").await;
    check_refused(Path::new(""), "name a file in a directory").await;
    check_refused(Path::new("a\0b"), "name a file in a directory").await;
    check_refused(Path::new(":memory:"), "`MemoryStore`").await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_socket_is_no_file() {
    let folder = Folder::new();
    let _socket = std::os::unix::net::UnixListener::bind(folder.file()).unwrap();
    check_refused(&folder.file(), "it is a device, a socket or a pipe: name a file").await;
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_is_named() {
    for journal in ["tasks.db-journal", "tasks.db-wal"] {
        let folder = Folder::new();
        drop(open(&folder.file()).await.unwrap());
        if journal == "tasks.db-journal" {
            folder.database("PRAGMA journal_mode = DELETE");
        }
        fs::create_dir(folder.0.join(journal)).unwrap();
        let says =
            format!("its journal `{}` cannot be written (", folder.0.join(journal).display());
        check_refused(&folder.file(), &says).await;
    }
}

/// The superuser may write to read-only directories, so under the superuser the test runs itself again as an unprivileged user.
#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_takes_no_files_is_named() {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};

    const NOBODY: u32 = 65_534;
    const TEST: &str = "sqlite::tests::a_directory_that_takes_no_files_is_named";
    const AGAIN: &str = "MCP_STORE_TEST_UNPRIVILEGED";

    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = Folder::new();
    let new = folder.0.join("new.db");
    set_mode(&folder.0, 0o555);
    if fs::write(folder.0.join("probe"), "").is_ok() {
        assert!(
            env::var_os(AGAIN).is_none(),
            "an unprivileged user writes to a read-only directory"
        );
        let mut again = process::Command::new(env::current_exe().unwrap());
        again.args(["--exact", TEST]).env(AGAIN, "1").uid(NOBODY).current_dir("/");
        let output = again.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let says = format!("no file can be created in `{}` (Permission denied", folder.0.display());
    check_refused(&new, &says).await;
    // Checks an existing file in each journal mode of SQLite.
    for mode in ["WAL", "DELETE"] {
        set_mode(&folder.0, 0o755);
        drop(open(&folder.file()).await.unwrap());
        folder.database(&format!("PRAGMA journal_mode = {mode}"));
        set_mode(&folder.0, 0o555);
        check_refused(&folder.file(), &says).await;
    }
    set_mode(&folder.0, 0o755);
    set_mode(&folder.file(), 0o444);
    check_refused(&folder.file(), "this process may not write to it (Permission denied").await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    put(&store, "a", "1").await.unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder.0).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["tasks.db", "tasks.db-wal"]);
    drop(store);
    fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o640)).unwrap();
    let _store = open(&folder.file()).await.unwrap();
    assert_eq!(fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777, 0o640);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_of_a_record_are_applied_in_the_order_of_their_calls() {
    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    let write = |n: u8| put(&store, "a", [n]);
    for n in 0..20 {
        let (a, b, c, found) =
            tokio::join!(write(3 * n), write(3 * n + 1), write(3 * n + 2), get(&store, "a"));
        assert!(a.is_ok() && b.is_ok() && c.is_ok());
        assert_eq!(found.unwrap().value, [3 * n + 2]);
    }
}

/// A time that is too late for the integers of SQLite is stored as the latest.
#[tokio::test]
async fn times_that_are_too_late_are_the_latest() {
    let folder = Folder::new();
    let store = open(&folder.file()).await.unwrap();
    let all = Transaction::on("p")
        .then(StoreOperation::put("a", *b"1", Duration::MAX, Condition::Any))
        .then(StoreOperation::append("log", *b"x", Duration::MAX, usize::MAX))
        .then(StoreOperation::enlist("index", "a", 1, Duration::MAX))
        .then(StoreOperation::read("log", 0, usize::MAX))
        .then(StoreOperation::list("index", Some((u64::MAX, String::new())), usize::MAX));
    assert!(store.execute(vec![all]).await.unwrap()[0].is_ok());
    assert!(get(&store, "a").await.is_some());
}
