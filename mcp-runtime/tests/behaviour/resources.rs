//! Resources and templates: reading, matching, and URIs without a resource.

use std::{borrow::Cow, fmt, str::FromStr};

use mcp_runtime::{
    Variables, content::ResourceContents, items, prelude::*, server, testing::Revision,
};
use serde_json::json;

use crate::support::{both_eras, connect, named};

#[data]
struct Settings {
    dark: bool,
}

#[resource("fixed://text")]
fn fixed_text() -> &'static str {
    "t"
}

#[resource(
    "fixed://typed",
    mime_type = "text/markdown",
    size = "2KB",
    audience(user, assistant),
    priority = 0.5
)]
fn fixed_typed() -> String {
    "# t".into()
}

#[resource("fixed://cow")]
fn fixed_cow() -> Cow<'static, str> {
    "c".into()
}

#[resource("fixed://json")]
async fn fixed_json() -> Json<Settings> {
    Json(Settings { dark: true })
}

#[resource("fixed://json/own", mime_type = "application/problem+json")]
fn fixed_json_own() -> Json<Settings> {
    Json(Settings { dark: true })
}

#[resource("fixed://blob")]
fn fixed_blob() -> Blob {
    Blob::new([1, 2, 3])
}

#[resource("fixed://blob/typed", mime_type = "image/x-other")]
fn fixed_blob_typed() -> Blob {
    Blob::new([1, 2, 3]).mime_type("image/gif")
}

#[resource("fixed://image")]
fn fixed_image() -> Image {
    Image::png([1, 2, 3])
}

#[resource("fixed://several", mime_type = "text/csv")]
fn fixed_several() -> Vec<ResourceContents> {
    vec![
        ResourceContents::text("fixed://several/1", "1"),
        ResourceContents::blob("fixed://several/2", [1, 2, 3]).mime_type("x/y"),
    ]
}

#[resource("fixed://nothing")]
fn fixed_nothing() -> Option<String> {
    None
}

#[resource("fixed://gone")]
fn fixed_gone() -> Result<String> {
    Err(Error::not_found("eaten by the dog"))
}

#[resource("fixed://fails")]
fn fixed_fails() -> Result<String, std::io::Error> {
    Err(std::io::Error::other("disk full"))
}

#[resource("fixed://meta")]
fn fixed_meta() -> WithMeta<&'static str> {
    WithMeta("m", Meta::new().with("example.com/cost", 3))
}

#[resource("fixed://uri")]
fn fixed_uri(ctx: &Context) -> String {
    ctx.uri().unwrap_or_default().to_owned()
}

fn all() -> mcp_runtime::Items {
    items![
        fixed_text,
        fixed_typed,
        fixed_cow,
        fixed_json,
        fixed_json_own,
        fixed_blob,
        fixed_blob_typed,
        fixed_image,
        fixed_several,
        fixed_nothing,
        fixed_gone,
        fixed_fails,
        fixed_meta,
        fixed_uri
    ]
}

