//! A process whose subscriber lacks `client_log()`, so that no client gets log messages.

#![forbid(unsafe_code)]
#![cfg(feature = "client-log")]

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use mcp_runtime::{
    logging::Level,
    prelude::*,
    testing::{Revision, TestClient},
};
use serde_json::json;
use tracing_subscriber::{
    layer::{Context as LayerContext, Layer},
    prelude::*,
};

/// Layer that collects the events of this process.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: LayerContext<'_, S>) {
        let mut text = self.0.lock().unwrap();
        let _ = write!(text, "{}", event.metadata().level());
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            let _ = write!(text, " {field}={value:?}");
        });
        text.push('\n');
    }
}

/// Says hello.
#[tool]
fn hello() -> &'static str {
    "hello"
}

#[tokio::test]
async fn the_first_client_that_asks_in_vain_for_log_messages_is_reported() {
    let lines = Lines::default();
    let _default = tracing_subscriber::registry().with(lines.clone()).set_default();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28, Revision::V2025_11_25] {
        let mut client = TestClient::connect_with(mcp_runtime::server!(), revision).await.unwrap();
        let is_refused = client.log_from(Level::Info).await.is_err();
        assert_eq!(is_refused, revision == Revision::V2025_11_25);
        assert_eq!(client.call("hello", json!({})).await.unwrap().text(), "hello");
    }
    let text = lines.0.lock().unwrap();
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("WARN")).collect();
    let fix = "add the layer `mcp_runtime::logging::client_log()`";
    assert!(warnings.len() == 1 && warnings[0].contains(fix), "{warnings:?}");
}
