use mcp_runtime::prelude::*;

#[resource("note://1", mime_type = "text/plain")]
fn note() -> &'static str {
    "inside"
}

#[resource("note://bytes", mime_type = "application/x-note")]
fn bytes() -> Blob {
    Blob::new([0, 255, 16])
}

/// A folder with several contents.
#[resource("note://all")]
fn all() -> Vec<ResourceContents> {
    vec![
        ResourceContents::text("note://1", "inside").meta(Meta::new().with("example.com/n", 1)),
        ResourceContents::blob("note://bytes", [0]).mime_type("application/x-note"),
    ]
}

#[resource("note://count", subscribe)]
fn count() -> Json<u32> {
    Json(3)
}

#[resource("note://gone")]
fn gone() -> Option<String> {
    None
}

#[resource("note://broken")]
fn broken() -> Result<String> {
    Err(Error::internal("disk on fire"))
}

#[resource("users://{id}/profile")]
fn profile(id: u64) -> String {
    format!("user {id}")
}

#[resource("files://{+path}")]
fn file(path: &str) -> String {
    format!("file {path}")
}

#[resource("search://notes{?term,page}")]
fn search(term: Option<String>, page: Option<u8>) -> String {
    format!("{} on page {}", term.as_deref().unwrap_or("anything"), page.unwrap_or(1))
}

#[resource("tree://root{/segments*}")]
fn tree(segments: &str) -> String {
    segments.replace('/', " > ")
}

#[resource("image://photo{.format}")]
fn photo(#[complete("png", "jpeg")] format: &str) -> String {
    format!("a {format}")
}
