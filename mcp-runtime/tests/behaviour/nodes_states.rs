//! Calls in several rounds (protocol revision 2026-07-28) on several servers that share a store: each server continues calls that another
//! server has begun.

use mcp_runtime::{
    Builder, items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::shared_store::NodeStore;

#[form]
struct Name {
    name: String,
}

#[tool]
async fn asks(ctx: &Context, greeting: &str) -> Result<String> {
    Ok(format!("{greeting}, {}!", ctx.elicit::<Name>("name", "Name?").await?.name))
}

async fn connected(server: Builder) -> TestClient {
    let can = json!({ "elicitation": {} });
    TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap()
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": { "greeting": "Hello" } })
}

#[cfg(not(feature = "state-key"))]
mod without_the_feature {
    use super::*;
    use crate::support::problems;

    #[tool(asks(elicitation))]
    async fn declares(ctx: &Context) -> Result<String> {
        Ok(ctx.elicit::<Name>("name", "Name?").await?.name)
    }

    #[test]
    fn a_server_with_an_item_that_declares_its_questions_does_not_start() {
        let [store, _] = NodeStore::pair();
        let found = problems(server!().items(items![asks, declares]).store(store));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("cargo add mcp-runtime --features state-key"), "{found:?}");
        assert!(server!().items(items![asks, declares]).build().is_ok());
    }

    /// The client gets no details of an internal error. The state is never kept in one process, where the other servers would not find it.
    #[tokio::test]
    async fn a_question_ends_the_call() {
        let [store, _] = NodeStore::pair();
        let mut client = connected(server!().items(items![asks]).store(store)).await;
        let ongoing = client.start("tools/call", call("asks"));
        assert_eq!(client.wait(ongoing).await.unwrap_err().code, -32603);
        let mut guess = call("asks");
        guess["requestState"] = json!("AAAA");
        let ongoing = client.start("tools/call", guess);
        assert_eq!(client.wait(ongoing).await.unwrap_err().code, -32602);
    }
}

#[cfg(feature = "state-key")]
mod sealed {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    use mcp_runtime::{ServeError, testing::RpcError};

    use super::*;
    use crate::{shared_store::Line, support::pass};

    #[tool(single_use)]
    async fn pays(ctx: &Context, payments: &Arc<AtomicUsize>) -> Result<String> {
        let name: Name = ctx.elicit("name", "Who pays?").await?;
        payments.fetch_add(1, Ordering::SeqCst);
        Ok(name.name)
    }

    #[tool(single_use, concurrency = 1)]
    async fn pays_alone(ctx: &Context, payments: &Arc<AtomicUsize>) -> Result<String> {
        let name: Name = ctx.elicit("name", "Who pays?").await?;
        payments.fetch_add(1, Ordering::SeqCst);
        Ok(name.name)
    }

    fn node(store: &NodeStore, payments: &Arc<AtomicUsize>) -> Builder {
        let items = items![asks, pays, pays_alone];
        server!().items(items).state(payments.clone()).store(store.clone())
    }

    /// Returns two clients, each of its own server, and the number of payments that both servers have made.
    async fn clients(stores: &[NodeStore; 2]) -> ([TestClient; 2], Arc<AtomicUsize>) {
        let payments = Arc::default();
        let one = connected(node(&stores[0], &payments)).await;
        let other = connected(node(&stores[1], &payments)).await;
        ([one, other], payments)
    }

    async fn sent(client: &mut TestClient, params: &Value) -> Result<Value, RpcError> {
        let ongoing = client.start("tools/call", params.clone());
        client.wait(ongoing).await
    }

    /// Begins a call, and returns the parameters of the call that continues it.
    async fn begun(client: &mut TestClient, tool: &str) -> Value {
        let call = match tool {
            "asks" => call(tool),
            _ => json!({ "name": tool, "arguments": {} }),
        };
        let round = sent(client, &call).await.unwrap();
        assert_eq!(round["resultType"], "input_required", "{round}");
        let mut next = call;
        next["requestState"] = round["requestState"].clone();
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        next["inputResponses"] = json!({ "name": answer });
        next
    }

    fn check_unknown(result: Result<Value, RpcError>) {
        let error = result.unwrap_err();
        assert!(error.code == -32602 && error.message.contains("does not belong"), "{error}");
    }

    #[tokio::test]
    async fn a_call_that_one_server_has_begun_is_continued_by_another_for_the_same_call_only() {
        let stores = NodeStore::pair();
        let ([mut one, mut other], _) = clients(&stores).await;
        let next = begun(&mut one, "asks").await;
        let done = sent(&mut other, &next).await.unwrap();
        assert_eq!(done["content"][0]["text"], "Hello, Ada!");
        let mut changed = next.clone();
        changed["arguments"]["greeting"] = "Goodbye".into();
        check_unknown(sent(&mut other, &changed).await);
        // A server with another store has another key.
        let stranger = NodeStore::pair();
        let ([mut stranger, _], _) = clients(&stranger).await;
        check_unknown(sent(&mut stranger, &next).await);
    }

