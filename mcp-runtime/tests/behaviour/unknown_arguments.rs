//! Arguments, members of structs inside arguments, and variants that the server does not know.

use std::collections::BTreeMap;

use mcp_runtime::{items, prelude::*, server};
use serde_json::{Value, json};

use crate::support::{both_eras, connect, refused, said};

#[data]
#[derive(Debug)]
struct Address {
    street: String,
    zip_code: Option<String>,
    #[serde(alias = "town")]
    city: Option<String>,
}

#[data]
#[derive(Debug)]
#[serde(rename_all = "kebab-case")]
enum Delivery {
    Standard,
    NextDay,
    Appointment { day: String, hour: Option<u8> },
}

#[data]
#[derive(Debug)]
#[serde(deny_unknown_fields)]
struct Closed {
    width: Option<u8>,
}

/// Serde writes the name of the struct into the member `type`, and ignores the member when it reads the struct.
#[data]
#[derive(Debug)]
#[serde(tag = "type")]
struct Circle {
    radius: u8,
}

#[tool]
fn ship(
    address: Option<Address>,
    #[arg(default)] stops: Vec<Address>,
    #[arg(default)] by_name: BTreeMap<String, Address>,
    delivery: Option<Delivery>,
    closed: Option<Closed>,
    circle: Option<Circle>,
    any: Option<Value>,
) -> String {
    format!("{address:?} {stops:?} {by_name:?} {delivery:?} {closed:?} {circle:?} {any:?}")
}

#[tool(lenient)]
fn ship_leniently(
    address: Option<Address>,
    delivery: Option<Delivery>,
    closed: Option<Closed>,
) -> String {
    format!("{address:?} {delivery:?} {closed:?}")
}

#[data]
#[derive(Debug)]
struct Parcel {
    address: Option<Address>,
    #[serde(default)]
    stops: Vec<Address>,
}

#[tool]
fn ship_parcel(parcel: Args<Parcel>, weight: Option<u8>) -> String {
    format!("{:?} {weight:?}", parcel.0)
}

#[tool(lenient)]
fn ship_parcel_leniently(parcel: Args<Parcel>) -> String {
    format!("{:?}", parcel.0)
}

#[tool]
fn draw(circle: Args<Circle>) -> String {
    format!("{:?}", circle.0)
}

