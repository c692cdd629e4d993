//! Finding an item and running its handler.

use std::hint::black_box;

use criterion::Criterion;
use mcp_runtime::prelude::*;

use crate::rooms;

/// Does nothing
#[tool]
fn plain() {}

/// Does nothing, in an `async` function that never waits
#[tool]
async fn at_once() {}

/// Does nothing with two values from the server
#[tool]
fn with_state(_step: State<u64>, _ctx: &Context) {}

/// Does nothing for a city
#[resource("weather://{country}/{city}")]
fn weather(country: &str, city: &str) -> String {
    format!("{city}, {country}")
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch");
    let items = items![plain, at_once, with_state, weather];
    let all = rooms(mcp_runtime::server!().items(items).state(1_u64));
    for (name, tool) in [
        ("a plain handler", "plain"),
        ("an async handler that is ready at once", "at_once"),
        ("a handler with state and context", "with_state"),
    ] {
        assert!(all.call(tool, "{}").is_good(), "{name}");
        group.bench_function(name, |bencher| bencher.iter(|| all.call(black_box(tool), "{}")));
    }
    let uri = "weather://france/paris";
    assert!(all.read(uri).is_good());
    group.bench_function("a resource of a template", |bencher| {
        bencher.iter(|| all.read(black_box(uri)))
    });
    let around =
        mcp_runtime::server!().items(items![plain]).around(async |call, next| next.run(call).await);
    let around = rooms(around);
    assert!(around.call("plain", "{}").is_good());
    group.bench_function("a plain handler with around", |bencher| {
        bencher.iter(|| around.call(black_box("plain"), "{}"));
    });
    group.finish();
}