    #[cfg(feature = "auth")]
    #[tokio::test]
    async fn the_state_of_a_caller_is_unknown_to_another_caller_on_each_server() {
        use mcp_runtime::auth::Authorization;

        let stores = NodeStore::pair();
        let (mut clients, _) = clients(&stores).await;
        clients[0].authorization(Authorization::new("ada"));
        let next = begun(&mut clients[0], "asks").await;
        for client in &mut clients {
            client.authorization(Authorization::new("eve"));
            check_unknown(sent(client, &next).await);
            client.authorization(Authorization::new("ada"));
            assert!(sent(client, &next).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_key_of_the_author_takes_the_place_of_the_key_in_the_store() {
        let [store, _] = NodeStore::pair();
        let payments = Arc::default();
        let mut own = connected(node(&store, &payments).state_key([7; 32])).await;
        let mut shared = connected(node(&store, &payments)).await;
        let other_store = NodeStore::pair();
        let mut same = connected(node(&other_store[0], &payments).state_key([7; 32])).await;
        let next = begun(&mut own, "asks").await;
        check_unknown(sent(&mut shared, &next).await);
        assert!(sent(&mut same, &next).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_of_two_servers_uses_a_state_for_single_use() {
        let stores = NodeStore::pair();
        let ([mut one, mut other], payments) = clients(&stores).await;
        for race in 1..=1000 {
            let beginner = if race % 2 == 0 { &mut one } else { &mut other };
            let next = begun(beginner, "pays").await;
            let calls =
                (one.start("tools/call", next.clone()), other.start("tools/call", next.clone()));
            let results = [one.wait(calls.0).await, other.wait(calls.1).await];
            let won = results.iter().filter(|result| result.is_ok()).count();
            assert_eq!((won, payments.load(Ordering::SeqCst)), (1, race), "{results:?}");
            for lost in results.iter().filter_map(|result| result.as_ref().err()) {
                assert!(lost.message.contains("has been sent already"), "{lost}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_is_not_used_while_the_store_is_away() {
        let stores = NodeStore::pair();
        let ([mut one, mut other], payments) = clients(&stores).await;
        for tool in ["pays", "pays_alone"] {
            let next = begun(&mut one, tool).await;
            other_line(&stores, Line::Cut);
            let error = sent(&mut other, &next).await.unwrap_err();
            assert_eq!(error.code, -32603);
            assert!(error.message.contains("the store of the server"), "{error}");
            assert!(error.message.ends_with("is not available: try again later"), "{error}");
            // A call that asks a question needs no store if its tool is not `single_use`.
            let asks = begun(&mut other, "asks").await;
            assert!(sent(&mut other, &asks).await.is_ok());
            other_line(&stores, Line::Works);
            pass(Duration::from_secs(2)).await;
            sent(&mut other, &next).await.unwrap();
            let again = sent(&mut one, &next).await.unwrap_err();
            assert!(again.message.contains("has been sent already"), "{again}");
        }
        assert_eq!(payments.load(Ordering::SeqCst), 2);
    }

    fn other_line(stores: &[NodeStore; 2], line: Line) {
        stores[1].set(line);
    }

    /// The store may have marked the state before the answer was lost, so the client has to begin again.
    #[tokio::test(start_paused = true)]
    async fn a_state_whose_use_is_uncertain_counts_as_used() {
        let stores = NodeStore::pair();
        let ([mut one, mut other], payments) = clients(&stores).await;
        let next = begun(&mut one, "pays").await;
        stores[0].set(Line::Silent);
        let error = sent(&mut one, &next).await.unwrap_err();
        assert!(error.message.ends_with("is not available: try again later"), "{error}");
        let error = sent(&mut other, &next).await.unwrap_err();
        assert!(error.message.contains("has been sent already"), "{error}");
        assert_eq!(payments.load(Ordering::SeqCst), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn rounds_cost_one_transaction_for_single_use_and_none_otherwise() {
        let stores = NodeStore::pair();
        let ([mut one, _], _) = clients(&stores).await;
        stores[0].executed();
        let next = begun(&mut one, "asks").await;
        sent(&mut one, &next).await.unwrap();
        let next = begun(&mut one, "pays").await;
        assert_eq!(stores[0].executed(), Vec::<String>::new());
        sent(&mut one, &next).await.unwrap();
        assert_eq!(stores[0].executed(), ["put"]);
        let next = begun(&mut one, "pays_alone").await;
        assert_eq!(stores[0].executed(), ["enter", "leave"]);
        sent(&mut one, &next).await.unwrap();
        assert_eq!(stores[0].executed(), ["enter", "put", "leave"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_whose_store_is_away_does_not_start() {
        let [store, _] = NodeStore::pair();
        store.set(Line::Cut);
        let why = TestClient::connect(node(&store, &Arc::default())).await.unwrap_err();
        assert!(matches!(why, ServeError::Store(_)), "{why}");
        assert!(why.to_string().contains("no route to the host `store`"), "{why}");
    }
}
