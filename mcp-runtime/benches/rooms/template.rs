//! Reading the variables of a template from a URI.

use std::hint::black_box;

use criterion::Criterion;
use mcp_runtime::bench::ParsedTemplate;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("template match");
    for (name, template, uri, variables) in [
        ("one variable", "users://{id}/profile", "users://4711/profile", Some(1)),
        (
            "path and query",
            "repo://{owner}/{name}{/path*}{?branch,line}",
            "repo://ada/engine/src/mill/store.rs?line=42&branch=main",
            Some(5),
        ),
        ("percent-encoded", "notes://{title}", "notes://caf%C3%A9%20au%20lait", Some(1)),
        ("another URI", "users://{id}/profile", "users://4711/settings", None),
    ] {
        let template = ParsedTemplate::parse(template).expect("a template");
        assert_eq!(template.matches(uri), variables, "{name}");
        group.bench_function(name, |bencher| bencher.iter(|| template.matches(black_box(uri))));
    }
    group.finish();
}
