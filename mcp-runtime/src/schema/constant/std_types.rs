//! Implements the trait [`Schema`] for std's types. Their schemas are the same as those of schemars.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    ffi::{OsStr, OsString},
    marker::PhantomData,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    num::{self, Wrapping},
    ops::{Bound, Range, RangeInclusive},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{
        Arc, Mutex, RwLock,
        atomic::{
            AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicIsize, AtomicU8, AtomicU16,
            AtomicU32, AtomicUsize,
        },
    },
    time::{Duration, SystemTime},
};

#[cfg(target_has_atomic = "64")]
use std::sync::atomic::{AtomicI64, AtomicU64};

use super::{
    Out,
    node::{Branch, DefaultForm, Member, Name, Node, NodeShape, Object},
    schema::{Depth, Schema},
};

macro_rules! known {
    ($($($ty:ty)* = $node:expr;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl<D: Depth> Schema<D> for $ty {
            const NODE: Node = $node;
        }
    )*)*};
}

const fn text(format: Option<&'static str>) -> Node {
    Node::of(NodeShape::Text { format, least: None, most: None })
}

const fn integer(least: Option<i128>, most: Option<i128>) -> Node {
    Node::of(NodeShape::Integer { least, most })
}

const fn number(single: bool) -> Node {
    Node::of(NodeShape::Number).written(DefaultForm::Float { single })
}

const DURATION: Object = Object::new(
    &[Member::new("nanos", integer(Some(0), None)), Member::new("secs", integer(Some(0), None))],
    &[1, 0],
);

/// An `OsString`: a list of bytes on Unix, of UTF-16 code units on Windows.
const OS_STRING: [Branch; 2] = {
    const BYTES: Node = integer(Some(0), Some(255));
    const WORDS: Node = integer(Some(0), Some(65_535));
    [
        Branch::new(Node::object(&Object::new(
            &[Member::new("Unix", list(&BYTES, None, false))],
            &[0],
        ))),
        Branch::new(Node::object(&Object::new(
            &[Member::new("Windows", list(&WORDS, None, false))],
            &[0],
        ))),
    ]
};

const SYSTEM_TIME: Object = Object::new(
    &[
        Member::new("nanos_since_epoch", integer(Some(0), None)),
        Member::new("secs_since_epoch", integer(Some(0), None)),
    ],
    &[1, 0],
);

known! {
    bool = Node::of(NodeShape::Boolean).written(DefaultForm::Boolean);
    i8 = integer(Some(-128), Some(127)).written(DefaultForm::Integer);
    i16 = integer(Some(-32_768), Some(32_767)).written(DefaultForm::Integer);
    i32 i64 isize = integer(None, None).written(DefaultForm::Integer);
    i128 = integer(None, None);
    u8 = integer(Some(0), Some(255)).written(DefaultForm::Integer);
    u16 = integer(Some(0), Some(65_535)).written(DefaultForm::Integer);
    u32 u64 usize = integer(Some(0), None).written(DefaultForm::Integer);
    u128 = integer(Some(0), None);
    num::NonZeroU8 = integer(Some(1), Some(255));
    num::NonZeroU16 = integer(Some(1), Some(65_535));
    num::NonZeroU32 num::NonZeroU64 num::NonZeroU128 num::NonZeroUsize = integer(Some(1), None);
    f32 = number(true);
    f64 = number(false);
    str String = text(None).written(DefaultForm::Text);
    PathBuf = text(None).written(DefaultForm::Text);
    Path SocketAddr SocketAddrV4 SocketAddrV6 = text(None);
    IpAddr = text(Some("ip"));
    Ipv4Addr = text(Some("ipv4"));
    Ipv6Addr = text(Some("ipv6"));
    char = Node::of(NodeShape::Text { format: None, least: Some(1), most: Some(1) });
    () = Node::of(NodeShape::Null);
    AtomicBool = Node::of(NodeShape::Boolean);
    AtomicI8 = integer(Some(-128), Some(127));
    AtomicI16 = integer(Some(-32_768), Some(32_767));
    AtomicI32 AtomicIsize = integer(None, None);
    AtomicU8 = integer(Some(0), Some(255));
    AtomicU16 = integer(Some(0), Some(65_535));
    AtomicU32 AtomicUsize = integer(Some(0), None);
    serde_json::Value = Node::of(NodeShape::Any);
    serde_json::Number = Node::of(NodeShape::Number);
    serde_json::Map<String, serde_json::Value> = map(&Node::of(NodeShape::Any));
    OsString OsStr = Node::one_of(&OS_STRING);
    Duration = Node::object(&DURATION);
    SystemTime = Node::object(&SYSTEM_TIME);
}

#[cfg(target_has_atomic = "64")]
known! {
    AtomicI64 = integer(None, None);
    AtomicU64 = integer(Some(0), None);
}

macro_rules! forwarded {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Schema<D> + ?Sized, D: Depth> Schema<D> for $ty {
            const NODE: Node = T::NODE.elsewhere();
        }
    )*};
}
forwarded! { Box<T> Arc<T> Rc<T> Mutex<T> RwLock<T> Cell<T> RefCell<T> }

macro_rules! sized {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Schema<D>, D: Depth> Schema<D> for $ty<T> {
            const NODE: Node = T::NODE.elsewhere();
        }
    )*};
}
sized! { Wrapping Reverse }

#[diagnostic::do_not_recommend]
impl<T: Schema<D> + ?Sized, D: Depth> Schema<D> for &T {
    const NODE: Node = T::NODE;
}

#[diagnostic::do_not_recommend]
impl<T: Schema<D> + ToOwned + ?Sized, D: Depth> Schema<D> for Cow<'_, T> {
    const NODE: Node = T::NODE.elsewhere();
}

