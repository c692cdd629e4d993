//! A shopping list, served by several nodes behind a load balancer.
//!
//! `bash examples/cluster/run.sh` starts three nodes, a Redis and nginx. Each node gets the address of the Redis from the environment
//! variable `MCP_REDIS_URL`. Without this variable, `cargo run -p example-cluster` is a single server, which keeps the list in memory.
//!
//! A server with no data of its own needs no function `store`: it writes `use mcp_runtime_redis as _;`, and the runtime reads the variable.

use std::{env, process, sync::Arc, time::Duration};

use mcp_runtime::{
    prelude::*,
    store::{MemoryStore, Output, Store, StoreOperation, Transaction},
};
use mcp_runtime_redis::Redis;

const URI: &str = "list://items";

/// Time after which a list without changes is forgotten.
const TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// Maximum number of items. A longer list loses its oldest items.
const MOST: usize = 1000;

/// The list, in the store that all nodes share. The server itself uses the store, too.
struct ShoppingList(Arc<dyn Store>);

#[handlers]
impl ShoppingList {
    /// Adds an item to the shopping list.
    #[tool(destructive = false, open_world = false)]
    async fn add(
        &self,
        server: Handle,
        /// Article to buy
        #[arg(len(1..=100))]
        item: &str,
    ) -> Result<String> {
        self.execute(StoreOperation::append("items", item, TTL, MOST)).await?;
        // Each node tells its own subscribers.
        server.updated(URI);
        Ok(format!("Added by process {}.", process::id()))
    }

    /// Removes all items from the shopping list.
    #[tool(open_world = false)]
    async fn clear(&self, server: Handle) -> Result<()> {
        self.execute(StoreOperation::Clear { log: "items".to_owned() }).await?;
        server.updated(URI);
        Ok(())
    }

    /// The shopping list, with an item on each line.
    #[resource("list://items", subscribe)]
    async fn items(&self) -> Result<String> {
        let output = self.execute(StoreOperation::read("items", 0, MOST)).await?;
        let Output::Events { events, .. } = output else { return Ok(String::new()) };
        let lines = events.iter().map(|event| String::from_utf8_lossy(&event.value));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Executes an operation. The server has partitions of its own in the store, and none of them begins with `app:`.
    async fn execute(&self, operation: StoreOperation) -> Result<Output> {
        let transaction = Transaction::on("app:list").then(operation);
        let results = self.0.execute(vec![transaction]).await.map_err(|why| {
            Error::msg(format!("the list is not available now, so try again later: {why}"))
        })?;
        let outputs = results.into_iter().next().and_then(std::result::Result::ok);
        let output = outputs.and_then(|outputs| outputs.into_iter().next());
        output.ok_or_else(|| Error::internal("the store has rejected a transaction"))
    }
}

/// Returns the process id of the node that runs the call.
#[tool(read_only, open_world = false)]
fn node() -> u32 {
    process::id()
}

fn store() -> Arc<dyn Store> {
    match env::var("MCP_REDIS_URL") {
        Ok(url) if !url.is_empty() => Arc::new(Redis::new(url).prefix("cluster:")),
        _ => Arc::new(MemoryStore::new()),
    }
}

fn main() -> Exit {
    let store = store();
    server!().state(ShoppingList(store.clone())).store(store).run()
}
