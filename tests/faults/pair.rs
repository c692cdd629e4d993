//! Client of HTTP+SSE (protocol revision 2024-11-05): one stream, and an address to post to.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::client::{Request, Stream, message};

pub(crate) struct Pair {
    address: SocketAddr,
    pub(crate) stream: Stream,
    path: String,
}

impl Pair {
    /// Opens the stream and begins the session.
    pub(crate) async fn begin(address: SocketAddr) -> Self {
        Self::begin_at([address, address]).await
    }

    /// Opens the stream at the first node, and begins the session at the second one, to which the client posts its messages.
    pub(crate) async fn begin_at([stream, address]: [SocketAddr; 2]) -> Self {
        let stream = Request::get().to("/sse").open(stream).await;
        let mut stream = stream.check_events();
        let first = stream.event().await.expect("an event");
        assert_eq!(first.event.as_deref(), Some("endpoint"));
        let path = format!("/{}", first.data.expect("an address"));
        let mut pair = Self { address, stream, path };
        let params = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "sampling": {}, "roots": {} },
            "clientInfo": { "name": "suite", "version": "1" },
        });
        pair.post(&message("init", "initialize", params)).await;
        let initialized = pair.stream.message().await.expect("an answer");
        assert_eq!(initialized["result"]["protocolVersion"], "2024-11-05", "{initialized}");
        pair.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        pair
    }

    /// Posts a message and checks that it is accepted. The answer comes on the stream.
    pub(crate) async fn post(&self, message: &Value) {
        assert_eq!(self.try_post(message).await, 202);
    }

    /// Posts a message, and returns the status.
    pub(crate) async fn try_post(&self, message: &Value) -> u16 {
        self.request(message).ask(self.address).await.status()
    }

    pub(crate) fn request(&self, message: &Value) -> Request {
        Request::post(message.to_string()).to(&self.path)
    }
}