both_eras! {
    async fn an_unknown_member_inside_an_argument_is_an_error_with_its_path(revision) {
        let mut client = connect(server!().items(items![ship, ship_parcel]), revision).await;
        let cases = [
            (
                json!({ "address": { "street": "A", "zipcode": "1" } }),
                "- unknown argument `address.zipcode`; did you mean `zip_code`?",
            ),
            (
                json!({ "address": { "street": "A", "floor": { "street": 2 } } }),
                "- unknown argument `address.floor`; there are `street`, `zip_code`, `city`, `town`",
            ),
            (
                json!({ "stops": [{ "street": "A" }, { "street": "B", "zipcode": 7 }] }),
                "- unknown argument `stops[1].zipcode`; did you mean `zip_code`?",
            ),
            // A struct that stands in a list is reported once for each wrong name.
            (
                json!({ "stops": [{ "street": "A", "zipcode": 7 }, { "street": "B", "zipcode": 7, "Strete": 1 }] }),
                "- unknown argument `stops[0].zipcode`; did you mean `zip_code`?\n\
                 - unknown argument `stops[1].Strete`; did you mean `street`?",
            ),
            (
                json!({ "address": { "streat": "A" } }),
                "- `address`: missing field `street`\n\
                 - unknown argument `address.streat`; did you mean `street`?",
            ),
        ];
        for (arguments, expected) in &cases {
            for tool in ["ship", "ship_parcel"] {
                let expected = format!("error: The arguments of `{tool}` are wrong:\n{expected}");
                assert_eq!(said(&mut client, tool, arguments.clone()).await, expected);
            }
        }
        let cases = [
            (
                json!({ "by_name": { "home": { "street": "A", "zipcode": "1" } } }),
                "- unknown argument `by_name.home.zipcode`; did you mean `zip_code`?",
            ),
            (
                json!({ "delivery": { "appointment": { "day": "Monday", "our": 7 } } }),
                "- unknown argument `delivery.appointment.our`; did you mean `hour`?",
            ),
            // The content of a quoted argument is read like the argument.
            (
                json!({ "address": "{\"street\": \"A\", \"zipcode\": 7}" }),
                "- unknown argument `address.zipcode`; did you mean `zip_code`?",
            ),
            (json!({ "closed": { "widht": 1 } }), "- unknown argument `closed.widht`; did you mean `width`?"),
            (
                json!({ "zzz": 1, "address": { "street": "A", "zzz": 1 }, "stops": [{}] }),
                "- `stops[0]`: missing field `street`\n\
                 - unknown argument `zzz`; there are `address`, `stops`, `by_name`, `delivery`, `closed`, `circle`, `any`\n\
                 - unknown argument `address.zzz`; there are `street`, `zip_code`, `city`, `town`",
            ),
        ];
        for (arguments, expected) in cases {
            let expected = format!("error: The arguments of `ship` are wrong:\n{expected}");
            assert_eq!(said(&mut client, "ship", arguments).await, expected);
        }
    }

    async fn a_lenient_tool_drops_unknown_members_at_every_depth(revision) {
        let mut client = connect(server!().items(items![ship_leniently, ship_parcel_leniently]), revision).await;
        let address = json!({ "street": "A", "zipcode": "1", "town": "Lyon" });
        let arguments = json!({
            "address": address, "delivery": { "appointment": { "day": "Monday", "our": 7 } }, "zzz": 1,
        });
        let shown = "Some(Address { street: \"A\", zip_code: None, city: Some(\"Lyon\") })";
        let expected = format!("{shown} Some(Appointment {{ day: \"Monday\", hour: None }}) None");
        assert_eq!(said(&mut client, "ship_leniently", arguments).await, expected);
        let arguments = json!({ "address": address, "zzz": 1 });
        let expected = format!("Parcel {{ address: {shown}, stops: [] }}");
        assert_eq!(said(&mut client, "ship_parcel_leniently", arguments).await, expected);
        // The attribute of serde holds in every tool.
        let refused = said(&mut client, "ship_leniently", json!({ "closed": { "widht": 1 } })).await;
        assert!(refused.ends_with("- unknown argument `closed.widht`; did you mean `width`?"), "{refused}");
    }

    async fn a_member_that_the_type_takes_or_publishes_is_not_unknown(revision) {
        let mut client = connect(server!().items(items![ship, draw]), revision).await;
        let arguments = json!({
            "any": { "zzz": 1 }, "by_name": { "zzz": { "street": "A", "town": null } },
            "circle": { "type": "Circle", "radius": 1 },
        });
        let said_of_all = said(&mut client, "ship", arguments).await;
        assert!(said_of_all.contains("Circle { radius: 1 }"), "{said_of_all}");
        let circle = json!({ "type": "Circle", "radius": 1 });
        assert_eq!(said(&mut client, "draw", circle).await, "Circle { radius: 1 }");
    }

    async fn one_error_names_ten_unknown_arguments_and_counts_the_others(revision) {
        let mut client = connect(server!().items(items![ship]), revision).await;
        let mut address: BTreeMap<String, Value> = (0..30).map(|n| (format!("member{n:02}"), json!(n))).collect();
        address.insert("street".to_owned(), json!("A"));
        let refused = said(&mut client, "ship", json!({ "zzz": 1, "address": address })).await;
        assert_eq!(refused.matches("- unknown argument").count(), 10, "{refused}");
        assert!(refused.ends_with("- and 21 more unknown arguments"), "{refused}");
    }
}

