use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::super::SchemaProfile;
use super::OutputSchema;

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Profile {
    name: String,
    age: Option<u8>,
    extra: Value,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
#[serde(tag = "kind")]
enum Event {
    Started { at: u64 },
    Ended,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Tree {
    children: Vec<Tree>,
}

fn render<T: JsonSchema>(profile: SchemaProfile) -> OutputSchema {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    OutputSchema::render(generator.into_root_schema_for::<T>().to_value(), profile)
}

#[test]
fn null_stays_in_results() {
    let schema: Value =
        serde_json::from_str(&render::<Profile>(SchemaProfile::Compatible).text).unwrap();
    assert_eq!(schema["type"], "object");
    assert_eq!(
        schema["properties"]["age"],
        json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]})
    );
    assert!(schema["properties"]["extra"]["anyOf"].is_array());
    assert_eq!(schema["required"], json!(["name", "age", "extra"]));
    assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
}

#[test]
fn which_roots_are_objects() {
    fn check<T: JsonSchema>(expected: bool) {
        for profile in [SchemaProfile::Compatible, SchemaProfile::Full] {
            let schema = render::<T>(profile);
            assert_eq!(schema.root_is_object, expected, "{}", schema.text);
            let value: Value = serde_json::from_str(&schema.text).unwrap();
            assert_eq!(value["type"] == "object", expected, "{value}");
        }
    }
    check::<Profile>(true);
    check::<Tree>(true);
    check::<Event>(true);
    check::<std::collections::BTreeMap<String, u8>>(true);
    check::<Result<Profile, Tree>>(true);
    check::<Option<Profile>>(false);
    check::<Vec<Profile>>(false);
    check::<Value>(false);
    check::<()>(false);
    check::<f64>(false);
}

#[test]
fn full_keeps_the_dialect() {
    let text = render::<Profile>(SchemaProfile::Full).text;
    assert!(text.contains("2020-12") && text.contains("uint8"), "{text}");
}
