//! Generated types: trees of nodes, and the schemas that schemars would make of such types.

mod grow;
mod raw;
mod tree;

use grow::{docs, trees};
use raw::Generator;
use tree::{Doc, Leaf, Tree, leak, leaked};

use proptest::prelude::*;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{InputSchema, Param, Property};
use crate::{
    item::ArgDef,
    schema::{
        CompiledPattern, InputField, InputObject, Range, ResultSchema, SchemaKind, SchemaProfile,
        SchemaSide,
        constant::{Node, Out, partial_schema, write_root},
    },
};

/// Keys that `#[arg]` may have.
#[derive(Clone, Debug)]
struct Said {
    title: Doc,
    description: Doc,
    example: bool,
    header: bool,
    default: bool,
    constraint: u8,
}

fn said() -> impl Strategy<Value = Said> {
    (docs(), docs(), any::<bool>(), any::<bool>(), any::<bool>(), 0..6_u8).prop_map(
        |(title, description, example, header, default, constraint)| Said {
            title,
            description,
            example,
            header,
            default,
            constraint,
        },
    )
}

impl Said {
    fn arg(&self, node: &Node, leaf: Option<Leaf>) -> (&'static ArgDef, Option<Value>) {
        let mut arg = ArgDef::new("an \"arg\"");
        if let Some(title) = &self.title {
            arg = arg.title(leaked(title));
        }
        if let Some(text) = &self.description {
            arg = arg.description(leaked(text));
        }
        if self.example {
            arg = arg.example("[1,\"x\"]");
        }
        let kind = node.kind();
        if self.header
            && matches!(kind, SchemaKind::String | SchemaKind::Integer | SchemaKind::Boolean)
        {
            arg = arg.header("Region");
        }
        arg = match (kind, self.constraint) {
            (SchemaKind::String | SchemaKind::Array | SchemaKind::Object, 0) => {
                arg.len(Some(1), None)
            }
            (SchemaKind::String | SchemaKind::Array | SchemaKind::Object, 1) => {
                arg.len(None, Some(9))
            }
            (SchemaKind::String, 2) => arg.pattern("^[a-z]\\d+$", leak(CompiledPattern::new())),
            (SchemaKind::Integer | SchemaKind::Number, 0) => {
                arg.range(Range::new().min_int(1).below_int(100))
            }
            (SchemaKind::Integer, 1) => arg.range(Range::new().min_int(-300).max_int(300)),
            (SchemaKind::Number, 1) => arg.range(Range::new().min_json(0.5, "0.5").max_int(3)),
            _ => arg,
        };
        let default = leaf.filter(|_| self.default).and_then(Leaf::default);
        if let Some((literal, _)) = default {
            arg = arg.default(literal);
        }
        (leak(arg), default.map(|(_, json)| json))
    }
}

fn input_of(
    arg: &ArgDef,
    schema: Value,
    definitions: Map<String, Value>,
    default: &Option<Value>,
    is_required: bool,
) -> String {
    let mut object = InputObject::new(definitions, false);
    object.field(InputField {
        title: arg.title,
        description: arg.description,
        required: is_required && default.is_none(),
        constraints: Some(&arg.constraints),
        example: arg.example,
        header: arg.header,
        default: default.clone(),
        ..InputField::new(arg.name, schema)
    });
    object.render(SchemaProfile::Compatible).expect("renders").into_string()
}

fn output_of(schema: Value, definitions: Map<String, Value>) -> String {
    let mut root = schema;
    if root.is_object() && !definitions.is_empty() {
        root["$defs"] = definitions.into();
    }
    ResultSchema::render(root, SchemaProfile::Compatible).text.into_string()
}

fn text(write: impl Fn(&mut Out<'_>)) -> String {
    let mut counted = Out::new(&mut []);
    write(&mut counted);
    let mut text = vec![0; counted.len()];
    write(&mut Out::new(&mut text));
    String::from_utf8(text).expect("is UTF-8")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_is_written_as_schemars_has_it(tree in trees(), said in said()) {
        let node = tree.node();
        let leaf = if let Tree::Leaf(leaf) = tree { Some(leaf) } else { None };
        let (arg, default) = said.arg(&node, leaf);
        let is_required = !tree.is_optional();
        let raw = |side| {
            let mut generator = Generator { side, definitions: Map::new() };
            (generator.raw(&tree), generator.definitions)
        };

        let (schema, definitions) = raw(SchemaSide::Argument);
        let input = input_of(arg, schema, definitions, &default, is_required);
        let (schema, definitions) = raw(SchemaSide::Result);
        let output = output_of(schema, definitions);

        if node.is_constant() {
            let property = leak([Property::new(arg, false, Param::Argument(node))]);
            let constant = InputSchema::new(property);
            if constant.is_constant() {
                prop_assert_eq!(text(|out| constant.write(out)), input.clone());
            }
            prop_assert_eq!(text(|out| write_root(out, &node)), output.clone());
        }

        // The same schema as a part of one that is made at run time.
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        if let Some(schema) = partial_schema(&node, SchemaSide::Argument, &mut generator) {
            let definitions = generator.take_definitions(true);
            prop_assert_eq!(input_of(arg, schema, definitions, &default, is_required), input);
        }
    }
}
