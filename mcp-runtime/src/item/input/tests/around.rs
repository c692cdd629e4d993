//! Every plain type inside every type that can contain another.

use std::{collections::BTreeMap, net::Ipv6Addr, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cents, Label, Page, Plain, Point, Told, check};
use crate::__private::Schema;

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Held<T> {
    /// Needed
    one: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    maybe: Option<T>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    many: Vec<T>,
    #[serde(default)]
    count: u8,
    #[schemars(title = "By name", description = "All of \"them\"")]
    named: BTreeMap<String, T>,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
#[allow(dead_code)]
enum Chosen<T> {
    Nothing,
    /// It alone
    One(T),
    Two(T, Option<T>),
    Held {
        held: T,
        maybe: Option<T>,
    },
}

/// schemars writes a default only of what is sure to be `Serialize`.
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Many<T> {
    #[serde(default)]
    many: Vec<T>,
}

/// Only read
#[derive(Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
#[allow(dead_code)]
struct Read {
    #[serde(default)]
    labels: Vec<ReadLabel>,
    #[serde(default)]
    others: Vec<Label>,
    #[serde(default)]
    label: Option<ReadLabel>,
}

#[derive(Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
#[allow(dead_code)]
struct ReadLabel(String);

macro_rules! around {
    ($($leaf:ty),* $(,)?) => {$(
        check::<Option<$leaf>>();
        check::<Vec<Option<$leaf>>>();
        check::<Option<Vec<$leaf>>>();
        check::<BTreeMap<String, Option<$leaf>>>();
        check::<($leaf,)>();
        check::<Option<[$leaf; 2]>>();
        check::<Page<$leaf>>();
        check::<Page<Option<$leaf>>>();
        check::<Held<$leaf>>();
        check::<Option<Held<Vec<$leaf>>>>();
        check::<Many<$leaf>>();
    )*};
}

#[test]
fn every_plain_type_in_everything_around_it() {
    around! {
        bool, i8, u8, i64, u64, f32, f64, char, String, (), PathBuf, Ipv6Addr, serde_json::Value, Plain, Told, Cents, Label, Point,
    }
}

#[test]
fn a_default_that_is_not_serialized() {
    check::<Read>();
}

/// `Chosen` has a variant with several values, so it is no choice of names or structs. The rules would rewrite such a choice a second time.
#[test]
fn every_plain_type_in_every_variant() {
    macro_rules! chosen {
        ($($leaf:ty),* $(,)?) => {$( check::<Chosen<$leaf>>(); check::<Vec<Option<Chosen<$leaf>>>>(); )*};
    }
    chosen! { bool, i8, u64, f32, char, String, PathBuf, Ipv6Addr, serde_json::Value, Cents, Label, Vec<u8> }
}
