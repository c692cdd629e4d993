//! Splitting the bytes of a connection into lines.

use criterion::Criterion;
use mcp_runtime::bench::Frames;

use crate::{bytes, parse::CALL};

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frame");
    let mut frames = Frames::default();
    let one = format!("{CALL}\n").into_bytes();
    assert_eq!(frames.cut(&one), 1);
    bytes(&mut group, "a call", &one, |text| frames.cut(text));
    let many = one.repeat(64);
    assert_eq!(frames.cut(&many), 64);
    bytes(&mut group, "64 calls in one read", &many, |text| frames.cut(text));
    let long = format!("{}\n", "x".repeat(1 << 20)).into_bytes();
    assert_eq!(frames.cut(&long), 1);
    bytes(&mut group, "a line of 1 MB", &long, |text| frames.cut(text));
    group.finish();
}
