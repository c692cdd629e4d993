use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use super::super::{Constraints, Map, Range, SchemaProfile};
use super::{Field, InputObject};

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
enum Region {
    /// Europe.
    Eu,
    Us,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Page {
    /// Where to start.
    offset: u32,
    limit: Option<u32>,
    region: Option<Region>,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Open {
    #[serde(flatten)]
    others: std::collections::BTreeMap<String, i64>,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
enum Choice {
    A { a: u8 },
    B { b: u8 },
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// Builds an input schema over one generator, whose definitions are known only when all parameters were seen.
fn input<'a>(
    lenient: bool,
    parts: impl FnOnce(&mut SchemaGenerator) -> Vec<Part<'a>>,
) -> InputObject {
    let mut generator = generator();
    let parts = parts(&mut generator);
    let mut object = InputObject::new(generator.take_definitions(true), lenient);
    for part in parts {
        match part {
            Part::Field(field) => object.field(*field),
            Part::Spread(parameter, schema) => object.spread(parameter, None, schema),
        }
    }
    object
}

enum Part<'a> {
    Field(Box<Field<'a>>),
    Spread(&'a str, Value),
}

fn field<'a, T: JsonSchema>(
    name: &'a str,
    generator: &mut SchemaGenerator,
    edit: impl FnOnce(&mut Field<'a>),
) -> Part<'a> {
    let mut field = Field::new(name, generator.subschema_for::<T>().to_value());
    edit(&mut field);
    Part::Field(Box::new(field))
}

fn spread<'a, T: JsonSchema>(parameter: &'a str, generator: &mut SchemaGenerator) -> Part<'a> {
    Part::Spread(parameter, generator.subschema_for::<T>().to_value())
}

fn check(object: InputObject, profile: SchemaProfile, expected: &str) {
    let text = object.render(profile).unwrap();
    assert_eq!(&*text, expected);
    serde_json::from_str::<Map>(&text).unwrap();
}

#[test]
fn no_arguments() {
    let empty = || InputObject::new(Map::new(), false);
    check(empty(), SchemaProfile::Compatible, r#"{"type":"object","properties":{}}"#);
    check(
        empty(),
        SchemaProfile::Full,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"additionalProperties":false}"#,
    );
    check(
        InputObject::new(Map::new(), true),
        SchemaProfile::Compatible,
        r#"{"type":"object","properties":{}}"#,
    );
}

#[test]
fn fields_in_declaration_order() {
    let mut times = Constraints::new();
    times.set_range(Range::new().min_int(1).max_int(10));
    let parts = |generator: &mut SchemaGenerator| {
        vec![
            field::<String>("name", generator, |field| {
                field.required = true;
                field.example = Some("\"Ada\"");
            }),
            field::<Option<Region>>("a \"region\"", generator, |field| {
                field.description = Some("Which one.");
            }),
            field::<u8>("times", generator, |field| {
                field.constraints = Some(&times);
                field.default = Some(json!(1));
            }),
        ]
    };
    check(
        input(false, parts),
        SchemaProfile::Compatible,
        concat!(
            r#"{"type":"object","properties":{"name":{"description":"For example `Ada`.","type":"string"},"#,
            r#""a \"region\"":{"description":"Which one.\n\n- `Eu`: Europe.","enum":["Us","Eu"],"type":"string"},"#,
            r#""times":{"default":1,"maximum":10,"minimum":1,"type":"integer"}},"required":["name"]}"#
        ),
    );
    check(
        input(true, parts),
        SchemaProfile::Full,
        concat!(
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"name":{"examples":["Ada"],"type":"string"},"#,
            r##""a \"region\"":{"anyOf":[{"$ref":"#/$defs/Region"},{"type":"null"}],"description":"Which one."},"##,
            r#""times":{"default":1,"format":"uint8","maximum":10,"minimum":1,"type":"integer"}},"required":["name"],"#,
            r#""$defs":{"Region":{"oneOf":[{"enum":["Us"],"type":"string"},{"const":"Eu","description":"Europe.","type":"string"}]}}}"#
        ),
    );
}

#[test]
fn spread_structs() {
    let parts = |generator: &mut SchemaGenerator| {
        vec![
            field::<bool>("verbose", generator, |field| field.required = true),
            spread::<Page>("page", generator),
        ]
    };
    check(
        input(false, parts),
        SchemaProfile::Compatible,
        concat!(
            r#"{"type":"object","properties":{"verbose":{"type":"boolean"},"limit":{"minimum":0,"type":"integer"},"#,
            r#""offset":{"description":"Where to start.","minimum":0,"type":"integer"},"#,
            r#""region":{"description":"- `Eu`: Europe.","enum":["Us","Eu"],"type":"string"}},"#,
            r#""required":["verbose","offset"]}"#
        ),
    );
    let full = input(false, parts).render(SchemaProfile::Full).unwrap();
    assert!(full.contains(r#""$defs":{"Region":{"#), "only what is needed: {full}");
    check(
        input(false, |generator| vec![spread::<Open>("all", generator)]),
        SchemaProfile::Compatible,
        r#"{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}"#,
    );
}

#[test]
fn headers_are_spelled_out_in_place() {
    let parts = |generator: &mut SchemaGenerator| {
        vec![field::<Option<Region>>("region", generator, |field| {
            field.header = Some("Region");
            field.title = Some("Region");
        })]
    };
    let expected = r#""region":{"description":"- `Eu`: Europe.","enum":["Us","Eu"],"title":"Region","type":"string","x-mcp-header":"Region"}"#;
    for form in [SchemaProfile::Compatible, SchemaProfile::Full] {
        let text = input(false, parts).render(form).unwrap();
        assert!(text.contains(expected) && !text.contains("$defs"), "{text}");
    }
}

#[test]
fn problems_are_told_all_at_once() {
    let mut text = Constraints::new();
    text.set_len(None, Some(3));
    let object = input(false, |generator| {
        vec![
            field::<u32>("limit", generator, |field| field.constraints = Some(&text)),
            spread::<Page>("page", generator),
            spread::<Page>("other", generator),
            spread::<Choice>("choice", generator),
            spread::<Vec<u8>>("list", generator),
        ]
    });
    let unspreadable = "cannot be spread: only a struct with named fields can, and not one that flattens an enum; take it as an argument of its own";
    assert_eq!(
        object.render(SchemaProfile::Compatible).unwrap_err(),
        [
            "the argument `limit` is an integer, but a length bounds text, lists and maps: remove `len`".to_owned(),
            "the argument `limit` is declared twice: by its own parameter and by the struct of `page`".to_owned(),
            "the argument `limit` is declared twice: by its own parameter and by the struct of `other`".to_owned(),
            "the argument `offset` is declared twice: by the struct of `page` and by the struct of `other`".to_owned(),
            "the argument `region` is declared twice: by the struct of `page` and by the struct of `other`".to_owned(),
            format!("`choice` {unspreadable}"),
            format!("`list` {unspreadable}"),
        ]
    );
}
