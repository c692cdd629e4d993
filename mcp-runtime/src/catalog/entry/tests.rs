use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::{
    call::context::Context,
    call::extract::{Args, Elicit, FromCall, Requirements, Roots, Sample},
    catalog::Tool,
    registry,
};
use mcp_macros::{prompt, resource, tool};

/// User-defined parameter type that contains `Elicit` and declares the same requirements.
struct Consent(#[expect(dead_code, reason = "only what it needs counts")] Elicit);

impl<'a> FromCall<'a> for Consent {
    fn from_call(context: &'a Context) -> crate::Result<Self> {
        Elicit::from_call(context).map(Self)
    }

    fn needs(needs: &mut Requirements) {
        Elicit::needs(needs);
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<Region>,
    street: String,
}

#[derive(Deserialize, JsonSchema)]
enum Region {
    Eu,
    Us,
}

#[tool(crate = crate)]
fn silent(a: u8) -> u8 {
    a
}

#[tool(crate = crate, asks(sampling))]
async fn asking(consent: Consent, a: u8) -> u8 {
    drop(consent);
    a
}

#[resource("ask://{a}", crate = crate)]
async fn asking_resource(a: u8, roots: Roots) -> String {
    format!("{a}{roots:?}")
}

#[prompt(crate = crate, asks(elicitation, roots))]
async fn asking_prompt(model: Sample) -> String {
    format!("{model:?}")
}

#[tool(crate = crate)]
fn with_header(#[arg(header = "Region", name = "re.gion")] region: &str, a: u8) -> String {
    format!("{region}{a}")
}

#[tool(crate = crate)]
fn with_place(place: Args<Place>, #[arg(header = "Zone")] zone: Option<u8>) -> bool {
    place.0.region.is_some() && zone.is_some()
}

#[tool(crate = crate, schema = "full")]
fn with_full_place(place: Args<Place>) -> bool {
    place.0.region.is_some()
}

#[tool(crate = crate)]
fn in_a_place(place: Place) -> bool {
    place.region.is_some()
}

#[tool(crate = crate, input_schema = given())]
fn with_given(#[serde(flatten)] all: Value) -> String {
    all.to_string()
}

#[tool(crate = crate)]
fn with_serde(
    #[arg(header = "As")]
    #[serde(rename = "as", default)]
    form: Option<Region>,
) -> bool {
    form.is_some()
}

fn given() -> Value {
    let b = json!({ "type": "object", "properties": { "c": { "type": "integer", "x-mcp-header": "C" } } });
    json!({ "type": "object", "properties": { "b": b } })
}

fn entry(function: &str) -> Entry {
    let def = registry::all().find(|def| def.origin.function == function).expect("registered");
    let mut params = ItemParams::default();
    (def.params)(&mut params);
    let mut problems = Vec::new();
    let entry = Entry::of(def, params, SchemaProfile::default(), &mut problems);
    assert_eq!(problems, [""; 0]);
    entry
}

#[test]
fn the_attribute_and_the_parameters_are_joined() {
    let check = |function, expected| assert_eq!(entry(function).asks, expected, "{function}");
    check("silent", Asks::new());
    check("asking", Asks::new().sampling().elicitation());
    check("asking_resource", Asks::new().roots());
    check("asking_prompt", Asks::new().elicitation().sampling().roots());
}

fn headers(entry: &Entry) -> Vec<String> {
    let tool = entry.tool().expect("a tool");
    tool.headers
        .iter()
        .map(|argument| format!("{} {}", argument.header, argument.path.join("/")))
        .collect()
}

#[test]
fn headers_are_found_wherever_they_are_declared() {
    let check = |function, expected: &[&str]| {
        assert_eq!(headers(&entry(function)), expected, "{function}");
    };
    check("silent", &[]);
    check("with_header", &["mcp-param-region re.gion"]);
    check("with_place", &["mcp-param-region region", "mcp-param-zone zone"]);
    check("with_full_place", &["mcp-param-region region"]);
    check("with_serde", &["mcp-param-as as"]);
    check("in_a_place", &["mcp-param-region place/region"]);
    check("with_given", &["mcp-param-c b/c"]);
}

#[test]
fn headers_of_a_tool_made_by_value() {
    use crate::catalog::live::Item as _;
    let tool = Tool::new("t").handler_with(async |place: Place, _: Context| place.region.is_some());
    assert_eq!(
        headers(&tool.into_entry(SchemaProfile::default()).unwrap().0),
        ["mcp-param-region region"]
    );

    #[derive(Deserialize, JsonSchema)]
    struct Wrong {
        #[schemars(extend("x-mcp-header" = "Ratio"))]
        ratio: f64,
    }
    let tool = Tool::new("t").handler_with(async |wrong: Wrong, _: Context| wrong.ratio);
    let problem = "`t`: the argument `ratio` has a header, but only strings, integers and booleans can have one";
    assert_eq!(tool.into_entry(SchemaProfile::default()).unwrap_err(), problem);
}
