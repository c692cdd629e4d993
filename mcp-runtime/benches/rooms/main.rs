//! Cost of each module ("room") that a call passes through: `cargo bench -p mcp-runtime --bench rooms`. With `--features state-key`, the
//! cost of sealed state is measured too.
//!
//! `cargo bench -p mcp-runtime --bench rooms -- encode` measures one room. The benchmark `instructions` counts the cost of whole calls.

mod cursor;
mod dispatch;
mod encode;
mod extract;
mod frame;
mod parse;
#[cfg(feature = "state-key")]
mod sealed;
mod template;

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use mcp_runtime::{Builder, bench::Rooms};

fn main() {
    // Measurements of one second show the effect of a change clearly enough.
    let time = Duration::from_secs(1);
    let mut criterion =
        Criterion::default().warm_up_time(time / 4).measurement_time(time).configure_from_args();
    frame::bench(&mut criterion);
    parse::bench(&mut criterion);
    dispatch::bench(&mut criterion);
    extract::bench(&mut criterion);
    encode::bench(&mut criterion);
    #[cfg(feature = "state-key")]
    sealed::bench(&mut criterion);
    template::bench(&mut criterion);
    cursor::bench(&mut criterion);
    criterion.final_summary();
}

/// Starts a server, and returns its rooms after `setup` has run.
fn rooms(builder: Builder) -> Rooms {
    let server = builder.build().expect("its items are right");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(Rooms::start(server)).expect("nothing in it fails")
}

/// Measures the throughput of `read` over `text`.
fn bytes<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    text: &[u8],
    mut read: impl FnMut(&[u8]) -> T,
) {
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| read(black_box(text))));
}
