use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{Asked, NOTIFICATIONS, REQUESTS, RESULTS, REVISIONS, Schema};

/// Checks that `message`, as the response to request 1 of `method`, is valid, or is rejected with an error that contains `complaint`.
#[track_caller]
fn check(revision: &str, method: &str, message: &Value, complaint: Option<&str>) {
    let schema = Schema::of(revision);
    let mut asked = Asked::default();
    asked.note(&json!({"jsonrpc": "2.0", "id": 1, "method": method}));
    match (schema.check(message, &asked), complaint) {
        (Ok(()), None) => {}
        (Ok(()), Some(_)) => panic!("{revision} accepts {message}"),
        (Err(error), None) => panic!("{revision}: {error}"),
        (Err(error), Some(part)) => assert!(error.contains(part), "{error}"),
    }
}

fn answer(result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn official_examples_conform() {
    let schema = Schema::of("2026-07-28");
    let mut judged = 0;
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/official/2026-07-28/examples");
    for kind in files(Path::new(examples)) {
        let name = kind.file_name().unwrap().to_str().unwrap().to_owned();
        for file in files(&kind) {
            let mut example: Value =
                serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            // The version is set here, because some examples of whole messages lack it.
            if name.ends_with("Request") || name.ends_with("Notification") {
                example["jsonrpc"] = "2.0".into();
            }
            if let Err(error) = schema.conform(&name, &example) {
                panic!("{}: {error}", file.display());
            }
            judged += 1;
        }
    }
    assert!(judged > 100, "only {judged} examples");
}

#[test]
fn broken_examples_do_not() {
    let schema = Schema::of("2026-07-28");
    let broken = [
        ("TextContent", json!({"type": "text"})),
        ("ImageContent", json!({"type": "image", "data": 7, "mimeType": "image/png"})),
        ("Tool", json!({"name": "add"})),
        ("Tool", json!({"name": "add", "inputSchema": {"type": "array"}})),
        ("ListToolsResult", json!({"resultType": "complete", "tools": []})),
        ("Resource", json!({"name": "readme"})),
        (
            "ProgressNotification",
            json!({
                "jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1},
            }),
        ),
        (
            "UnsupportedProtocolVersionError",
            json!({
                "jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "no", "data": {}},
            }),
        ),
    ];
    for (name, example) in broken {
        assert!(schema.conform(name, &example).is_err(), "{name} accepts {example}");
    }
}

#[test]
fn every_row_names_a_definition_of_its_revisions() {
    for (index, revision) in REVISIONS.iter().enumerate() {
        let schema = Schema::of(revision);
        let rows = RESULTS.iter().chain(&NOTIFICATIONS).chain(&REQUESTS);
        for row in rows.filter(|row| (row.2..=row.3).contains(&index)) {
            schema.validator(row.1);
        }
    }
}

#[test]
fn results_follow_their_request() {
    let initialized = answer(&json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "a", "version": "1"},
    }));
    for revision in &REVISIONS[..4] {
        check(revision, "initialize", &initialized, None);
        check(revision, "ping", &answer(&json!({})), None);
        check(revision, "initialize", &answer(&json!({})), Some("InitializeResult"));
        check(revision, "tools/call", &answer(&json!({"content": [{"type": "text"}]})), Some(""));
        check(revision, "server/discover", &answer(&json!({})), Some("cannot succeed"));
    }
    check(
        "2026-07-28",
        "ping",
        &answer(&json!({"resultType": "complete"})),
        Some("cannot succeed"),
    );
    check("2025-06-18", "tasks/get", &answer(&json!({})), Some("cannot succeed"));
}

#[test]
fn modern_results_have_a_type() {
    let content = json!([{"type": "text", "text": "42"}]);
    let call = |message: &Value, complaint| check("2026-07-28", "tools/call", message, complaint);
    call(&answer(&json!({"resultType": "complete", "content": content})), None);
    call(&answer(&json!({"content": content})), Some("resultType"));
    call(&answer(&json!({"resultType": "else", "content": content})), Some("resultType"));
    call(&answer(&json!({"resultType": "input_required", "requestState": "s"})), None);
    call(
        &answer(&json!({"resultType": "input_required", "requestState": 7})),
        Some("InputRequired"),
    );
    let listed = answer(&json!({"resultType": "input_required", "requestState": "s"}));
    check("2026-07-28", "tools/list", &listed, Some("resultType"));
}

