//! The compiler makes the same schemas as schemars with the rules of the compatible form.

mod around;
mod choices;
mod generated;
mod mixed;

use std::{
    any::type_name,
    borrow::Cow,
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    ffi::{CString, OsString},
    fmt,
    marker::PhantomData,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    num,
    ops::{Bound, Range, RangeInclusive},
    path::PathBuf,
    rc::Rc,
    sync::{
        Arc, Mutex, RwLock,
        atomic::{
            AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8,
            AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
        },
    },
    time::{Duration, SystemTime},
};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use super::{InputSchema, Param, Property};
use crate::{
    __private::Schema,
    item::ArgDef,
    schema::{
        InputField, InputObject, ResultSchema, SchemaProfile, SchemaSide,
        constant::{Known, NotKnown as _, Out, Top, partial_schema, write_root},
    },
};

type Schemas = (String, String);

/// Returns the schemas that schemars makes of a type: as an argument, and as a result.
fn of_schemars<T: JsonSchema>(arg: &ArgDef, is_required: bool) -> Schemas {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.subschema_for::<T>().to_value();
    let mut object = InputObject::new(generator.take_definitions(true), false);
    object.field(InputField {
        title: arg.title,
        description: arg.description,
        required: is_required,
        constraints: Some(&arg.constraints),
        example: arg.example,
        header: arg.header,
        ..InputField::new(arg.name, schema)
    });
    let input = object.render(SchemaProfile::Compatible).expect("renders").into_string();

    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut root = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(true);
    if let (Some(root), false) = (root.as_object_mut(), definitions.is_empty()) {
        root.insert("$defs".to_owned(), definitions.into());
    }
    (input, ResultSchema::render(root, SchemaProfile::Compatible).text.into_string())
}

fn of_constants<T: crate::schema::constant::Schema<Top> + ?Sized>(
    arg: &'static ArgDef,
) -> Option<Schemas> {
    let node = T::NODE;
    let properties = Box::leak(Box::new([Property::new(arg, false, Param::Argument(node))]));
    let input = InputSchema::new(properties);
    let mut text = vec![0; input.len()];
    if text.is_empty() {
        return None;
    }
    input.write(&mut Out::new(&mut text));
    let mut counted = Out::new(&mut []);
    write_root(&mut counted, &node);
    let mut output = vec![0; counted.len()];
    write_root(&mut Out::new(&mut output), &node);
    let made = |bytes| String::from_utf8(bytes).expect("is UTF-8");
    Some((made(text), made(output)))
}

static PLAIN: ArgDef = ArgDef::new("x");
static TOLD: ArgDef = ArgDef::new("a \"name\"")
    .title("Tiel")
    .description("What it \"is\"\\\n\tmore\u{1}\u{8}\u{c}\r é 🎈")
    .example("5");
