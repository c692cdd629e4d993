//! State that travels through the client between two rounds of a call.

use std::hint::black_box;

use criterion::Criterion;
use mcp_runtime::bench::Sealed;

/// State after one round: the expiry time, an answer, the result of a finished step, and the digest of a question.
const STATE: &[u8] = br#"{"e":1795000000,"a":{"name":{"action":"accept","content":{"name":"Ada","newsletter":true}}},"d":{"order":{"id":4711,"total":129.5}},"q":{"name":"q3J0X2xhbmd1YWdl"}}"#;

/// Method, item and arguments to which the state is bound.
const BOUND: &[u8] = br#"10"tools/call4"book0"{"guests":4,"when":"2026-08-01T19:00:00Z"}"#;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sealed state");
    let key = Sealed::new([7; 32]);
    let sealed = key.seal(STATE, BOUND).expect("random numbers");
    assert_eq!(key.open(&sealed, BOUND), Some(STATE.len()));
    assert_eq!(key.open(&sealed, b""), None);
    group.bench_function("seal", |bencher| bencher.iter(|| key.seal(black_box(STATE), BOUND)));
    group.bench_function("open", |bencher| bencher.iter(|| key.open(black_box(&sealed), BOUND)));
    group.bench_function("refuse", |bencher| bencher.iter(|| key.open(black_box(&sealed), b"")));
    group.finish();
}
