//! The removal of each kind of secret, and the texts that stay.

use serde_json::json;

use super::*;

#[track_caller]
fn check(mut message: Value, expected: Value) {
    let secrets = ["hunter22", "7", "48151623"].map(str::to_owned);
    Redaction::new(secrets).apply(&mut message);
    assert_eq!(message, expected);
}

#[test]
fn given_secrets_are_removed_from_all_texts() {
    check(json!({ "a": ["the key is hunter22!"] }), json!({ "a": ["the key is <removed>!"] }));
    check(json!(["7", "17"]), json!(["<removed>", "17"]));
}

#[test]
fn given_secrets_are_removed_from_names_and_numbers() {
    check(json!({ "hunter22": 1, "of hunter22": 2 }), json!({ "<removed>": 1, "of <removed>": 2 }));
    check(
        json!({ "account": 48151623, "id": 7, "rows": 481516233 }),
        json!({ "account": "<removed>", "id": 7, "rows": 481516233 }),
    );
    check(
        json!("{\"account\": 48151623, \"password\": \"a\"}"),
        json!("{\"account\":\"<removed>\",\"password\":\"<removed>\"}"),
    );
}

#[test]
fn members_stay_apart_if_their_names_are_removed() {
    check(
        json!({ "7": 1, "hunter22": 2, "<removed>": 3 }),
        json!({ "<removed>": 1, "<removed><removed>": 3, "<removed><removed><removed>": 2 }),
    );
}

#[test]
fn values_of_secret_members_are_removed() {
    check(
        json!({ "apiKey": "a", "client_secret": 5, "access_token": "b", "progressToken": "c" }),
        json!({ "apiKey": "<removed>", "client_secret": "<removed>", "access_token": "<removed>", "progressToken": "c" }),
    );
    check(
        json!({ "text": "{\"password\":\"a\",\"rows\":1}" }),
        json!({ "text": "{\"password\":\"<removed>\",\"rows\":1}" }),
    );
    check(json!("\n{\"password\": \"a\"}"), json!("{\"password\":\"<removed>\"}"));
    check(json!({ "text": "{ \"rows\": 1 }" }), json!({ "text": "{ \"rows\": 1 }" }));
}

#[test]
fn all_values_within_secret_members_are_removed() {
    check(
        json!({ "apiKeys": ["k1", 2], "cookies": { "sid": "x", "secure": true } }),
        json!({ "apiKeys": ["<removed>", "<removed>"], "cookies": { "sid": "<removed>", "secure": true } }),
    );
    check(
        json!({ "credentials": { "user": "u", "keys": [{ "key": "k" }] }, "tokens": ["t"] }),
        json!({ "credentials": { "user": "<removed>", "keys": [{ "key": "<removed>" }] }, "tokens": ["<removed>"] }),
    );
    check(
        json!({ "properties": { "credentials": { "key": "k" }, "passwords": ["p"] } }),
        json!({ "properties": { "credentials": { "key": "<removed>" }, "passwords": ["<removed>"] } }),
    );
}

#[test]
fn schemas_counts_and_questions_with_the_name_of_a_secret_are_kept() {
    for message in [
        json!({ "properties": { "password": { "type": "string" }, "cookies": { "$ref": "#/$defs/Cookies" } } }),
        json!({ "$defs": { "Cookies": { "type": "array", "description": "All of them" } } }),
        json!({ "maxTokens": 100 }),
        json!({ "inputRequests": { "password": { "method": "elicitation/create", "params": { "message": "Which?" } } } }),
        json!({ "inputResponses": { "password": { "action": "decline" } } }),
    ] {
        check(message.clone(), message);
    }
    check(
        json!({ "inputResponses": { "password": { "action": "accept", "content": { "value": "open" } } } }),
        json!({ "inputResponses": { "password": { "action": "accept", "content": { "value": "<removed>" } } } }),
    );
}

#[test]
fn tokens_after_bearer_are_removed_as_a_whole() {
    for (text, expected) in [
        ("Bearer abc.d-e, and on", "Bearer <removed>, and on"),
        ("Authorization: Bearer abc/DEFsecret==", "Authorization: Bearer <removed>"),
        ("bearer  a+b~c/d", "bearer  <removed>"),
        ("Bearer\t\"a/b\" now", "Bearer\t\"<removed>\" now"),
        ("Bearer 'a:b'", "Bearer '<removed>'"),
        ("-H 'Authorization: Bearer \\\"a/b\\\"'", "-H 'Authorization: Bearer \\\"<removed>\\\"'"),
        ("BEARER: a/b c", "BEARER: <removed> c"),
        ("Bearer Bearer a/b", "Bearer Bearer <removed>"),
        ("Bearer a, Bearer b", "Bearer <removed>, Bearer <removed>"),
        ("forbearer a, bearers b, Bearer", "forbearer a, bearers b, Bearer"),
    ] {
        check(json!(text), json!(expected));
    }
}

#[test]
fn web_tokens_are_removed_wherever_they_begin() {
    let signed = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl";
    let encrypted = "eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn";
    for token in [signed, encrypted] {
        for (before, after) in [
            ("got ", " now"),
            ("", ""),
            ("got ", "."),
            ("access_token=", "&a=b"),
            ("session=", "; Path=/"),
            ("https://x/cb?id_token=", ""),
            ("a%3D", "..."),
        ] {
            let text = format!("{before}{token}{after}");
            check(json!(text), json!(format!("{before}<removed>{after}")));
        }
    }
    for text in ["eyJson.parse is a name", "eyJa.b.."] {
        check(json!(text), json!(text));
    }
}