both_eras! {
    async fn every_type_becomes_contents(revision) {
        let mut client = connect(server!().items(all()), revision).await;
        for (uri, mime_type, text, blob) in [
            ("fixed://text", "text/plain", Some("t"), None),
            ("fixed://typed", "text/markdown", Some("# t"), None),
            ("fixed://cow", "text/plain", Some("c"), None),
            ("fixed://json", "application/json", Some("{\"dark\":true}"), None),
            ("fixed://json/own", "application/problem+json", Some("{\"dark\":true}"), None),
            ("fixed://blob", "application/octet-stream", None, Some("AQID")),
            ("fixed://blob/typed", "image/gif", None, Some("AQID")),
            ("fixed://image", "image/png", None, Some("AQID")),
            ("fixed://meta", "text/plain", Some("m"), None),
            ("fixed://uri", "text/plain", Some("fixed://uri"), None),
        ] {
            let found = client.read(uri).await.unwrap_or_else(|error| panic!("{uri}: {error}"));
            assert_eq!(found.len(), 1, "{uri}");
            let contents = &found[0];
            let found = (&*contents.uri, contents.mime_type.as_deref(), contents.text.as_deref(), contents.blob.as_deref());
            assert_eq!(found, (uri, Some(mime_type), text, blob));
        }
        let several = client.read("fixed://several").await.unwrap();
        let found: Vec<_> = several.iter().map(|contents| (&*contents.uri, contents.mime_type.as_deref().unwrap())).collect();
        assert_eq!(found, [("fixed://several/1", "text/csv"), ("fixed://several/2", "x/y")]);
        let meta = client.request("resources/read", json!({ "uri": "fixed://meta" })).await.unwrap();
        assert_eq!(meta["contents"][0]["_meta"], json!({ "example.com/cost": 3 }));
    }

    async fn the_error_for_a_missing_resource_has_its_uri(revision) {
        let mut client = connect(server!().items(all()), revision).await;
        let code = if revision == Revision::V2026_07_28 { -32602 } else { -32002 };
        for (uri, message) in [
            ("fixed://nothing", "there is no resource `fixed://nothing`"),
            ("fixed://gone", "eaten by the dog"),
            ("unknown://x", "there is no resource `unknown://x`"),
        ] {
            let error = client.read(uri).await.unwrap_err();
            assert_eq!((error.code, &*error.message), (code, message));
            assert_eq!(error.data, Some(json!({ "uri": uri })));
        }
        let error = client.read("fixed://fails").await.unwrap_err();
        assert_eq!((error.code, &*error.message, error.data), (-32603, "disk full", None));
    }

    async fn the_list_publishes_the_keys(revision) {
        let mut client = connect(server!().items(all()), revision).await;
        let list = client.resources().await.unwrap();
        let typed = named(&list, "fixed_typed");
        assert_eq!(typed["uri"], "fixed://typed");
        assert_eq!(typed["mimeType"], "text/markdown");
        assert_eq!(typed["size"], 2000);
        assert_eq!(typed["annotations"], json!({ "audience": ["user", "assistant"], "priority": 0.5 }));
        assert_eq!(client.templates().await.unwrap().len(), 0);
    }

    /// The list has the media type that a client gets when it reads the resource, if the return type decides it.
    async fn the_list_has_the_media_type_of_the_return_type(revision) {
        let mut client = connect(server!().items(all()), revision).await;
        let list = client.resources().await.unwrap();
        for (name, mime_type) in [
            ("fixed_text", Some("text/plain")),
            ("fixed_cow", Some("text/plain")),
            ("fixed_nothing", Some("text/plain")),
            ("fixed_gone", Some("text/plain")),
            ("fixed_meta", Some("text/plain")),
            ("fixed_typed", Some("text/markdown")),
            ("fixed_json", Some("application/json")),
            ("fixed_json_own", Some("application/problem+json")),
            // These values can have media types of their own.
            ("fixed_blob", None),
            ("fixed_image", None),
            ("fixed_several", Some("text/csv")),
        ] {
            assert_eq!(named(&list, name)["mimeType"].as_str(), mime_type, "{name}");
        }
        let mut client = connect(server!().items(items![simple, json_of]), revision).await;
        let templates = client.templates().await.unwrap();
        assert_eq!(named(&templates, "simple")["mimeType"], "text/plain");
        assert_eq!(named(&templates, "json_of")["mimeType"], "application/json");
    }

    async fn a_resource_made_at_run_time_has_the_media_type_of_its_return_type(revision) {
        let mut client = connect(server!().items(items![make]), revision).await;
        client.call("make", json!({})).await.unwrap();
        let list = client.resources().await.unwrap();
        assert_eq!(named(&list, "json")["mimeType"], "application/json");
        assert!(named(&list, "blob")["mimeType"].is_null());
        assert_eq!(named(&list, "markdown")["mimeType"], "text/markdown");
    }
}

/// Adds resources to the running server.
#[tool]
fn make(handle: Handle) -> Result<()> {
    let resource = |name: &'static str| Resource::new(format!("made://{name}"), name);
    handle.add(resource("json").handler(async |_: Variables, _: Context| Json(1)))?;
    handle.add(resource("blob").handler(async |_: Variables, _: Context| Blob::new([1])))?;
    let markdown = resource("markdown").mime_type("text/markdown");
    handle.add(markdown.handler(async |_: Variables, _: Context| "# 1"))
}

#[resource("json://{id}")]
fn json_of(id: u64) -> Result<WithMeta<Json<u64>>> {
    Ok(WithMeta(Json(id), Meta::new()))
}

#[derive(Debug)]
struct Hex(u32);

impl FromStr for Hex {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u32::from_str_radix(text, 16).map(Hex)
    }
}

#[data]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[resource("simple://{id}/profile")]
fn simple(id: u64) -> String {
    id.to_string()
}

#[resource("reserved://{+path}")]
fn reserved(path: &str) -> String {
    path.to_owned()
}

#[resource("label://{name}{.extension}")]
fn label(name: &str, extension: String) -> String {
    format!("{name} {extension}")
}

#[resource("path://root{/segment}")]
fn path(segment: &str) -> String {
    segment.to_owned()
}

#[resource("paths://root{/segments*}")]
fn paths(segments: &str) -> String {
    segments.to_owned()
}

#[resource("names://root{/names*}")]
fn names(names: Vec<String>) -> String {
    format!("{names:?}")
}

#[resource("query://search{?term,limit}")]
fn query(term: Option<String>, #[arg(default = 10)] limit: u8) -> String {
    format!("{term:?} {limit}")
}