#[test]
fn a_task_may_stand_for_a_result_in_2025_11_25() {
    let task = json!({
        "taskId": "t", "status": "working", "ttl": null,
        "createdAt": "2025-11-25T10:30:00Z", "lastUpdatedAt": "2025-11-25T10:30:00Z",
    });
    check("2025-11-25", "tools/call", &answer(&json!({"task": task})), None);
    check("2025-11-25", "tools/call", &answer(&json!({"task": {}})), Some("CreateTaskResult"));
    check("2025-06-18", "tools/call", &answer(&json!({"task": task})), Some("content"));
}

#[test]
fn the_envelope_is_one_of_four() {
    let message = |message| check("2025-06-18", "ping", &message, Some("neither"));
    message(json!({"jsonrpc": "2.0", "id": 1}));
    message(json!({"jsonrpc": "2.0", "result": {}}));
    message(json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": ""}}));
    message(json!([answer(&json!({}))]));
    check("2025-03-26", "ping", &json!([answer(&json!({}))]), None);
    check("2025-03-26", "ping", &json!([]), Some("empty"));
    check("2025-06-18", "ping", &json!({"id": 1, "result": {}}), Some("jsonrpc"));
    check("2025-06-18", "ping", &json!({"jsonrpc": "2.0", "id": 2, "result": {}}), Some("asked"));
    check("2025-06-18", "ping", &json!({"jsonrpc": "2.0", "id": "1", "result": {}}), Some("asked"));
}

#[test]
fn errors_have_an_id_unless_the_request_was_unreadable() {
    let error =
        |id: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32700, "message": "m"}});
    let mut without = error(Value::Null);
    without.as_object_mut().unwrap().remove("id");
    for (index, revision) in REVISIONS.iter().enumerate() {
        check(revision, "ping", &error(json!(1)), None);
        check(revision, "ping", &error(json!(9)), Some("asked"));
        check(revision, "ping", &without, (index < 3).then_some("id"));
        check(revision, "ping", &error(Value::Null), (index >= 3).then_some("id"));
    }
    let unsupported = |data: Value| json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "m", "data": data}});
    let data = json!({"supported": ["2026-07-28"], "requested": "v999"});
    check("2026-07-28", "tools/list", &unsupported(data), None);
    check("2026-07-28", "tools/list", &unsupported(json!({})), Some("supported"));
}

#[test]
fn notifications_and_requests_belong_to_revisions() {
    let progress = json!({
        "jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5},
    });
    let elicit = json!({
        "jsonrpc": "2.0", "id": 7, "method": "elicitation/create",
        "params": {"message": "Go?", "requestedSchema": {"type": "object", "properties": {}}},
    });
    for (index, revision) in REVISIONS.iter().enumerate() {
        check(revision, "tools/call", &progress, None);
        let asks = (2..=3).contains(&index);
        check(revision, "tools/call", &elicit, (!asks).then_some("servers send no request"));
    }
    let unknown = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    check("2025-11-25", "tools/call", &unknown, Some("servers send no notification"));
}

#[test]
fn tasks_of_the_extension_have_what_their_status_says() {
    let task = |status: &str, more: Value| {
        let mut task = json!({
            "resultType": "complete", "taskId": "t", "status": status, "ttlMs": null,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        answer(&task)
    };
    let get = |message: &Value, complaint| check("2026-07-28", "tasks/get", message, complaint);
    let result = json!({ "result": { "resultType": "complete", "content": [] } });
    get(&task("working", json!({})), None);
    get(&task("completed", result.clone()), None);
    get(&task("failed", json!({ "error": { "code": 1, "message": "m" } })), None);
    get(&task("completed", json!({})), Some("GetTaskResult"));
    get(&task("working", result), Some("GetTaskResult"));
    get(&task("failed", json!({})), Some("GetTaskResult"));
    get(&task("input_required", json!({ "inputRequests": {} })), Some("GetTaskResult"));
    get(&task("working", json!({ "ttl": 5 })), Some("GetTaskResult"));
    let acknowledged = |message: &Value, complaint| {
        check("2026-07-28", "tasks/update", message, complaint);
        check("2026-07-28", "tasks/cancel", message, complaint);
    };
    acknowledged(&answer(&json!({ "resultType": "complete" })), None);
    acknowledged(&task("working", json!({})), Some("TaskAcknowledgement"));
}
