use std::collections::BTreeSet;

use super::*;
use crate::prelude::form;

#[form(crate = crate)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Place {
    /// By the window
    ByTheWindow,
    Garden,
}

#[form(crate = crate)]
#[derive(Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Booking {
    #[arg(len(1..=5))]
    full_name: String,
    #[arg(default = 2, range(1..=12))]
    seats: u8,
    #[arg(format = "date")]
    day: Option<String>,
    #[arg(default = Place::Garden)]
    place: Place,
    #[arg(len(..=2))]
    otherwise: Option<BTreeSet<Place>>,
    price: Option<f64>,
    #[arg(default)]
    sure: bool,
    #[serde(rename = "type")]
    kind: Option<u64>,
}

fn booking() -> Booking {
    Booking {
        full_name: "Ann".into(),
        seats: 2,
        day: None,
        place: Place::Garden,
        otherwise: None,
        price: None,
        sure: false,
        kind: None,
    }
}

#[track_caller]
fn check(content: &str, expected: Result<Booking, &[&str]>) {
    let found = read::<Booking>(Raw::trusted(content));
    let expected = expected.map_err(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(found, expected, "{content}");
}

#[test]
fn an_omitted_field_takes_its_default() {
    check(r#"{"fullName":"Ann"}"#, Ok(booking()));
    check(r#"{"fullName":"Ann","seats":null,"day":null,"other":[{}]}"#, Ok(booking()));
    check(
        r#"{"fullName":"Ann","seats":3,"day":"2030-01-31","place":"by-the-window","otherwise":["garden","garden"],"price":4,"sure":true,"type":7}"#,
        Ok(Booking {
            seats: 3,
            day: Some("2030-01-31".into()),
            place: Place::ByTheWindow,
            otherwise: Some([Place::Garden].into()),
            price: Some(4.0),
            sure: true,
            kind: Some(7),
            ..booking()
        }),
    );
}

#[test]
fn integers_may_be_written_as_numbers() {
    check(r#"{"fullName":"Ann","seats":3.0}"#, Ok(Booking { seats: 3, ..booking() }));
    check(r#"{"fullName":"Ann","seats":1e1}"#, Ok(Booking { seats: 10, ..booking() }));
    check(r#"{"fullName":"Ann","seats":3.5}"#, Err(&["`seats`: 3.5 is not an integer"]));
}

#[test]
fn everything_that_is_wrong_is_said() {
    check("[]", Err(&["the answer to a form is an object with its fields"]));
    check(
        r#"{"seats":13,"day":"soon","place":"gardn","otherwise":["garden","moon"],"price":"4","sure":"yes"}"#,
        Err(&[
            "`fullName` is missing",
            "`seats`: 13 is not in 1..=12",
            "`day`: \"soon\" is not a date such as 2030-12-31",
            "`place`: \"gardn\" is none of \"by-the-window\", \"garden\"; did you mean \"garden\"?",
            "`otherwise`: \"moon\" is none of \"by-the-window\", \"garden\"",
            "`price`: \"4\" is not a number",
            "`sure`: \"yes\" is not true or false",
        ]),
    );
    check(
        r#"{"fullName":"Annabel","seats":{},"day":5,"place":["garden"],"otherwise":["garden","garden","garden"],"type":-1}"#,
        Err(&[
            "`fullName`: 7 characters, at most 5",
            "`seats`: an object is not an integer",
            "`day`: 5 is not a text",
            "`place`: an array is not a text",
            "`otherwise`: 3 choices, at most 2",
            "`type`: -1 is not at least 0",
        ]),
    );
    check(
        r#"{"fullName":"","otherwise":"garden"}"#,
        Err(&["`fullName`: 0 characters, at least 1", "`otherwise`: \"garden\" is not an array"]),
    );
    check(r#"{"fullName":null}"#, Err(&["`fullName` is missing"]));
}

#[test]
fn a_number_out_of_the_range_of_its_type_is_refused_with_the_bound() {
    check(
        r#"{"fullName":"Ann","type":18446744073709551616}"#,
        Err(&["at `type`: `18446744073709551616` is out of range, at most 18446744073709551615"]),
    );
}

/// Serde would reject an unknown member, but never sees it.
#[test]
fn members_that_the_form_did_not_ask_for_never_reach_the_type() {
    #[form(crate = crate)]
    #[serde(deny_unknown_fields)]
    #[derive(Debug)]
    struct Consent {
        ok: bool,
    }
    assert!(read::<Consent>(Raw::trusted(r#"{"ok":true,"more":1}"#)).unwrap().ok);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "the form's default of `text`: 4 characters, at most 3")]
fn a_default_that_is_no_answer_is_found() {
    #[form(crate = crate)]
    struct Wrong {
        #[arg(len(..=3), default = "four".to_owned())]
        text: String,
    }
    let _ = Wrong::schema();
}
