//! Encoding outcomes as bytes.

use std::hint::black_box;

use criterion::Criterion;
use mcp_runtime::{prelude::*, testing::Revision};

use crate::rooms;

#[data]
struct Forecast {
    city: String,
    degrees: f64,
    hours: Vec<u32>,
}

#[tool]
fn text() -> &'static str {
    "the rain in Spain stays mainly in the plain"
}

#[tool]
fn long_text() -> String {
    "the rain in Spain stays mainly in the plain\n".repeat((64 << 10) / 44)
}

#[tool]
fn structured() -> Json<Forecast> {
    let hours = (0..24).collect();
    Json(Forecast { city: "Sevilla".to_owned(), degrees: 31.5, hours })
}

#[tool]
fn failed() -> Result<String> {
    Err(Error::msg("there is no forecast for this city"))
}

#[tool]
fn image() -> Image {
    Image::png(vec![0xa5; 64 << 10])
}

/// State of the `setup` function, which adds tools that are only listed.
struct Listed;

fn add(handle: &Handle) -> Result<Listed> {
    for number in 0..500 {
        let tool = Tool::new(format!("tool_{number:03}"))
            .description("One of so many tools that a list of them is long")
            .handler_with(async |city: City, _: Context| city.city);
        handle.add(tool)?;
    }
    Ok(Listed)
}

#[data]
struct City {
    /// Where
    city: String,
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    let items = items![text, long_text, structured, failed, image];
    let rooms =
        rooms(mcp_runtime::server!().items(items).setup(async |handle: Handle| add(&handle)));
    let (old, new) = (Revision::V2025_11_25, Revision::V2026_07_28);
    let first = rooms.tools(None);
    let cases = [
        ("a text", old, rooms.call("text", "{}")),
        ("a text for 2026-07-28", new, rooms.call("text", "{}")),
        ("a text of 64 KB with line ends", old, rooms.call("long_text", "{}")),
        ("a structure", old, rooms.call("structured", "{}")),
        ("an image of 64 KB", old, rooms.call("image", "{}")),
        ("a tool's failure", old, rooms.call("failed", "{}")),
        ("an error", old, rooms.call("nobody", "{}")),
        ("505 tools", old, first),
    ];
    let mut out = Vec::new();
    for (name, revision, answered) in &cases {
        out.clear();
        rooms.encode(&mut out, *revision, answered);
        assert!(out.ends_with(b"}") && out.starts_with(b"{"), "{name}");
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                out.clear();
                rooms.encode(&mut out, *revision, black_box(answered));
                out.len()
            });
        });
    }
    group.finish();
}