#[test]
fn values_of_secret_members_are_removed_from_json_within_a_text() {
    for (text, expected) in [
        (r#"Login ok: {"password":"hunter2"}"#, r#"Login ok: {"password":"<removed>"}"#),
        ("{\"token\":\"a\"}\n{\"rows\":1}", "{\"token\":\"<removed>\"}\n{\"rows\":1}"),
        (
            "```json\n{ \"users\": [{ \"password\": \"a\" }] }\n```",
            "```json\n{\"users\":[{\"password\":\"<removed>\"}]}\n```",
        ),
        (r#"fn a() { [{"password":"a"}, {"#, r#"fn a() { [{"password":"<removed>"}, {"#),
        ("Bearer abc {\"Bearer\": true}", "Bearer <removed> {\"Bearer\": true}"),
    ] {
        check(json!(text), json!(expected));
    }
}

#[test]
fn given_secrets_are_removed_in_their_escaped_forms() {
    let redaction = Redaction::new(["p\"ss4567", "café123", "a/b\\c"].map(str::to_owned));
    for (text, expected) in [
        (r#"password = "p\"ss4567""#, r#"password = "<removed>""#),
        (
            r"got caf\u00e9123 and caf\u00E9123 and café123",
            "got <removed> and <removed> and <removed>",
        ),
        (r"a\/b\\c, a/b\\c, a/b\c", "<removed>, <removed>, <removed>"),
    ] {
        let mut message = json!(text);
        redaction.apply(&mut message);
        assert_eq!(message, json!(expected));
    }
}

#[test]
fn values_beside_the_name_of_a_secret_are_removed() {
    check(
        json!({ "argument": { "name": "password", "value": "a" }, "other": { "name": "city", "value": "b" } }),
        json!({ "argument": { "name": "password", "value": "<removed>" }, "other": { "name": "city", "value": "b" } }),
    );
    check(
        json!({ "headers": [{ "key": "Authorization", "value": ["Basic a"] }] }),
        json!({ "headers": [{ "key": "Authorization", "value": ["<removed>"] }] }),
    );
}

/// A replay needs the methods, the ids and the names of the protocol.
#[test]
fn the_envelope_of_a_message_is_kept() {
    let redaction = Redaction::new(["root", "para", "4815"].map(str::to_owned));
    let message = |removed: &str| {
        json!({
            "jsonrpc": "2.0", "id": 4815, "method": "roots/list",
            "params": { "capabilities": { "roots": {} }, "user": removed },
        })
    };
    for (mut was, expected) in [
        (message("root"), message("<removed>")),
        (json!([message("the root")]), json!([message("the <removed>")])),
    ] {
        redaction.apply(&mut was);
        assert_eq!(was, expected);
    }
}

#[test]
fn values_after_the_name_of_a_secret_are_removed() {
    for (text, expected) in [
        (
            "https://a.example/cb?access_token=a-b.c&state=d",
            "https://a.example/cb?access_token=<removed>&state=d",
        ),
        ("API_KEY=abc, rows=5", "API_KEY=<removed>, rows=5"),
        ("password='a b'!", "password='<removed>'!"),
        ("API_KEY=\"sk=1\"\nrows=5", "API_KEY=\"<removed>\"\nrows=5"),
        (r#"say \"token=\\\"a\\\"\""#, r#"say \"token=\\\"<removed>\\\"\""#),
        ("password='a", "password='<removed>"),
        ("password=abc=def secret=ab(cd", "password=<removed> secret=<removed>"),
        ("password=", "password="),
        (r#"password="a\"b" c"#, r#"password="<removed>" c"#),
        (r#"password="a\\" b=c"#, r#"password="<removed>" b=c"#),
        (r#"password=\"a\\\"b\" c"#, r#"password=\"<removed>\" c"#),
        ("PASSWORD = hunter\nrows = 5", "PASSWORD = <removed>\nrows = 5"),
        ("password = \"a b\" c", "password = \"<removed>\" c"),
        (
            "token=<abc password=(x secret=[y]",
            "token=<removed> password=(<removed> secret=[<removed>",
        ),
        (
            "token=<removed> token => a, token == a, token != a",
            "token=<removed> token => a, token == a, token != a",
        ),
        ("max_tokens=100 token==a", "max_tokens=100 token==a"),
    ] {
        check(json!(text), json!(expected));
    }
}

#[test]
fn users_of_urls_are_removed() {
    check(
        json!("postgres://ada:p@ss@db:5432/x and https://a.example/@me"),
        json!("postgres://<removed>@db:5432/x and https://a.example/@me"),
    );
    for (text, expected) in [
        ("postgres://ada:p/ss@db:5432/x", "postgres://<removed>@db:5432/x"),
        ("amqp://ada:p#s?s@mq, and on", "amqp://<removed>@mq, and on"),
        ("redis://:a/b@r a@b", "redis://<removed>@r a@b"),
        ("postgres://ada:12/ss@db", "postgres://<removed>@db"),
    ] {
        check(json!(text), json!(expected));
    }
    for text in [
        "http://localhost:3000/@me",
        "http://[::1]/@me",
        "https://a.example:/?mail=a@b",
        "https://a.example?mail=a@b",
        "postgres://db:5432/x",
    ] {
        check(json!(text), json!(text));
    }
}
