//! Resources: text, bytes, a template, and a resource that clients can subscribe to.

use mcp_runtime::prelude::*;

use crate::content::PNG;

/// A text that never changes.
#[resource("test://static-text", mime_type = "text/plain", cache(public, ttl = "1h"))]
fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture that never changes.
#[resource("test://static-binary", mime_type = "image/png", cache(public, ttl = "1h"))]
fn static_binary() -> Image {
    Image::base64("image/png", PNG)
}

/// Contents of the template for one id.
#[data]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}

/// Data for any id.
#[resource("test://template/{id}/data", mime_type = "application/json")]
fn template_data(id: String) -> Json<Data> {
    Json(Data { template_test: true, data: format!("Data for ID: {id}"), id })
}

/// A resource to subscribe to; `touch_watched_resource` says that it has changed.
#[resource("test://watched-resource", mime_type = "text/plain", subscribe)]
fn watched_resource() -> &'static str {
    "Watched resource content."
}
