use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{inspector, python, python::text, server::Server};

fn database() -> Server {
    let server = Server::new("database");
    let db = Connection::open(server.folder.join("shop.db")).expect("the folder is writable");
    db.execute_batch(
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT DEFAULT 'Oslo');
         CREATE TABLE \"order/line\" (id, customer REFERENCES customer (id), total REAL);
         CREATE INDEX order_total ON \"order/line\" (total);
         CREATE VIEW rich AS SELECT customer FROM \"order/line\" WHERE total > 100;
         INSERT INTO customer VALUES (1, 'Ada', NULL), (2, 'Bob', 'Rome');
         INSERT INTO \"order/line\" VALUES (1, 1, 12.5), (2, 2, 9e999), (x'00', 2, 9007199254740993);",
    )
    .expect("the statements are right");
    server
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"do": "call", "name": tool, "arguments": arguments})
}

fn contents(outcome: &Value) -> Value {
    let text = outcome["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

#[support::test]
fn tables_are_listed_described_and_queried() {
    let sql = "SELECT name, id > ?2 FROM customer WHERE name = ?1";
    let steps = [
        call("tables", json!({})),
        call("tables", json!({"name": "ORDER"})),
        call("describe", json!({"table": "order/line"})),
        call("query", json!({"sql": sql, "parameters": ["Bob", 1.5]})),
        call("query", json!({"sql": "SELECT * FROM \"order/line\""})),
        call("query", json!({"sql": "SELECT name FROM customer", "limit": 1})),
    ];
    let check = |outcomes: &[Value]| {
        let values: Vec<_> =
            outcomes.iter().map(|outcome| &outcome["result"]["structuredContent"]).collect();
        let names = |at: usize| -> Vec<_> {
            let tables = values[at]["tables"].as_array().into_iter().flatten();
            tables.map(|table| (table["name"].clone(), table["kind"].clone())).collect()
        };
        let order = (json!("order/line"), json!("table"));
        let customer = json!({
            "name": "customer", "type": "", "not_null": false, "primary_key": false, "references": "customer.id",
        });
        let index = json!({"name": "order_total", "unique": false, "columns": "total"});
        names(0)
            == [(json!("customer"), json!("table")), order.clone(), (json!("rich"), json!("view"))]
            && names(1) == [order]
            && values[0]["tables"][2]["columns"] == json!(["customer"])
            && values[2]["columns"][1] == customer
            && values[2]["indexes"] == json!([index])
            && values[3] == &json!({"columns": ["name", "id > ?2"], "rows": [["Bob", 1]]})
            && values[4]["rows"][1] == json!([2, 2, "inf"])
            && values[4]["rows"][2][0] == json!({"bytes": 1, "hex": "00"})
            && values[5]["rows"] == json!([["Ada"]])
            && values[5]["truncated"].is_string()
    };
    python::check(&database(), &steps, check);
    python::check(&database().served(), &steps, check);
}

#[support::test]
fn mistakes_are_answered_with_advice() {
    let steps = [
        call("query", json!({"sql": "DELETE FROM customer"})),
        call("query", json!({"sql": "SELECT * FROM customers"})),
        call("query", json!({"sql": "SELECT town, citi FROM customer"})),
        call("describe", json!({"table": "order_line"})),
        call("query", json!({"sql": "SELECT 1", "limit": 5000})),
    ];
    python::check(&database(), &steps, |outcomes| {
        let expected =
            ["only reads", "mean customer?", "no such column: town", "order/line", "1..=1000"];
        outcomes.iter().zip(expected).all(|(outcome, advice)| {
            python::failure(outcome).is_some_and(|text| text.contains(advice))
        })
    });
}

#[support::test]
fn tables_are_resources() {
    let uri = "database://tables/order%2Fline";
    let template = "database://tables/{table}";
    let steps = [
        json!({"do": "resources"}),
        json!({"do": "templates"}),
        json!({"do": "read", "uri": uri}),
        // No entry of the list has this spelling, so the template reads it.
        json!({"do": "read", "uri": "database://tables/order%2fline"}),
        json!({"do": "read", "uri": "database://tables/none"}),
        json!({"do": "read", "uri": "database://schema"}),
        json!({"do": "complete", "template": template, "argument": "table", "value": "r"}),
    ];
    python::check(&database(), &steps, |outcomes| {
        let listed: Vec<_> = outcomes[0]["result"].as_array().into_iter().flatten().collect();
        let schema = &outcomes[5]["result"]["contents"][0];
        listed.len() == 4
            && listed
                .iter()
                .any(|entry| entry["uri"] == json!(uri) && entry["name"] == json!("order/line"))
            && outcomes[1]["result"][0]["uriTemplate"] == json!(template)
            && outcomes[2]["result"]["contents"][0]["mimeType"] == json!("application/json")
            && contents(&outcomes[2])["columns"][2]["name"] == json!("total")
            && contents(&outcomes[2]) == contents(&outcomes[3])
            && outcomes[4]["error"]["code"].is_i64()
            && schema["mimeType"] == json!("application/sql")
            && schema["text"].as_str().is_some_and(|sql| {
                sql.contains("CREATE INDEX order_total ON") && sql.contains("CREATE VIEW rich")
            })
            && outcomes[6]["result"]["values"] == json!(["rich", "customer", "order/line"])
    });
}

#[support::test]
fn a_table_is_analyzed() {
    let complete = |argument, value, context: Value| json!({"do": "complete", "prompt": "analyze", "argument": argument, "value": value, "context": context});
    let steps = [
        complete("table", "cust", json!({})),
        complete("column", "", json!({"table": "order/line"})),
        complete("column", "ci", json!({})),
        json!({"do": "prompt", "name": "analyze", "arguments": {"table": "order/line", "column": "total"}}),
        json!({"do": "prompt", "name": "analyze", "arguments": {"table": "none"}}),
    ];
    python::check(&database(), &steps, |outcomes| {
        let messages = &outcomes[3]["result"]["messages"];
        outcomes[0]["result"]["values"] == json!(["customer"])
            && outcomes[1]["result"]["values"] == json!(["id", "customer", "total"])
            && outcomes[2]["result"]["values"] == json!(["city"])
            && messages[0]["content"]["text"].as_str().is_some_and(|text| text.contains("`total`"))
            && messages[1]["content"]["resource"]["uri"] == json!("database://tables/order%2Fline")
            && outcomes[4]["error"]["code"].is_i64()
    });
}

#[support::test]
fn a_statement_is_cancelled() {
    let endless =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT max(x) FROM c";
    let steps = [
        json!({"do": "cancel", "name": "query", "arguments": {"sql": endless}, "after": 0.2}),
        call("query", json!({"sql": "SELECT 'next'"})),
    ];
    python::check(&database(), &steps, |outcomes| {
        outcomes[0]["result"] == json!({"cancelled": true, "answer": null})
            && text(&outcomes[1]).is_some_and(|text| text.contains("next"))
    });
}

#[support::test]
fn the_inspector_accepts_the_schemas() {
    inspector::list(&database());
}

#[support::test]
fn the_inspector_calls_and_reads() {
    let server = database();
    let query = inspector::call("query", r#"{"sql": "SELECT city FROM customer"}"#);
    inspector::check(&server, &query, 0, |answer| {
        answer.result["structuredContent"]["rows"] == json!([[null], ["Rome"]])
    });
    let read = ["--method", "resources/read", "--uri", "database://tables/customer"];
    inspector::check(&server, &read, 0, |answer| {
        answer.result["contents"][0]["mimeType"] == json!("application/json")
    });
}
