//! State of a server: values that `state` and `setup` provide to handlers, and `on_shutdown`, which runs when the server stops.

use std::sync::{Arc, Mutex};

use mcp_runtime::{ServeError, items, prelude::*, server, testing::TestClient};
use serde_json::json;

use crate::support::{both_eras, connect, problems, said};

struct Db(u32);

struct Cache(String);

type Diary = Arc<Mutex<Vec<&'static str>>>;

#[tool]
fn both(db: &Db, cache: State<Cache>) -> String {
    format!("{} {}", db.0, cache.0)
}

both_eras! {
    async fn setup_makes_state_before_the_first_message(revision) {
        let diary = Diary::default();
        let (first, second, last) = (diary.clone(), diary.clone(), diary.clone());
        let server = server!()
            .items(items![both])
            .setup(async move || {
                tokio::task::yield_now().await;
                first.lock().unwrap().push("first");
                Ok::<_, std::io::Error>(Db(7))
            })
            .setup(async move || {
                second.lock().unwrap().push("second");
                Ok::<_, String>(Cache("c".to_owned()))
            })
            .on_shutdown(async move |ctx| {
                tokio::task::yield_now().await;
                assert_eq!(ctx.state::<Db>().map(|db| db.0), Some(7));
                last.lock().unwrap().push("shutdown");
            });
        let mut client = connect(server, revision).await;
        assert_eq!(*diary.lock().unwrap(), ["first", "second"]);
        assert_eq!(said(&mut client, "both", json!({})).await, "7 c");
        client.close().await;
        assert_eq!(*diary.lock().unwrap(), ["first", "second", "shutdown"]);
    }

    async fn a_handle_finds_the_state_while_the_server_runs(revision) {
        let (send, handle) = tokio::sync::oneshot::channel();
        let server = server!()
            .items(items![both])
            .state(Cache("c".to_owned()))
            .setup(async |handle: Handle| {
                assert_eq!(handle.state::<Cache>().unwrap().0, "c");
                assert!(handle.state::<Db>().is_none());
                Ok::<_, Error>(Db(7))
            })
            .setup(async move |handle: Handle| {
                assert_eq!(handle.state::<Db>().unwrap().0, 7);
                assert!(handle.state::<u8>().is_none());
                let _ = send.send(handle);
                Ok::<_, Error>(0_u8)
            });
        let mut client = connect(server, revision).await;
        let handle = handle.await.unwrap();
        assert_eq!(handle.state::<u8>().map(|state| *state), Some(0));
        assert_eq!(said(&mut client, "both", json!({})).await, "7 c");
        client.close().await;
        assert!(handle.state::<Db>().is_none());
    }

    async fn a_failing_setup_stops_the_server(revision) {
        let diary = Diary::default();
        let (never, later) = (diary.clone(), diary.clone());
        let server = server!()
            .items(items![both])
            .state(Cache(String::new()))
            .setup(async || Err::<Db, _>(Error::msg("the database is away")))
            .setup(async move || {
                later.lock().unwrap().push("second");
                Ok::<_, String>(0_u8)
            })
            .on_shutdown(async move |_| never.lock().unwrap().push("shutdown"));
        let error = TestClient::connect_with(server, revision).await.unwrap_err();
        assert!(matches!(&error, ServeError::Setup(text) if text == "the database is away"), "{error:?}");
        assert_eq!(error.to_string(), "setup failed: the database is away");
        assert_eq!(*diary.lock().unwrap(), [] as [&str; 0]);
    }
}

#[test]
fn two_states_of_one_type_stop_the_server() {
    let server = server!().items(items![both]).state(Db(1)).state(Cache(String::new()));
    let problems = problems(server.setup(async || Ok::<_, String>(Db(2))));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0]
            .contains(": there are two states of type `behaviour::state::Db`, the other at "),
        "{problems:?}"
    );
}

/// `()` is the result of a `setup` that makes no state, and no state itself.
#[tokio::test]
async fn several_setups_without_state_all_run() {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let (first, second) = (runs.clone(), runs.clone());
    let server = server!()
        .items(items![idle])
        .state(Arc::new(()))
        .setup(async move || {
            first.lock().unwrap().push(1);
            Ok::<_, Error>(())
        })
        .setup(async move |_: Handle| {
            second.lock().unwrap().push(2);
            Ok::<_, Error>(())
        });
    TestClient::connect(server).await.unwrap();
    assert_eq!(*runs.lock().unwrap(), [1, 2]);
}

#[tokio::test]
async fn state_is_dropped_with_the_server() {
    let watched = Arc::new(());
    let client =
        TestClient::connect(server!().items(items![idle]).state(watched.clone())).await.unwrap();
    assert_eq!(Arc::strong_count(&watched), 2);
    client.close().await;
    assert_eq!(Arc::strong_count(&watched), 1);
}

#[tool]
fn idle(_shared: &Arc<()>) {}

/// Errors of the server's start and of the test client work with `?` in functions of both return types.
/// State that contains the handle of its server.
struct Holder {
    _handle: Handle,
    _held: Arc<()>,
}

#[tool]
fn holding(_holder: &Holder) {}

#[tokio::test]
async fn state_that_holds_the_handle_is_dropped_with_the_server() {
    let held = Arc::new(());
    let weak = Arc::downgrade(&held);
    let server = server!()
        .items(items![holding])
        .setup(async move |handle: Handle| Ok::<_, Error>(Holder { _handle: handle, _held: held }));
    let client = TestClient::connect(server).await.unwrap();
    assert!(weak.upgrade().is_some());
    client.close().await;
    assert!(weak.upgrade().is_none());
}

#[tokio::test]
async fn errors_pass_through_question_marks() -> Result<(), Box<dyn std::error::Error>> {
    async fn ours() -> mcp_runtime::Result<String> {
        let mut client =
            TestClient::connect(server!().items(items![idle]).state(Arc::new(()))).await?;
        Ok(client.call("idle", json!({})).await?.text())
    }
    assert_eq!(ours().await.map_err(|error| error.to_string())?, "Done.");
    let mut client = TestClient::connect(server!().items(items![idle]).state(Arc::new(()))).await?;
    client.call("idle", json!({})).await?;
    Ok(())
}
