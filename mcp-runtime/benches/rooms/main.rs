//! What each room on the way of a call costs: `cargo bench -p mcp-runtime --bench rooms`, with `--features state-key` for sealed state too.
//!
//! `cargo bench -p mcp-runtime --bench rooms -- encode` measures one room. What the whole way costs is counted by the
//! benchmark `instructions`.

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
    // A second for each of them: what one change more or less costs shows long before.
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

/// The rooms of a server, after its `setup`.
fn rooms(builder: Builder) -> Rooms {
    let server = builder.build().expect("its items are right");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(Rooms::start(server)).expect("nothing in it fails")
}

/// Measures how long it takes to go through so many bytes.
fn bytes<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    text: &[u8],
    mut read: impl FnMut(&[u8]) -> T,
) {
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(name, |it| it.iter(|| read(black_box(text))));
}
