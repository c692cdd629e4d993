//! The example `database` with statements that write, open other files, take all time or memory, or are wrong.

use std::{
    fs,
    process::{Command, Output},
};

use rusqlite::Connection;
use serde_json::{Value, json};
use support::{clock::eventually_blocking, server::Server as Files};

use crate::{
    flow::peak_memory,
    server::{Server, call, cancelled, prepared, text_of},
};

/// A statement that never ends.
const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
/// Number of statements that the example runs at the same time.
const AT_ONCE: usize = 8;

/// A running example, and the folder of its database.
struct Shop {
    server: Server,
    files: Files,
}

impl Shop {
    /// Starts the example with a database that `sql` fills.
    fn open(sql: &str) -> Self {
        let files = Files::new("database");
        let db = Connection::open(files.folder.join("shop.db")).expect("the folder is writable");
        db.execute_batch(sql).expect("the statements are right");
        drop(db);
        let mut command = Command::new(files.address());
        command.envs(files.environment());
        Self { server: Server::start_as(prepared(command)), files }
    }

    /// Runs a statement, and returns the text that the model reads.
    fn query(&mut self, sql: &str) -> String {
        self.server.ask("query", "query", json!({ "sql": sql }))
    }

    /// Runs a statement until it has memory, unless `out of memory` is the `expected` error. A statement that the server has stopped for its time
    /// ends a moment after its call, and all statements share the memory.
    fn query_with_memory(&mut self, sql: &str, expected: &str) -> String {
        const LACKS: &str = "out of memory";
        eventually_blocking("the end of a stopped statement", || {
            let text = self.query(sql);
            (expected == LACKS || !text.contains(LACKS)).then_some(text)
        })
    }

    fn rows(&mut self, arguments: Value) -> Value {
        self.server.send(&call("rows", "query", arguments));
        let response = self.server.response("rows");
        assert!(response["result"]["isError"] != true, "{response}");
        response["result"]["structuredContent"].clone()
    }
}

#[support::test]
fn a_value_of_each_type_is_returned() {
    let mut shop = Shop::open(
        "CREATE TABLE v (a, b, c, d, e, f);
         INSERT INTO v VALUES (NULL, 7, 0.5, 'a ''text''', x'00ff', 9007199254740991),
            (-1, 9007199254740992, 9e999, CAST(x'61ff' AS TEXT), zeroblob(100000), '');",
    );
    let rows = shop.rows(json!({ "sql": "SELECT * FROM v" }));
    let expected = json!({
        "columns": ["a", "b", "c", "d", "e", "f"],
        "rows": [
            [null, 7, 0.5, "a 'text'", { "bytes": 2, "hex": "00ff" }, 9_007_199_254_740_991_u64],
            [-1, "9007199254740992", "inf", "a\u{fffd}", { "bytes": 100_000, "hex": "0".repeat(32) }, ""],
        ],
    });
    assert_eq!(rows, expected);
    let parameters = json!([7, 0.5, "a 'text'"]);
    let sql = "SELECT typeof(?1), typeof(?2), d = ?3 FROM v LIMIT ?1 - 6";
    let rows = shop.rows(json!({ "sql": sql, "parameters": parameters }));
    assert_eq!(rows["rows"], json!([["integer", "real", 1]]));
}

#[support::test]
fn a_result_has_at_most_as_many_rows_and_bytes_as_allowed() {
    let mut shop = Shop::open(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, text);
         WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2000)
            INSERT INTO t SELECT x, replace(hex(zeroblob(500)), '00', 'é') FROM c;",
    );
    for (limit, sql, count, reason) in [
        (None, "SELECT id FROM t", 100, Some("more than 100 rows")),
        (Some(3), "SELECT id FROM t", 3, Some("more than 3 rows")),
        (Some(3), "SELECT id FROM t LIMIT 3", 3, None),
        (Some(1000), "SELECT id FROM t", 1000, Some("LIMIT and OFFSET")),
        (Some(1000), "SELECT text FROM t", 50, Some("substr")),
    ] {
        let mut arguments = json!({ "sql": sql });
        if let Some(limit) = limit {
            arguments["limit"] = json!(limit);
        }
        let rows = shop.rows(arguments);
        assert_eq!(rows["rows"].as_array().map(Vec::len), Some(count), "{sql}: {rows}");
        let given = rows["truncated"].as_str();
        assert_eq!(given.is_some(), reason.is_some(), "{sql}: {rows}");
        assert!(given.unwrap_or_default().contains(reason.unwrap_or_default()), "{sql}: {rows}");
    }
    // A single text that is too long is cut.
    let rows = shop.rows(json!({ "sql": "SELECT group_concat(text, '') FROM t WHERE id < 100" }));
    let text = rows["rows"][0][0].as_str().expect("a text");
    assert!(text.len() < 60_000 && text.ends_with("é…"), "{}", text.len());
    assert!(rows["truncated"].is_string(), "{}", rows["truncated"]);
    for limit in [0, 1001] {
        let arguments = json!({ "sql": "SELECT 1", "limit": limit });
        let text = shop.server.ask("limit", "query", arguments);
        assert!(text.contains("1..=1000"), "{text}");
    }
}