#[resource("more://search?kind=all{&page}")]
fn more(page: Option<u8>) -> String {
    format!("{page:?}")
}

#[resource("typed://{hex}/{size}/{flag}")]
fn typed(hex: Hex, size: Size, flag: bool) -> String {
    format!("{} {size} {flag}", hex.0)
}

#[resource("renamed://{user.id}")]
fn renamed(#[arg(name = "user.id")] id: &str) -> String {
    id.to_owned()
}

both_eras! {
    async fn every_operator_of_a_template_is_read_back(revision) {
        let items = items![simple, reserved, label, path, paths, names, query, more, typed, renamed];
        let mut client = connect(server!().items(items), revision).await;
        for (uri, expected) in [
            ("simple://7/profile", Some("7")),
            ("simple://x/profile", None),
            ("simple://7", None),
            ("simple://7/profile/x", None),
            ("reserved://a/b/c.txt", Some("a/b/c.txt")),
            ("reserved://a%20b/%C3%A9", Some("a b/é")),
            ("reserved://a/../b", None),
            ("reserved://a/%2e%2E/b", None),
            ("reserved://%ff", None),
            ("label://a.tar.gz", Some("a.tar gz")),
            ("path://root/x%2Fy", Some("x/y")),
            ("path://root/x/y", None),
            ("path://root/..", None),
            ("path://root/%2Fetc%2Fpasswd", None),
            ("paths://root/x/y/z", Some("x/y/z")),
            ("paths://root", None),
            ("paths://root/C:/x", None),
            ("names://root/%20a%20/b%3A", Some("[\" a \", \"b:\"]")),
            ("names://root/%20../%20../etc", None),
            ("query://search", Some("None 10")),
            ("query://search?term=a%26b", Some("Some(\"a&b\") 10")),
            ("query://search?limit=3&term=x", Some("Some(\"x\") 3")),
            ("query://search?limit=300", None),
            ("query://search?unknown=1", None),
            ("query://search?term=1&term=2", None),
            ("more://search?kind=all", Some("None")),
            ("more://search?kind=all&page=2", Some("Some(2)")),
            ("more://search?page=2", None),
            ("typed://ff/small/true", Some("255 Small true")),
            ("typed://ff/SMALL/true", None),
            ("typed://xx/small/true", None),
            ("typed://ff/large/yes", None),
            ("renamed://me", Some("me")),
        ] {
            let found = client.read(uri).await;
            match (&found, expected) {
                (Ok(contents), Some(text)) => {
                    assert_eq!(contents[0].text.as_deref(), Some(text), "{uri}");
                    assert_eq!(contents[0].uri, uri);
                }
                (Err(error), None) => {
                    assert_eq!(error.message, format!("there is no resource `{uri}`"));
                    assert_eq!(error.data, Some(json!({ "uri": uri })));
                }
                _ => panic!("{uri}: {found:?}"),
            }
        }
    }

    async fn templates_are_listed_apart(revision) {
        let mut client = connect(server!().items(items![simple, query, fixed_text]), revision).await;
        let templates = client.templates().await.unwrap();
        assert_eq!(named(&templates, "simple")["uriTemplate"], "simple://{id}/profile");
        assert_eq!(named(&templates, "query")["uriTemplate"], "query://search{?term,limit}");
        assert_eq!(client.resources().await.unwrap().len(), 1);
    }
}

#[resource("either://{id}")]
fn by_number(id: u64) -> String {
    format!("number {id}")
}

#[resource("either://{name}", order = 1)]
fn by_name(name: &str) -> String {
    format!("name {name}")
}

#[resource("either://fixed")]
fn by_itself() -> &'static str {
    "itself"
}

both_eras! {
    /// If a text in the URI does not fit the type of its variable, the template does not match, and the server tries the next one. A fixed
    /// URI comes before all templates.
    async fn a_template_that_does_not_fit_leaves_the_uri_to_the_next(revision) {
        let mut client = connect(server!().items(items![by_number, by_name, by_itself]), revision).await;
        for (uri, expected) in
            [("either://7", "number 7"), ("either://seven", "name seven"), ("either://fixed", "itself")]
        {
            assert_eq!(client.read(uri).await.unwrap()[0].text.as_deref(), Some(expected), "{uri}");
        }
    }
}

#[resource("kept://five", cache(public, ttl = "5m"))]
fn kept() -> &'static str {
    ""
}

#[tokio::test]
async fn modern_clients_get_the_cache_lifetime_of_contents() {
    let mut client =
        connect(server!().items(items![kept, fixed_text]), Revision::V2026_07_28).await;
    for (uri, ttl, scope) in [("kept://five", 300_000, "public"), ("fixed://text", 0, "private")] {
        let result = client.request("resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(ttl), &json!(scope)),
            "{uri}"
        );
    }
}
