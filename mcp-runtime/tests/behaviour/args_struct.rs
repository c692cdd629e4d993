//! `Args<T>`: the fields of a struct as arguments.

use std::collections::BTreeMap;

use mcp_runtime::{items, prelude::*, server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{both_eras, connect, named, problems, said};

#[data]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
struct Trip {
    /// Where it begins
    starting_point: String,
    /// How many go
    #[serde(default = "one", alias = "persons")]
    people: u32,
    stops: Option<Vec<Stop>>,
}

#[data]
#[derive(Debug)]
struct Stop {
    name: String,
    hours: u8,
}

#[data]
#[derive(Debug)]
struct Paging {
    #[serde(default)]
    offset: u32,
    limit: u8,
}

#[data]
#[derive(Debug)]
struct Filters {
    #[serde(flatten)]
    paging: Paging,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

fn one() -> u32 {
    1
}

type Whole = Args<Trip>;

#[tool]
fn plan(trip: Whole) -> String {
    format!("{:?}", trip.0)
}

#[tool]
async fn plan_page(
    paging: Args<Paging>,
    name: &str,
    trip: Args<Trip>,
    #[serde(rename = "as")] form: Option<String>,
) -> String {
    tokio::task::yield_now().await;
    format!("{name} {:?} {:?} {form:?}", paging.0, trip.0)
}

#[tool]
fn filtered(filters: Args<Filters>) -> String {
    format!("{:?}", filters.0)
}

#[tool(strict)]
fn strict_paging(paging: Args<Paging>) -> String {
    format!("{:?}", paging.0)
}

#[tool(lenient)]
fn lenient_paging(paging: Args<Paging>) -> String {
    format!("{:?}", paging.0)
}

both_eras! {
    async fn the_fields_are_the_arguments(revision) {
        let mut client = connect(server!().items(items![plan]), revision).await;
        let expected = "Trip { starting_point: \"A\", people: 1, stops: None }";
        assert_eq!(said(&mut client, "plan", json!({ "startingPoint": "A" })).await, expected);
        let arguments = json!({ "startingPoint": "A", "persons": 2, "stops": [{ "name": "B", "hours": 3 }] });
        let expected = "Trip { starting_point: \"A\", people: 2, stops: Some([Stop { name: \"B\", hours: 3 }]) }";
        assert_eq!(said(&mut client, "plan", arguments).await, expected);
        let tools = client.tools().await.unwrap();
        let schema = &named(&tools, "plan")["inputSchema"];
        assert_eq!(schema["required"], json!(["startingPoint"]));
        assert_eq!(schema.get("additionalProperties"), None);
        assert_eq!(schema["properties"]["startingPoint"]["description"], "Where it begins");
        assert_eq!(schema["properties"]["people"]["default"], 1);
    }

    async fn several_structs_and_parameters_share_the_arguments(revision) {
        let mut client = connect(server!().items(items![plan_page]), revision).await;
        let arguments = json!({ "startingPoint": "A", "limit": 5, "name": "n", "as": "list" });
        let expected = "n Paging { offset: 0, limit: 5 } Trip { starting_point: \"A\", people: 1, stops: None } Some(\"list\")";
        assert_eq!(said(&mut client, "plan_page", arguments).await, expected);
        let wrong = said(&mut client, "plan_page", json!({ "limti": 5 })).await;
        let expected = "error: The arguments of `plan_page` are wrong:\n\
            - missing field `limit`\n- `name`: missing, expected a string\n- missing field `startingPoint`";
        assert!(wrong.starts_with(expected), "{wrong}");
    }

    async fn errors_give_the_path_of_the_wrong_field(revision) {
        let mut client = connect(server!().items(items![plan, strict_paging, lenient_paging]), revision).await;
        let plan = [
            (json!({}), "- missing field `startingPoint`"),
            (
                json!({ "startingPoint": 1 }),
                "- `startingPoint`: invalid type: integer `1`, expected a string",
            ),
            (
                json!({ "startingPoint": "A", "stops": [{ "name": "B", "hours": 300 }] }),
                "- `stops[0].hours`: `300` is out of range, at most 255",
            ),
            (
                json!({ "startingPoint": "A", "staps": [] }),
                "- unknown argument `staps`; did you mean `stops`?",
            ),
            (
                json!({ "startingPoint": "A", "zzz": [] }),
                "- unknown argument `zzz`; there are `people`, `startingPoint`, `stops`",
            ),
        ];
        for (arguments, expected) in plan {
            let expected = format!("error: The arguments of `plan` are wrong:\n{expected}");
            assert_eq!(said(&mut client, "plan", arguments).await, expected);
        }
        let expected = "error: The arguments of `strict_paging` are wrong:\n\
            - `limit`: invalid type: string \"5\", expected an integer from 0 to 255";
        assert_eq!(said(&mut client, "strict_paging", json!({ "limit": "5" })).await, expected);
        let arguments = json!({ "limit": "5", "zzz": 1 });
        assert_eq!(said(&mut client, "lenient_paging", arguments).await, "Paging { offset: 0, limit: 5 }");
    }

    async fn stringified_fields_are_read_once_more(revision) {
        let mut client = connect(server!().items(items![plan, plan_page]), revision).await;
        let arguments = json!({ "startingPoint": "7", "people": "2", "stops": "[{\"name\":\"B\",\"hours\":3}]" });
        let expected = "Trip { starting_point: \"7\", people: 2, stops: Some([Stop { name: \"B\", hours: 3 }]) }";
        assert_eq!(said(&mut client, "plan", arguments).await, expected);
    }

    async fn a_flattened_map_takes_all_others(revision) {
        let mut client = connect(server!().items(items![filtered]), revision).await;
        let arguments = json!({ "limit": 5, "color": "red" });
        let expected = "Filters { paging: Paging { offset: 0, limit: 5 }, others: {\"color\": String(\"red\")} }";
        assert_eq!(said(&mut client, "filtered", arguments).await, expected);
        let quoted = json!({ "limit": "5", "offset": " 0 ", "color": "red" });
        assert_eq!(said(&mut client, "filtered", quoted).await, expected);
        let wrong = said(&mut client, "filtered", json!({ "color": "5", "limit": "many" })).await;
        let expected = "error: The arguments of `filtered` are wrong:\n\
            - `limit`: invalid type: string \"many\", expected an integer from 0 to 255";
        assert_eq!(wrong, expected);
        let tools = client.tools().await.unwrap();
        assert!(named(&tools, "filtered")["inputSchema"]["additionalProperties"].is_object());
    }
}

#[tool]
fn twice(paging: Args<Paging>, limit: u8) -> String {
    format!("{:?} {limit}", paging.0)
}

/// A list is no struct, so `Args<List>` is a mistake. Only schemars knows the schema of `List`, so `build()` reports the mistake. For types
/// whose schema is known at compile time, the compiler reports it.
#[derive(Deserialize, JsonSchema)]
struct List(Vec<u8>);

#[tool]
fn no_struct(list: Args<List>) -> usize {
    list.0.0.len()
}

#[test]
fn a_server_with_arguments_that_cannot_be_spread_does_not_build() {
    let twice = problems(server!().items(items![twice]));
    assert!(twice[0].contains("the argument `limit` is declared twice"), "{twice:?}");
    let no_struct = problems(server!().items(items![no_struct]));
    assert!(no_struct[0].contains("`list` cannot be spread"), "{no_struct:?}");
}

/// The first two texts match the grammar of JSON, but `serde_json` cannot represent their values, so they stay strings like the other
/// texts.
#[tokio::test]
async fn a_string_is_read_as_json_only_if_its_value_can_be_represented() {
    let mut client =
        mcp_runtime::testing::TestClient::connect(server!().items(items![plan])).await.unwrap();
    for people in ["1e999", r#"["\ud800"]"#, "\u{a0}2", "[", ""] {
        let said =
            said(&mut client, "plan", json!({ "startingPoint": "Oslo", "people": people })).await;
        assert!(said.contains("`people`: invalid type: string"), "{people}: {said}");
    }
    let said = said(&mut client, "plan", json!({ "startingPoint": "Oslo", "people": " 2 " })).await;
    assert!(said.contains("people: 2"), "{said}");
}

#[form]
#[derive(Debug)]
struct Visit {
    /// Whose table it is
    #[arg(title = "Name")]
    name: String,
    #[arg(description = "How many come", default = 2)]
    guests: u8,
    #[arg(format = "date")]
    day: String,
    #[arg(default = "nobody")]
    host: String,
    #[arg(default)]
    window: bool,
}

#[tool]
fn visit(visit: Args<Visit>) -> Json<Visit> {
    Json(visit.0)
}

#[tool]
fn visits(all: Vec<Visit>) -> String {
    format!("{all:?}")
}

// A form with bounds cannot be an argument: see `tests/ui/form/bounds_of_an_argument.rs`.
both_eras! {
    async fn a_form_as_an_argument_keeps_the_metadata_of_its_fields(revision) {
        let mut client = connect(server!().items(items![visit, visits]), revision).await;
        let tools = client.tools().await.unwrap();
        let mut properties = json!({
            "name": { "type": "string", "title": "Name", "description": "Whose table it is" },
            "guests": { "type": "integer", "minimum": 0, "maximum": 255, "default": 2, "description": "How many come" },
            "day": { "type": "string", "description": "A date, as in `2030-12-31`." },
            "host": { "type": "string", "default": "nobody" },
            "window": { "type": "boolean", "default": false },
        });
        let tool = named(&tools, "visit");
        assert_eq!(tool["inputSchema"]["properties"], properties);
        assert_eq!(tool["inputSchema"]["required"], json!(["day", "name"]));
        let items = &named(&tools, "visits")["inputSchema"]["properties"]["all"]["items"];
        assert_eq!(items["properties"], properties);
        properties["day"] = json!({ "type": "string", "format": "date" });
        assert_eq!(tool["outputSchema"]["properties"], properties);
        let all = json!({ "all": [{ "name": "A", "day": "2000-01-01" }] });
        let expected = "[Visit { name: \"A\", guests: 2, day: \"2000-01-01\", host: \"nobody\", window: false }]";
        assert_eq!(said(&mut client, "visits", all).await, expected);
    }
}