/// Each of these statements would change the database, or another file.
#[support::test]
fn a_statement_that_writes_is_rejected() {
    let mut shop = Shop::open(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, text); INSERT INTO t VALUES (1, 'a');
         CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('hello');
         CREATE VIRTUAL TABLE place USING rtree(id, low, high); INSERT INTO place VALUES (1, 0, 1);",
    );
    let file = shop.files.folder.join("shop.db").display().to_string();
    let before = fs::read(&file).expect("the file is there");
    let folder = shop.files.folder.display().to_string();
    for sql in [
        "INSERT INTO t VALUES (2, 'b')",
        "INSERT INTO t VALUES (2, 'b') RETURNING id",
        "REPLACE INTO t VALUES (1, 'b')",
        "UPDATE t SET text = 'b'",
        "DELETE FROM t",
        "WITH old AS (SELECT id FROM t) DELETE FROM t WHERE id IN old",
        "WITH RECURSIVE c(x) AS (SELECT 1) INSERT INTO t SELECT x + 1, '' FROM c",
        "EXPLAIN DELETE FROM t",
        "SELECT 1; DELETE FROM t",
        "SELECT 1; SELECT 2",
        "; ; DELETE FROM t",
        "/* SELECT */ DELETE FROM t",
        "CREATE TABLE u (id)",
        "CREATE TEMP TABLE u (id)",
        "CREATE TEMP VIEW u AS SELECT 1",
        "CREATE VIRTUAL TABLE u USING fts5(text)",
        "DROP TABLE t",
        "DROP TABLE words",
        "ALTER TABLE t RENAME TO u",
        "INSERT INTO words (words) VALUES ('optimize')",
        "DELETE FROM place",
        "REINDEX",
        "ANALYZE",
        "VACUUM",
        &format!("VACUUM INTO '{folder}/copy.db'"),
        &format!("ATTACH '{folder}/new.db' AS new"),
        "ATTACH ':memory:' AS new",
        "DETACH main",
        "BEGIN",
        "BEGIN EXCLUSIVE",
        "COMMIT",
        "SAVEPOINT s",
        "PRAGMA query_only = OFF",
        "PRAGMA query_only",
        "PRAGMA journal_mode = WAL",
        "PRAGMA user_version = 7",
        "PRAGMA writable_schema = ON",
        "PRAGMA hard_heap_limit = 0",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA optimize",
        "PRAGMA incremental_vacuum",
        "SELECT * FROM pragma_journal_mode",
        "SELECT * FROM pragma_user_version",
        "",
        " -- nothing",
        ";",
    ] {
        let text = shop.query(sql);
        assert!(text.starts_with("error: ") && text.contains("only reads"), "{sql}: {text}");
    }
    assert_eq!(fs::read(&file).expect("the file is there"), before);
    assert_eq!(fs::read_dir(&shop.files.folder).expect("the folder is there").count(), 1);
    for (sql, expected) in [
        ("SELECT text FROM words WHERE words MATCH 'hello'", "hello"),
        ("SELECT * FROM place WHERE low < 1", "[[1,0.0,1.0]]"),
        ("SELECT name FROM pragma_table_info('t')", "text"),
        ("PRAGMA table_info(t)", "INTEGER"),
        ("EXPLAIN QUERY PLAN SELECT * FROM t WHERE id = 1", "SEARCH t"),
        ("WITH one AS (SELECT 1 AS x) SELECT x FROM one", "[[1]]"),
        ("VALUES (1), (2)", "[[1],[2]]"),
        ("SELECT 1; -- the end", "[[1]]"),
    ] {
        let text = shop.query(sql);
        assert!(text.contains(expected), "{sql}: {text}");
    }
}