#[data]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Tone {
    VeryWarm,
    Cold,
    Neutral,
}

#[data]
#[derive(Debug)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: u8 },
    Square { side: u8 },
}

#[data]
#[derive(Debug)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
enum Measure {
    Metres(u8),
    Feet(u8),
}

#[tool]
fn paint(
    tone: Option<Tone>,
    #[arg(default)] tones: Vec<Tone>,
    #[arg(default)] by_tone: BTreeMap<Tone, u8>,
    shape: Option<Shape>,
    measure: Option<Measure>,
    delivery: Option<Delivery>,
    spot: Option<Spot>,
) -> String {
    format!("{tone:?} {tones:?} {by_tone:?} {shape:?} {measure:?} {delivery:?} {spot:?}")
}

#[data]
#[derive(Debug)]
struct Spot(u8, u8);

#[prompt]
fn describe(tone: Tone) -> String {
    format!("{tone:?}")
}

both_eras! {
    async fn an_unknown_variant_is_an_error_with_the_nearest_and_all_variants(revision) {
        let mut client = connect(server!().items(items![paint, describe]), revision).await;
        let of_tone = "Expected one of `very-warm`, `cold`, `neutral`";
        let cases = [
            (json!({ "tone": "verywarm" }), format!("`tone`: unknown variant `verywarm`; did you mean `very-warm`? {of_tone}")),
            (json!({ "tone": "COLD" }), format!("`tone`: unknown variant `COLD`; did you mean `cold`? {of_tone}")),
            (json!({ "tone": "blue" }), "`tone`: unknown variant `blue`, expected one of `very-warm`, `cold`, `neutral`".to_owned()),
            (json!({ "tones": ["cold", "nutral"] }), format!("`tones[1]`: unknown variant `nutral`; did you mean `neutral`? {of_tone}")),
            (json!({ "by_tone": { "clod": 1 } }), format!("`by_tone`: unknown variant `clod`; did you mean `cold`? {of_tone}")),
            (
                json!({ "shape": { "kind": "circel", "radius": 1 } }),
                "`shape.kind`: unknown variant `circel`; did you mean `circle`? Expected `circle` or `square`".to_owned(),
            ),
            (
                json!({ "measure": { "kind": "meters", "value": 1 } }),
                "`measure.kind`: unknown variant `meters`; did you mean `metres`? Expected `metres` or `feet`".to_owned(),
            ),
            (
                json!({ "delivery": "standart" }),
                "`delivery`: unknown variant `standart`; did you mean `standard`? \
                 Expected one of `standard`, `next-day`, `appointment`".to_owned(),
            ),
            (
                json!({ "delivery": { "apointment": { "day": "Monday" } } }),
                "`delivery`: unknown variant `apointment`; did you mean `appointment`? \
                 Expected one of `standard`, `next-day`, `appointment`".to_owned(),
            ),
            (
                json!({ "delivery": "appointment" }),
                "`delivery`: `appointment` alone is not enough, expected an object such as {\"appointment\": …}".to_owned(),
            ),
            (json!({ "tone": 1 }), "`tone`: invalid type: `1`, expected one of `very-warm`, `cold`, `neutral`".to_owned()),
            (json!({ "spot": [1, 2, 3] }), "`spot`: more elements than expected".to_owned()),
        ];
        for (arguments, expected) in cases {
            let expected = format!("error: The arguments of `paint` are wrong:\n- {expected}");
            assert_eq!(said(&mut client, "paint", arguments).await, expected);
        }
        let request = json!({ "name": "describe", "arguments": { "tone": "nutral" } });
        let (_, message) = refused(&mut client, "prompts/get", request).await;
        let expected = format!(
            "wrong arguments for prompt `describe`: `tone`: unknown variant `nutral`; did you mean `neutral`? {of_tone}"
        );
        assert_eq!(message, expected);
    }
}
