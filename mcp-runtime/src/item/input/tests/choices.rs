//! Enums with data, in each of serde's representations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cents, Defaults, Page, Plain, Point, Told, check};
use crate::__private::Schema;

macro_rules! choices {
    ($($(#[$attr:meta])* enum $name:ident $(<$t:ident>)? { $($body:tt)* })*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema, Schema)]
        #[mcp(crate = "crate")]
        #[allow(dead_code)]
        $(#[$attr])*
        enum $name $(<$t>)? { $($body)* }
    )*};
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Nothing;

/// Nothing at all
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Told0;

/// Two
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Pair(i64, Option<Cents>);

/// A point, by another name
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Other(Defaults);

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Inner {
    zeta: i64,
    /// First
    alpha: Option<String>,
    /// The "kind"
    #[serde(skip_serializing_if = "Option::is_none")]
    typo: Option<Told>,
}

choices! {
    /// All ways
    enum External {
        One,
        /// Said
        Two,
        Three,
        /// A newtype
        New(i64),
        Optional(Option<u8>),
        Both(i64, String),
        /// Fields
        Fields { b: Option<i64>, /** Said */ a: Plain },
        Empty {},
        Nested(Inner),
    }

    enum OnlyData { A(i64), B { x: bool } }
    enum OneVariant { A(i64) }
    /// Told
    enum OneToldVariant {
        /// Told too
        A(Told),
    }
    #[serde(rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
    enum Renamed {
        NothingHere,
        #[serde(rename = "z z", alias = "zz")]
        LastOne(Told),
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        WithFields { some_field: i64, #[serde(default)] other_field: String },
        OtherFields { some_field: i64 },
    }

    /// Told
    #[serde(tag = "type")]
    enum Internal {
        Unit,
        /// Said
        Told,
        /// A struct
        Struct(Inner),
        Untold(Point2),
        Wrapped(Box<Other>),
        Fields { a: Option<i64>, zz: Vec<Told> },
    }
    #[serde(tag = "zzz", rename_all = "kebab-case", deny_unknown_fields)]
    enum InternalClosed { VeryUnit, #[serde(rename_all = "camelCase")] Fields { a_b: i64 }, Struct(Inner) }
    #[serde(tag = "kind")]
    enum Alone { Struct(Inner) }

    /// Told
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        Unit,
        /// Said
        ToldUnit,
        /// Newtype
        New(Option<i64>),
        Fields { a: i64 },
        Tuple(i64, f64),
        Enum(Told),
    }
    #[serde(tag = "b", content = "a", deny_unknown_fields)]
    enum AdjacentClosed { Unit, Fields { x: Point } }

    /// Told
    #[serde(untagged)]
    enum Untagged {
        Null,
        /// A number
        Number(f64),
        Text(String),
        /// Some
        Many(Vec<Untold>),
        Pair(i64, bool),
        Point { x: Option<f64> },
    }
    #[serde(untagged)]
    enum Untold { A(Option<i64>), B(Cents), C(Inner), D(External) }
    #[serde(untagged)]
    enum NullOrNumber { Null, /** Said */ Number(u8) }
    #[serde(untagged)]
    enum OnlyNull { Null, Nothing }
    #[serde(untagged)]
    enum AnyOrNot { Any(serde_json::Value), Not(Nothing) }

    enum Either<T> { This(T), /** Not this */ That { that: Vec<T> } }
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Point2 {
    x: f64,
    y: f64,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Holder {
    /// The choice
    choice: External,
    untold: Internal,
    /// Or none
    maybe: Option<Untagged>,
    /// Alone
    alone: OneToldVariant,
    null: Nothing,
    number: NullOrNumber,
}

macro_rules! check_all {
    ($($ty:ty),* $(,)?) => {$( check::<$ty>(); check::<Vec<$ty>>(); check::<BTreeMap<String, $ty>>(); check::<Page<$ty>>(); )*};
}

#[test]
fn every_way_of_serde() {
    check_all! {
        Nothing, Told0, Pair, Other, Inner, External, OnlyData, OneVariant, OneToldVariant, Renamed, Internal,
        InternalClosed, Alone, Adjacent, AdjacentClosed, Untagged, Untold, NullOrNumber, OnlyNull, AnyOrNot, Either<i64>,
        Either<Told>, Either<Option<Inner>>, Holder, Option<External>, Option<OneToldVariant>, Option<Untagged>,
        Option<NullOrNumber>, Option<Internal>, Option<OnlyNull>, Option<Pair>, Either<Either<Option<Untagged>>>,
    }
}