#[diagnostic::do_not_recommend]
impl<T: Schema<D>, D: Depth> Schema<D> for Option<T> {
    const NODE: Node = match T::NODE.shape {
        NodeShape::Unknown(_) => Node::of(T::NODE.shape),
        // schemars refers to such a type by name, so an `Option` around the type has a different schema, which no constant describes.
        NodeShape::Any | NodeShape::Null if !T::NODE.is_std => Node::UNKNOWN,
        NodeShape::Optional(_) => T::NODE,
        _ => Node::of(NodeShape::Optional(T::AT)),
    };
}

macro_rules! lists {
    ($($ty:ident $unique:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Schema<D>, D: Depth> Schema<D> for $ty<T> {
            const NODE: Node = list(T::AT, None, $unique);
        }
    )*};
}
lists! {
    VecDeque false;
    LinkedList false;
    BinaryHeap false;
    BTreeSet true;
}

#[diagnostic::do_not_recommend]
impl<T: Schema<D>, D: Depth> Schema<D> for Vec<T> {
    const NODE: Node = T::NODE.default.listed(list(T::AT, None, false));
}

#[diagnostic::do_not_recommend]
impl<T: Schema<D>, D: Depth> Schema<D> for [T] {
    const NODE: Node = T::NODE.default.listed(list(T::AT, None, false));
}

#[diagnostic::do_not_recommend]
impl<T: Schema<D>, S, D: Depth> Schema<D> for HashSet<T, S> {
    const NODE: Node = list(T::AT, None, true);
}

macro_rules! arrays {
    ($($len:literal)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Schema<D>, D: Depth> Schema<D> for [T; $len] {
            const NODE: Node = list(T::AT, Some($len), false);
        }
    )*};
}
arrays! { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 }

#[diagnostic::do_not_recommend]
impl<K: Schema<D>, T: Schema<D>, D: Depth> Schema<D> for BTreeMap<K, T> {
    const NODE: Node = map_from(&K::NODE, T::AT);
}

#[diagnostic::do_not_recommend]
impl<K: Schema<D>, T: Schema<D>, S, D: Depth> Schema<D> for HashMap<K, T, S> {
    const NODE: Node = map_from(&K::NODE, T::AT);
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, D: Depth> Schema<D> for PhantomData<T> {
    const NODE: Node = Node::of(NodeShape::Null);
}

macro_rules! ranges {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Schema<D>, D: Depth> Schema<D> for $ty<T> {
            const NODE: Node = Node::object(&Object::new(
                &[Member::new("end", T::NODE).always(), Member::new("start", T::NODE).always()],
                &[1, 0],
            ));
        }
    )*};
}
ranges! { Range RangeInclusive }

#[diagnostic::do_not_recommend]
impl<T: Schema<D>, E: Schema<D>, D: Depth> Schema<D> for Result<T, E> {
    const NODE: Node = Node::one_of(&[
        Branch::new(Node::object(&Object::new(&[Member::new("Ok", T::NODE).always()], &[0]))),
        Branch::new(Node::object(&Object::new(&[Member::new("Err", E::NODE).always()], &[0]))),
    ]);
}

#[diagnostic::do_not_recommend]
impl<T: Schema<D>, D: Depth> Schema<D> for Bound<T> {
    const NODE: Node = Node::one_of(&[
        Branch::new(Node::object(&Object::new(&[Member::new("Included", T::NODE).always()], &[0]))),
        Branch::new(Node::object(&Object::new(&[Member::new("Excluded", T::NODE).always()], &[0]))),
        Branch::new(Node::names(&[Name::new("Unbounded", "Unbounded")], None)),
    ]);
}

const fn list(items: &'static Node, len: Option<usize>, unique: bool) -> Node {
    Node::of(NodeShape::Array { items, least: len, most: len, unique })
}

const fn map(values: &'static Node) -> Node {
    Node::of(NodeShape::Map(values))
}

/// Returns the node of a map. Only maps with text as keys have a known node, because schemars describes the other maps differently: with
/// patterns for integer keys, and with properties for the variants of an enum.
const fn map_from(keys: &Node, values: &'static Node) -> Node {
    match keys.shape {
        NodeShape::Text { .. } => map(values),
        _ => Node::UNKNOWN,
    }
}

macro_rules! tuples {
    ($($($t:ident)+;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($t: Schema<__D>,)+ __D: Depth> Schema<__D> for ($($t,)+) {
            const NODE: Node = Node::of(NodeShape::Tuple(&[$($t::NODE),+]));
        }
    )*};
}
tuples! {
    A; A B; A B C; A B C E; A B C E F; A B C E F G; A B C E F G H; A B C E F G H I; A B C E F G H I J;
    A B C E F G H I J K; A B C E F G H I J K L; A B C E F G H I J K L M; A B C E F G H I J K L M N;
    A B C E F G H I J K L M N O; A B C E F G H I J K L M N O P; A B C E F G H I J K L M N O P Q;
}

/// Writes the schema of any value in which at most `levels` lists are nested directly in each other, as
/// [`any_value`](crate::schema::compatible) generates it.
pub(super) const fn any_value_of(out: &mut Out<'_>, levels: usize) {
    out.push(r#"{"anyOf":["#);
    branches_of_any_value(out, levels);
    out.push("]}");
}

/// Schema of a result that may be any value.
pub(crate) const ANY_RESULT: &str = r#"{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"type":"null"},{"type":"array"}]}"#;

/// Writes the branches of such a schema.
pub(super) const fn branches_of_any_value(out: &mut Out<'_>, levels: usize) {
    out.push(
        r#"{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"type":"null"}"#,
    );
    if levels > 0 {
        out.push(r#",{"items":"#);
        any_value_of(out, levels - 1);
        out.push(r#","type":"array"}"#);
    }
}
