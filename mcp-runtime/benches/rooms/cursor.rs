//! Cursors: encoding, decoding, and finding the page at which they point.

use std::hint::black_box;

use criterion::Criterion;
use mcp_runtime::{bench, prelude::*};

use crate::rooms;

#[data]
struct City {
    city: String,
}

struct Listed;

fn add(handle: &Handle) -> Result<Listed> {
    for number in 0..2_000 {
        let tool = Tool::new(format!("tool_{number:05}"));
        handle.add(tool.handler_with(async |arguments: City, _: Context| arguments.city))?;
    }
    Ok(Listed)
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cursor");
    let name = "tool_00499\0tool_00499";
    let cursor = bench::write_cursor(0, name);
    assert!(bench::read_cursor(&cursor));
    group.bench_function("encode", |bencher| {
        bencher.iter(|| bench::write_cursor(0, black_box(name)))
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| bench::read_cursor(black_box(&cursor)))
    });
    let server = mcp_runtime::server!().items(items![]).tools_per_page(100);
    let rooms = rooms(server.setup(async |handle: Handle| add(&handle)));
    let mut page = rooms.tools(None);
    for _ in 0..10 {
        page = rooms.tools(rooms.next_cursor(&page).as_deref());
    }
    let cursor = rooms.next_cursor(&page).expect("half of the pages follow");
    group.bench_function("find a page among 2,000 items", |bencher| {
        bencher.iter(|| rooms.next_cursor(&rooms.tools(Some(black_box(&cursor)))));
    });
    group.finish();
}
