//! Random types.

use proptest::prelude::*;

use super::tree::{Doc, Leaf, Struct, Told, Tree};

pub(super) fn docs() -> impl Strategy<Value = Doc> {
    // The texts are trimmed, and none is a heading.
    prop::option::weighted(0.3, "[a-z][a-z \"\\\\\n\t\u{1}\u{7f}é🎈-]{0,8}[.`]")
}

pub(super) fn leaves() -> impl Strategy<Value = Tree> {
    use Leaf::*;
    let known = prop::sample::select(vec![
        Boolean, Small, Whole, Unsigned, Number, Text, Address, Character, Null, Any,
    ]);
    prop_oneof![
        20 => known.prop_map(Tree::Leaf),
        1 => Just(Tree::Leaf(Lazy)),
        5 => (names(), docs()).prop_map(|(names, doc)| Tree::Names(names, doc)),
    ]
}

pub(super) fn names() -> impl Strategy<Value = Vec<(String, Doc)>> {
    prop::collection::btree_map("[a-z\"é]{1,3}", docs(), 1..4)
        .prop_map(|it| it.into_iter().collect::<Vec<_>>())
        // The derive leaves an enum to schemars if its only name has documentation.
        .prop_filter("is no choice", |it| it.len() > 1 || it[0].1.is_none())
}

pub(super) fn structs(inner: impl Strategy<Value = Tree>) -> impl Strategy<Value = Struct> {
    let field = (inner, docs(), docs(), any::<bool>(), any::<bool>());
    let fields = prop::collection::btree_map("[a-z\"Zé]{1,3}", field, 0..4);
    (fields, any::<bool>(), docs(), any::<bool>()).prop_map(|(fields, closed, doc, turned)| {
        let mut fields: Vec<_> = fields
            .into_iter()
            .map(|(name, (tree, title, doc, defaulted, skipped))| {
                let defaulted = defaulted && tree.empty().is_some();
                let skipped = skipped && tree.is_optional();
                Told { name, tree, title, doc, defaulted, skipped }
            })
            .collect();
        if turned {
            fields.reverse();
        }
        Struct { fields, closed, doc }
    })
}

pub(super) fn trees() -> impl Strategy<Value = Tree> {
    leaves().prop_recursive(4, 24, 4, |inner| {
        let few = prop::collection::vec(inner.clone(), 1..4);
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let branches = prop::collection::vec((inner.clone(), docs()), 1..4);
        prop_oneof![
            boxed.clone().prop_map(Tree::Optional),
            (boxed.clone(), prop::option::of(1..4_usize), any::<bool>()).prop_map(
                |(items, len, unique)| Tree::List { items, unique: unique && len.is_none(), len }
            ),
            few.prop_map(Tree::Tuple),
            boxed.clone().prop_map(Tree::Map),
            (boxed, docs()).prop_map(|(inner, doc)| Tree::Newtype(inner, doc)),
            structs(inner.clone()).prop_map(Tree::Struct),
            (structs(inner), "[a-z\"]{1,3}").prop_map(|(it, name)| Tree::Tagged(it, name)),
            (branches, any::<bool>(), docs())
                .prop_map(|(branches, untagged, doc)| { Tree::OneOf { branches, untagged, doc } }),
        ]
    })
}