#[support::test]
fn a_statement_reads_no_other_file() {
    let mut shop = Shop::open("CREATE TABLE t (id)");
    let secret = shop.files.folder.join("secret.db");
    let db = Connection::open(&secret).expect("the folder is writable");
    db.execute_batch("CREATE TABLE secret (word); INSERT INTO secret VALUES ('sesame')").unwrap();
    drop(db);
    let secret = secret.display();
    for sql in [
        format!("ATTACH '{secret}' AS other"),
        format!("ATTACH 'file:{secret}?mode=ro&immutable=1' AS other"),
        format!("SELECT * FROM \"{secret}\".secret"),
        format!("SELECT * FROM \"file:{secret}\".secret"),
        format!("SELECT readfile('{secret}')"),
        format!("SELECT writefile('{secret}', 'a')"),
        format!("SELECT edit('{secret}')"),
        format!("SELECT load_extension('{secret}')"),
        format!("SELECT * FROM fsdir('{secret}')"),
        format!("SELECT * FROM csv('{secret}')"),
        format!("SELECT fts3_tokenizer('simple', '{secret}')"),
        format!("PRAGMA temp_store_directory = '{secret}'"),
        format!(".read {secret}"),
    ] {
        let text = shop.query(&sql);
        assert!(text.starts_with("error: ") && !text.contains("sesame"), "{sql}: {text}");
    }
}

#[support::test]
fn a_misspelled_name_is_answered_with_similar_ones() {
    let mut shop = Shop::open(
        "CREATE TABLE customer (id, name, city); CREATE TABLE \"order line\" (id, total);
         CREATE VIEW broken AS SELECT * FROM gone;",
    );
    for (sql, part) in [
        ("SELECT * FROM custmer", "no such table: custmer\nDid you mean customer?"),
        ("SELECT * FROM main.custmer", "Did you mean customer?"),
        ("SELECT * FROM order_line", "Did you mean order line?"),
        ("SELECT * FROM zzz", "The tool `tables` lists all tables."),
        ("SELECT * FROM broken", "no such table: main.gone"),
        ("SELECT nam FROM customer", "no such column: nam\nDid you mean customer.name?"),
        ("SELECT c.ctiy FROM customer AS c", "Did you mean customer.city?"),
        // SQLite alone would take the word in double quotes for a text.
        ("SELECT \"nam\" FROM customer", "Did you mean customer.name?"),
        ("SELECT total FROM customer", "Did you mean order line.total?"),
        ("SELEC 1", "near \"SELEC\": syntax error"),
        ("SELECT nofunction(1)", "no such function: nofunction"),
        ("SELECT ?1", "Got 0, needed 1"),
    ] {
        let text = shop.query(sql);
        assert!(text.starts_with("error: ") && text.contains(part), "{sql}: {text}");
        assert!(!text.contains(" offset "), "{sql}: {text}");
    }
    let text = shop.server.ask("table", "describe", json!({ "table": "custmer" }));
    assert_eq!(text, "error: no such table: custmer\nDid you mean customer?");
    let text = shop.server.ask("view", "describe", json!({ "table": "broken" }));
    assert!(text.contains("CREATE VIEW broken"), "{text}");
}

