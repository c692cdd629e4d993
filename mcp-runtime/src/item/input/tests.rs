//! Tests that schemas generated at compile time equal those from schemars in the compatible form.

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

/// Returns the schemas that schemars generates for a type: as an argument, and as a result.
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
    .description("NodeShape it \"is\"\\\n\tmore\u{1}\u{8}\u{c}\r é 🎈")
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

/// Checks that applying the rules of the compatible form to a schema twice has the same result as applying them once. If only a part of a
/// type is known at compile time, the rules are applied twice to that part.
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

/// These types have a schema, but no constant one. If a change gives one of them a constant schema, move that type to the tests above.
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

/// An enum without documented variants.
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
    /// A doc comment with `code`
    /// and two lines.
    VeryLoud,
    Quiet,
    #[serde(rename = "no \"sound\"")]
    None,
    /// The last variant
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
    /// the ground, in µm.
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
    /// The next page
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

mod around {
    //! Tests of every plain type inside every type that can contain another type.

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
        /// A single value
        One(T),
        Two(T, Option<T>),
        Held {
            held: T,
            maybe: Option<T>,
        },
    }

    /// schemars writes the default of a field only if its type is sure to implement `Serialize`.
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

    /// `Chosen` has a variant with several values on purpose. On an enum of only names or only structs, applying the rules of the
    /// compatible form twice would have a different result from applying them once.
    #[test]
    fn every_plain_type_in_every_variant() {
        macro_rules! chosen {
            ($($leaf:ty),* $(,)?) => {$( check::<Chosen<$leaf>>(); check::<Vec<Option<Chosen<$leaf>>>>(); )*};
        }
        chosen! { bool, i8, u64, f32, char, String, PathBuf, Ipv6Addr, serde_json::Value, Cents, Label, Vec<u8> }
    }
}

mod choices {
    //! Tests of enums with data, in each of serde's representations.

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

    /// A struct without fields
    #[derive(Serialize, Deserialize, JsonSchema, Schema)]
    #[mcp(crate = "crate")]
    struct Told0;

    /// A pair
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
        /// An enum with all kinds of variants
        enum External {
            One,
            /// A documented variant
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
        /// A documented enum
        enum OneToldVariant {
            /// The documented variant
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

        /// A documented enum
        #[serde(tag = "type")]
        enum Internal {
            Unit,
            /// A documented variant
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

        /// A documented enum
        #[serde(tag = "t", content = "c")]
        enum Adjacent {
            Unit,
            /// A documented variant
            ToldUnit,
            /// Newtype
            New(i64),
            Fields { a: i64 },
            Tuple(i64, f64),
            Enum(Told),
        }
        #[serde(tag = "b", content = "a", deny_unknown_fields)]
        enum AdjacentClosed { Unit, Fields { x: Point } }

        /// A documented enum
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
        /// An optional enum
        maybe: Option<Untagged>,
        /// The enum with one variant
        alone: OneToldVariant,
        null: Nothing,
        number: NullOrNumber,
    }

    macro_rules! check_all {
        ($($ty:ty),* $(,)?) => {$( check::<$ty>(); check::<Vec<$ty>>(); check::<BTreeMap<String, $ty>>(); check::<Page<$ty>>(); )*};
    }

    #[test]
    fn enums_in_every_representation_of_serde() {
        check_all! {
            Nothing, Told0, Pair, Other, Inner, External, OnlyData, OneVariant, OneToldVariant, Renamed, Internal,
            InternalClosed, Alone, Adjacent, AdjacentClosed, Untagged, Untold, NullOrNumber, OnlyNull, AnyOrNot, Either<i64>,
            Either<Told>, Either<Option<Inner>>, Holder, Option<External>, Option<OneToldVariant>, Option<Untagged>,
            Option<NullOrNumber>, Option<Internal>, Option<OnlyNull>, Option<Pair>, Either<Either<Option<Untagged>>>,
        }
    }
}

mod mixed {
    //! Tests of types whose schema is only partly known at compile time, or is too large to be generated at compile time.

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

    /// Checks the schema of a type as an argument, whether it is fully known at compile time or not.
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

    /// A type that only schemars knows.
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

    /// Constants describe only a limited depth, which types that contain each other exceed. So schemars generates their whole schema.
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

    /// The constants of the two types would refer to each other, so neither type has a constant schema.
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

    /// The compiler would reject a constant of this size, or evaluate it for too long. The schema is therefore generated at run time.
    #[test]
    fn huge_schemas_are_left_to_schemars() {
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
        /// The second variant.
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
}
