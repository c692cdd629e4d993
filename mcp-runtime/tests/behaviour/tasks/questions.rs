//! Questions that tasks ask the user, and the clients that answer them.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_task_waits_for_its_answers_in_the_newer_dialect() {
    let mut client = connect(V5).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["status"], "input_required");
    let asked = seen["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(asked["a"]["method"], "elicitation/create");
    assert_eq!(asked["a"]["params"]["message"], "A?");
    let update = async |client: &mut TestClient, answers: Value| {
        let params = json!({ "taskId": id, "inputResponses": answers });
        let answer = client.request("tasks/update", params).await.unwrap();
        assert_eq!(answer["resultType"], "complete");
        assert!(answer.get("status").is_none() && answer.get("taskId").is_none());
    };
    // A right answer, a wrong one, and an answer to a question that was never asked.
    update(&mut client, json!({ "b": accept("Bo"), "a": { "action": 5 }, "z": accept("Z") })).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["a"]);
    update(&mut client, json!({ "a": accept("Al"), "b": accept("Other") })).await;
    pause(1).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["c"]);
    update(&mut client, json!({ "c": accept("Cy") })).await;
    pause(1).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["result"]["content"][0]["text"], "Al Bo Cy");
    let error = client.request("tasks/update", json!({ "taskId": id })).await.unwrap_err();
    assert_eq!(error.code, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_the_client_that_awaits_its_result_in_the_older_dialect() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "asks", json!({})).await;
    assert_eq!(get(&mut client, &id).await["status"], "input_required");
    let task = id.clone();
    client.answer_with(move |method, params| {
        assert_eq!(method, "elicitation/create");
        let related = &params["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
        assert_eq!(related, &json!(task));
        accept(params["message"].as_str().unwrap().trim_end_matches('?'))
    });
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "A B C");
}

#[tokio::test(start_paused = true)]
async fn unanswered_questions_go_to_the_next_request_for_the_result() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let waiting = client.start("tasks/result", json!({ "taskId": id }));
    let mut asked = Vec::new();
    while asked.len() < 2 {
        let told = client.notification(Duration::from_secs(1)).await.expect("a question");
        if told["method"] == "elicitation/create" {
            asked.push(told["id"].clone());
        }
    }
    client.cancel(waiting);
    let mut withdrawn = Vec::new();
    while let Some(told) = client.notification(Duration::from_secs(1)).await {
        if told["method"] == "notifications/cancelled" {
            withdrawn.push(told["params"]["requestId"].clone());
        }
    }
    assert_eq!(withdrawn, asked);
    client.answer_with(|_, _| accept("X"));
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "X X X");
}

#[tokio::test(start_paused = true)]
async fn a_received_answer_is_not_lost() {
    for gives_up in [false, true] {
        let mut client = connect(V4).await;
        let id = begin(&mut client, "asks", json!({})).await;
        let waiting = client.start("tasks/result", json!({ "taskId": id }));
        let mut questions = Vec::new();
        while questions.len() < 2 {
            let told = client.notification(Duration::from_secs(1)).await.expect("a question");
            questions
                .extend(Some(told).filter(|message| message["method"] == "elicitation/create"));
        }
        // These messages are sent without a pause, so the server reads the last one before the pending `tasks/result` has handled the
        // answers.
        for question in questions {
            let id = &question["id"];
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": accept("First") });
            client.send_raw(answer.to_string().as_bytes());
        }
        if gives_up {
            client.cancel(waiting);
        } else {
            client.start("tasks/result", json!({ "taskId": id }));
        }
        pause(1).await;
        client.answer_with(|_, _| accept("Next"));
        let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
        assert_eq!(result["content"][0]["text"], "First First Next");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_one_dialect_can_be_used_in_the_other() {
    // A connection can use both dialects, because each request states its own protocol revision.
    let mut client = connect(V4).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let modern = |method: &str, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": V5.name(),
            "io.modelcontextprotocol/clientCapabilities":
                { "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        (method.to_owned(), params)
    };
    let (method, params) = modern("tasks/get", json!({ "taskId": id }));
    let seen = client.request(&method, params).await.unwrap();
    assert_eq!((seen["status"].as_str(), seen["ttlMs"].is_u64()), (Some("input_required"), true));
    for answers in [json!({ "a": accept("1"), "b": accept("2") }), json!({ "c": accept("3") })] {
        pause(1).await;
        let update = json!({ "taskId": id, "inputResponses": answers });
        let (method, params) = modern("tasks/update", update);
        client.request(&method, params).await.unwrap();
    }
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "1 2 3");
}

#[tokio::test(start_paused = true)]
async fn questions_asked_before_the_task_begins_are_asked_in_the_call() {
    let mut client = connect(V5).await;
    let params = json!({ "name": "first_asks" });
    let first = client.request("tools/call", params).await.unwrap();
    assert_eq!(first["resultType"], "input_required");
    assert!(first.get("taskId").is_none());
    let mut params = json!({ "name": "first_asks", "inputResponses": { "name": accept("Al") } });
    if let Some(state) = first.get("requestState") {
        params["requestState"] = state.clone();
    }
    let second = client.request("tools/call", params).await.unwrap();
    assert_eq!(second["resultType"], "task");
    check_shape(&second, V5);
    assert_eq!((&second["ttlMs"], &second["pollIntervalMs"]), (&json!(120_000), &json!(3000)));
    client.answer_with(|_, params| {
        assert_eq!(params["message"], "Last name?");
        accept("Low")
    });
    assert_eq!(client.finish_task(&second).await.unwrap().text(), "Al Low");
}

#[tokio::test(start_paused = true)]
async fn the_older_dialect_has_the_task_from_the_start() {
    let mut client = connect(V4).await;
    client.answer_with(|_, params| accept(if params["message"] == "Name?" { "Al" } else { "Low" }));
    let created = create(&mut client, "first_asks", json!({})).await;
    assert_eq!(client.finish_task(&created).await.unwrap().text(), "Al Low");
}
