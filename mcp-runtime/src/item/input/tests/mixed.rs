//! Types whose schema is only partly known at compile time, or would be too large to be made there.

#![allow(unreachable_patterns, reason = "of two variants with one name serde reads the first")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use super::{InputSchema, PLAIN, Param, Property, Schema, of_schemars};
use crate::{
    call::reply::Json,
    schema::{
        InputField, InputObject, SchemaProfile, SchemaSide,
        constant::{Known, Node, NotKnown as _, Top, partial_schema},
    },
};

/// Checks the schema of a type as an argument, whether or not constants know all of it.
#[track_caller]
fn check<T: crate::schema::constant::Schema<Top> + JsonSchema>() {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let known = partial_schema(&T::NODE, SchemaSide::Argument, &mut generator);
    let made = known.unwrap_or_else(|| generator.subschema_for::<T>().to_value());
    let mut object = InputObject::new(generator.take_definitions(true), false);
    object.field(InputField::new("x", made));
    let made = object.render(SchemaProfile::Compatible).expect("renders").into_string();
    assert_eq!(made, of_schemars::<T>(&PLAIN, false).0);
}

/// Only schemars knows it.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Foreign {
    id: u8,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Holds {
    always: Foreign,
    perhaps: Option<Foreign>,
    boxed: Box<Option<Foreign>>,
    many: Vec<Foreign>,
    number: i32,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
enum Either {
    Perhaps(Option<Foreign>),
    Number(i32),
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Page<T> {
    items: Vec<T>,
    first: T,
}

#[test]
fn a_field_that_schemars_calls_optional_is_not_required() {
    check::<Holds>();
    check::<Either>();
}

#[test]
fn a_generic_type_of_a_partly_known_one_is_described() {
    check::<Page<i32>>();
    check::<Page<Holds>>();
    check::<Page<Page<Holds>>>();
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Statement {
    first: Option<Box<Expression>>,
    second: Option<Box<Expression>>,
    all: Vec<Expression>,
    named: BTreeMap<String, Expression>,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Expression {
    before: Vec<Statement>,
    after: Vec<Statement>,
    number: i32,
}

/// The size of constants for such types grows as sixteen to the power of their depth, so they have to end early.
#[test]
fn types_that_contain_each_other_are_cut_off_as_schemars_does() {
    check::<Statement>();
    check::<Expression>();
    check::<Page<Statement>>();
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Tree<T> {
    value: T,
    branches: Option<Box<Branches<T>>>,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Branches<T> {
    all: Vec<Tree<T>>,
}

/// The constants of the two types would refer to each other.
#[test]
fn generic_types_may_contain_each_other() {
    assert!(!Known::<Tree<u8>>::NODE.is_constant());
    assert!(!Known::<Branches<u8>>::NODE.is_constant());
}

macro_rules! of_eight {
    ($($ty:ident of $in:ty;)*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema, Schema)]
        #[mcp(crate = "crate")]
        struct $ty { a: $in, b: $in, c: $in, d: $in, e: $in, f: $in, g: $in, h: $in }
    )*};
}
of_eight! {
    Dozens of Vec<Option<u8>>;
    Hundreds of Dozens;
    Thousands of Hundreds;
    Myriads of Thousands;
    Lakhs of Myriads;
}

/// The compiler would refuse to evaluate a constant of this size, or would not finish.
#[test]
fn schemas_without_measure_are_left_to_schemars() {
    static FEW: InputSchema =
        InputSchema::new(&[Property::new(&PLAIN, false, Param::Argument(HUNDREDS))]);
    static MANY: InputSchema =
        InputSchema::new(&[Property::new(&PLAIN, false, Param::Argument(LAKHS))]);
    const HUNDREDS: Node = Known::<Hundreds>::NODE;
    const LAKHS: Node = Known::<Lakhs>::NODE;
    const FEW_LEN: usize = FEW.len();
    const MANY_LEN: usize = MANY.len();
    const RESULT_LEN: usize = crate::call::extract::Probe::<Json<Lakhs>>::OUTPUT.len();
    assert_eq!((FEW_LEN > 0, MANY_LEN, RESULT_LEN), (true, 0, 0));

    let mut generator = SchemaSettings::draft2020_12().into_generator();
    assert!(partial_schema(&LAKHS, SchemaSide::Argument, &mut generator).is_none());
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Anything(serde_json::Value);

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
enum Twice {
    #[serde(rename = "same")]
    One,
    /// Said of the second.
    #[serde(rename = "same")]
    Two,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Preset<T: Default> {
    #[serde(default)]
    value: T,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Odd {
    maps: (BTreeMap<String, Anything>, BTreeMap<String, serde_json::Value>),
    twice: Twice,
    preset: Preset<i32>,
}

#[test]
fn types_that_schemars_describes_unexpectedly_are_described_alike() {
    check::<(BTreeMap<String, Anything>, BTreeMap<String, serde_json::Value>)>();
    check::<Odd>();
}
