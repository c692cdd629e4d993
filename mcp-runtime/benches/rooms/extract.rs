//! Reading parameters from JSON. Each figure includes the cost of reaching the handler. The benchmark of `nothing` measures that cost
//! alone.

#![allow(unused_variables, reason = "getting them is what is measured")]

use std::hint::black_box;

use criterion::Criterion;
use mcp_runtime::prelude::*;

use crate::rooms;

#[tool]
fn nothing() {}

#[tool]
fn scalars(count: u32, share: f64, deep: bool, name: String) {}

#[tool]
fn borrowed(name: &str) {}

#[data]
struct Place {
    name: String,
    latitude: f64,
    longitude: f64,
    tags: Vec<String>,
}

#[tool]
fn structure(place: Place) {}

#[tool]
fn spread(place: Args<Place>) {}

#[tool]
fn options_and_lists(limit: Option<u32>, after: Option<String>, ids: Vec<u64>, names: &[String]) {}

#[tool]
fn checked(#[arg(range(1..=100))] limit: u32, #[arg(len(1..=40))] name: String) {}

#[tool]
#[allow(clippy::too_many_arguments, reason = "this is what is measured")]
fn many(
    a: u32,
    b: u32,
    c: u32,
    d: u32,
    e: u32,
    f: u32,
    g: u32,
    h: u32,
    i: Option<u32>,
    j: Option<u32>,
    k: Option<u32>,
    l: Option<u32>,
    m: String,
    n: String,
    o: String,
    p: String,
) {
}

const PLACE: &str =
    r#"{"name":"Reykjavík","latitude":64.1466,"longitude":-21.9426,"tags":["capital","harbour"]}"#;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("extract");
    let items =
        items![nothing, scalars, borrowed, structure, spread, options_and_lists, checked, many];
    let rooms = rooms(mcp_runtime::server!().items(items));
    let in_place = format!(r#"{{"place":{PLACE}}}"#);
    let cases = [
        ("nothing", "nothing", "{}"),
        ("four scalars", "scalars", r#"{"count":7,"share":0.25,"deep":true,"name":"Reykjavik"}"#),
        ("a borrowed text", "borrowed", r#"{"name":"Reykjavik"}"#),
        ("a struct", "structure", &in_place),
        ("a struct that is spread", "spread", PLACE),
        (
            "options and lists",
            "options_and_lists",
            r#"{"limit":10,"ids":[1,2,3,4,5,6,7,8],"names":["one","two","three","four"]}"#,
        ),
        ("checked by constraints", "checked", r#"{"limit":10,"name":"Reykjavik"}"#),
        (
            "sixteen arguments",
            "many",
            r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":"thirteen","n":"fourteen","o":"fifteen","p":"sixteen"}"#,
        ),
    ];
    for (name, tool, arguments) in cases {
        let answered = rooms.call(tool, arguments);
        assert!(answered.is_good(), "{name}: {answered:?}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| rooms.call(tool, black_box(arguments)))
        });
    }
    let wrong = r#"{"count":"many","share":0.25,"deep":true,"nme":"Reykjavik"}"#;
    assert!(!rooms.call("scalars", wrong).is_good());
    group.bench_function("wrong arguments", |bencher| {
        bencher.iter(|| rooms.call("scalars", black_box(wrong)))
    });
    group.finish();
}