/// Without limits, each of these statements would take gigabytes of memory, or time without an end inside a single function.
#[support::test]
fn a_statement_takes_a_bounded_amount_of_memory() {
    let mut shop = Shop::open("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(10000000))");
    let numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000)";
    let blobs = "WITH RECURSIVE c(x) AS (SELECT zeroblob(200000) UNION ALL SELECT x FROM c)";
    let doubled = format!("SELECT x{} FROM (SELECT x FROM t)", "||x".repeat(12));
    let nested = "SELECT x || x AS x FROM (".repeat(40) + "SELECT x FROM t" + &")".repeat(40);
    for (sql, part) in [
        ("SELECT zeroblob(1000000000)", "limit"),
        ("SELECT length(randomblob(1000000000))", "limit"),
        ("SELECT hex(zeroblob(200000))", "limit"),
        ("SELECT printf('%.*c', 2000000000, 'x')", "limit"),
        ("SELECT replace(hex(zeroblob(100000)), '0', 'aaaaaaaa')", "limit"),
        ("SELECT x FROM t", "`length`"),
        (&doubled, "`length`"),
        (&format!("{numbers} SELECT group_concat(x) FROM c"), "limit"),
        (&format!("{numbers} SELECT json_group_array(x) FROM c"), "limit"),
        (&format!("{blobs} SELECT x FROM c ORDER BY x"), "out of memory"),
        (&nested, "out of memory"),
        (&format!("SELECT {}1", "~".repeat(50_000)), "limit"),
        (&format!("SELECT 1 /* {} */", "a".repeat(200_000)), "too long"),
        ("SELECT 'a' LIKE printf('%.*c', 1000, '%')", "too complex"),
        ("SELECT trim('aaaa', 'a')", "wrong number of arguments"),
        ("SELECT json_patch('{}', '{}')", "not authorized to use function"),
    ] {
        let text = shop.query_with_memory(sql, part);
        // On a busy machine the time is over before the memory is full.
        let is_stopped = text.contains(part) || text.contains("took longer than 10s");
        assert!(text.starts_with("error: ") && is_stopped, "{sql:.80}: {text:.300}");
    }
    let sql = "SELECT length(x), trim(' a ') FROM t";
    let text = shop.query_with_memory(sql, "10000000");
    assert!(text.contains("[[10000000,\"a\"]]"), "{text}");
    let peak = peak_memory(shop.server.pid());
    assert!(peak < 600 << 20, "{} MiB", peak >> 20);
}

#[support::test]
fn cancelled_statements_end() {
    let mut shop = Shop::open("");
    for id in 0..AT_ONCE {
        shop.server.send(&call(id, "query", json!({ "sql": ENDLESS })));
    }
    let text = shop.query("SELECT 7");
    assert!(text.starts_with("error: ") && !text.contains('7'), "{text}");
    // The limit is only for statements.
    assert_eq!(shop.server.ask("tables", "tables", json!({})), "{\"tables\":[]}");
    for id in 0..AT_ONCE {
        shop.server.send(&cancelled(id));
    }
    // A call counts until its function has returned, so this statement runs only after another one has ended.
    let text = eventually_blocking("a statement has ended", || {
        Some(shop.query("SELECT 7")).filter(|text| !text.starts_with("error: "))
    });
    assert!(text.contains("[[7]]"), "{text}");
    shop.server.finish().check_soon();
}

#[support::test]
fn a_statement_that_takes_too_long_is_stopped() {
    let mut shop = Shop::open("CREATE TABLE t (text); INSERT INTO t VALUES ('a')");
    let endless = ENDLESS.replace("count(*)", "max(x)");
    shop.server.send(&call("long", "query", json!({ "sql": endless })));
    // Statements do not wait for each other.
    assert!(shop.query("SELECT text FROM t").contains("[[\"a\"]]"));
    let text = text_of(&shop.server.response("long"));
    assert_eq!(text, "error: the tool `query` took longer than 10s and was given up");
    shop.server.finish().check_soon();
}

/// Runs the example with these arguments, without a client.
fn run(arguments: &[&str]) -> Output {
    let files = Files::new("database");
    fs::write(files.folder.join("text.db"), "This is a text. ".repeat(100)).expect("is writable");
    let mut command = Command::new(files.address());
    command.args(arguments).current_dir(&files.folder);
    command.output().expect("the example starts")
}

#[support::test]
fn a_missing_database_is_named() {
    for (arguments, parts) in [
        (&[][..], &["`file` at ", "`--file FILE`", "`DATABASE_FILE`"][..]),
        (&["call", "tables"], &["`--file FILE`"]),
        (&["--http", "127.0.0.1:0"], &["`--file FILE`"]),
        (&["--file", "shpo.db"], &["there is no file", "shpo.db"]),
        (&["--file", "shpo.db", "call", "tables"], &["there is no file", "shpo.db"]),
        (&["--file=."], &["there is no file"]),
        (&["--file=text.db"], &["text.db", "file is not a database"]),
    ] {
        let output = run(arguments);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        }
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    for arguments in
        [&["list"][..], &["schema"], &["help"], &["--version"], &["--file=shop.db", "list"]]
    {
        let output = run(arguments);
        assert!(output.status.success() && !output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
}