static SHOWN: ArgDef = ArgDef::new("x").example(r#""a \"b\" \\ c\n é""#);

#[track_caller]
fn check<T: crate::schema::constant::Schema<Top> + JsonSchema>() {
    let is_required = !T::_schemars_private_is_option();
    for arg in [&PLAIN, &TOLD, &SHOWN] {
        let constant = of_constants::<T>(arg);
        let constant = constant.unwrap_or_else(|| panic!("{} is not known", type_name::<T>()));
        assert_eq!(constant, of_schemars::<T>(arg, is_required));
    }
    mixed_is_the_same::<T>();
}

/// The rules do not change a schema that has gone through them before. In a partly known type, the known part goes through them twice.
#[track_caller]
fn mixed_is_the_same<T: crate::schema::constant::Schema<Top> + JsonSchema>() {
    for arg in [&PLAIN, &TOLD, &SHOWN] {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let known =
            partial_schema(&T::NODE, SchemaSide::Argument, &mut generator).expect("is known");
        let mut object = InputObject::new(generator.take_definitions(true), false);
        object.field(InputField {
            title: arg.title,
            description: arg.description,
            example: arg.example,
            ..InputField::new(arg.name, known)
        });
        let known = object.render(SchemaProfile::Compatible).expect("renders").into_string();
        assert_eq!(known, of_schemars::<T>(arg, false).0);
    }
}

macro_rules! check_all {
    ($($ty:ty),* $(,)?) => {$( check::<$ty>(); )*};
}

#[test]
fn rarer_types_of_std() {
    check_all! {
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, num::Wrapping<u8>, Reverse<Option<i64>>, Mutex<String>, RwLock<Vec<u8>>, Cell<u16>, RefCell<Option<bool>>, PhantomData<Cents>, OsString, Vec<OsString>, Range<u8>, RangeInclusive<f64>, Range<Option<i64>>, Bound<i64>, Option<Bound<Option<u8>>>, Result<i64, String>, Result<Point, Vec<Told>>, Option<Result<(), u8>>, serde_json::Number, serde_json::Map<String, serde_json::Value>, HashMap<Box<str>, u8>, BTreeMap<char, u8>, BTreeMap<Label, Cents>, BTreeMap<Ipv4Addr, ()>, (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, i8)
    }
}

/// The types here have a schema, but not from constants. A change that gives one of them a constant schema moves it to the tests above.
#[test]
fn types_left_to_schemars() {
    macro_rules! lazy {
        ($($ty:ty),* $(,)?) => {$(
            let node = Known::<$ty>::NODE;
            assert!(!node.is_constant(), "{} is known", stringify!($ty));
            let _ = of_schemars::<$ty>(&PLAIN, true);
        )*};
    }
    lazy! {
        num::NonZeroI8, num::NonZeroI64, [u8; 0], CString, BTreeMap<u8, u8>, HashMap<i64, u8>, BTreeMap<Plain, u8>, BTreeMap<bool, u8>, (Told, Told), (Point, i64), (i64, ()), Option<Anything>, fmt::Arguments<'static>
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Anything(serde_json::Value);

#[test]
fn types_of_std() {
    check_all! {
        bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64, char, String, (), PathBuf, num::NonZeroU8, num::NonZeroU16, num::NonZeroU32, num::NonZeroU64, num::NonZeroU128, num::NonZeroUsize, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, Duration, SystemTime, serde_json::Value, Box<i64>, Arc<str>, Rc<String>, Cow<'static, str>, &'static str, &'static [u8], Option<bool>, Option<u8>, Option<i64>, Option<String>, Option<char>, Option<()>, Option<f32>, Option<Option<i64>>, Option<serde_json::Value>, Option<Duration>, Option<Ipv4Addr>, Vec<i64>, Vec<String>, Vec<Option<u8>>, Vec<Vec<bool>>, Vec<serde_json::Value>, Option<Vec<i64>>, VecDeque<i64>, LinkedList<u8>, BinaryHeap<i64>, BTreeSet<String>, HashSet<u16>, [i64; 1], [u8; 4], [Option<String>; 2], Option<[f64; 3]>, Vec<[f64; 2]>, BTreeMap<String, i64>, HashMap<String, Vec<u8>>, BTreeMap<String, serde_json::Value>, BTreeMap<String, Option<String>>, Option<BTreeMap<String, u8>>, (i64,), (i64, String), (i64, i64), (u8, i8, u8), (Option<i64>, i64), (Vec<i64>, Vec<u8>, Vec<i64>), ((i64, String), (i64, String)), (f64, f64, f64, bool), Option<(i64, String)>, Vec<(String, i64)>, (String, serde_json::Value), (char, String), Box<Option<Arc<[u64]>>>
    }
}

/// Beside two others.
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
#[allow(dead_code)]
enum Plain {
    One,
    Two,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[serde(rename_all = "kebab-case")]
#[mcp(crate = "crate")]
#[allow(dead_code)]
enum Told {
    /// It `says`
    /// so.
    VeryLoud,
    Quiet,
    #[serde(rename = "no \"sound\"")]
    None,
    /// The end
    Last,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Cents(i64);

/// A name
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[serde(transparent)]
#[mcp(crate = "crate")]
struct Label(String);

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Empty {}

/// A "point" in space.
#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[mcp(crate = "crate")]
struct Point {
    y_axis: f64,
    /// Height above
    /// the ground — in metres.
    x_axis: Option<f64>,
    r#type: Told,
    #[serde(rename = "zz", alias = "z")]
    z: Cents,
    #[serde(skip)]
    #[allow(dead_code)]
    hidden: Option<std::num::NonZeroI8>,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Page<T> {
    items: Vec<T>,
    /// Where it goes on
    next: Option<Label>,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Defaults {
    #[serde(default)]
    a: u8,
    /// Described
    #[serde(default)]
    b: String,
    #[serde(default)]
    c: Option<Plain>,
    #[serde(default)]
    d: Vec<Point>,
    #[serde(default)]
    e: bool,
    #[serde(default)]
    f: f32,
    #[serde(default)]
    g: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    h: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    i: Option<Point>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    j: Vec<u8>,
}

#[derive(Serialize, Deserialize, JsonSchema, Schema)]
#[mcp(crate = "crate")]
struct Lent<'a> {
    name: Cow<'a, str>,
}

#[test]
fn derived_types() {
    check_all! {
        Plain, Told, Cents, Label, Empty, Point, Defaults, Lent<'static>, Option<Plain>, Option<Told>, Option<Cents>, Option<Label>, Option<Point>, Option<Empty>, Vec<Told>, Vec<Point>, BTreeMap<String, Told>, (Told,), (Point,), Option<(Point,)>, Box<Told>, [Point; 2], Page<i64>, Page<Page<Option<String>>>, Page<Vec<Point>>, Page<Defaults>, Vec<Page<Told>>, Anything, Vec<Anything>, BTreeMap<String, Anything>, (Label, String), (String, Label)
    }
}
