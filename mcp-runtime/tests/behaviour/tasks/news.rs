//! Notifications that tell clients about a task without polling.

use super::*;

#[tokio::test(start_paused = true)]
async fn progress_becomes_the_status_message() {
    for revision in [V4, V5] {
        let mut client = connect(revision).await;
        let id = begin(&mut client, "reports", json!({})).await;
        pause(15).await;
        assert_eq!(get(&mut client, &id).await["statusMessage"], "step 2");
        pause(30).await;
        let seen = get(&mut client, &id).await;
        assert_eq!((&seen["status"], &seen["statusMessage"]), (&json!("completed"), &Value::Null));
    }
}

#[tokio::test(start_paused = true)]
async fn a_progress_token_lives_as_long_as_the_task_in_the_older_dialect() {
    let mut client = connect(V4).await;
    let params = json!({ "name": "reports", "task": {}, "_meta": { "progressToken": "p" } });
    let created = client.request("tools/call", params).await.unwrap();
    let id = &created["task"]["taskId"];
    let mut messages = Vec::new();
    while let Some(told) = client.notification(Duration::from_secs(12)).await {
        if told["method"] == "notifications/progress" {
            let related = &told["params"]["_meta"]["io.modelcontextprotocol/related-task"];
            assert_eq!(&related["taskId"], id);
            messages.push(told["params"]["progress"].as_f64().unwrap());
        }
    }
    assert_eq!(
        messages,
        [2.0, 3.0],
        "the first comes before there is a task, and is in its status"
    );

    let mut client = connect(V5).await;
    let params = json!({ "name": "reports", "_meta": { "progressToken": "p" } });
    client.request("tools/call", params).await.unwrap();
    assert_eq!(client.notification(Duration::from_secs(60)).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_notified_of_its_own_tasks() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
    let told = client.notification(Duration::from_secs(30)).await.expect("it has ended");
    assert_eq!(told["method"], "notifications/tasks/status");
    check_shape(&told["params"], V4);
    let params = &told["params"];
    assert_eq!((&params["taskId"], &params["status"]), (&json!(id), &json!("completed")));
    assert_eq!(client.notification(Duration::from_secs(30)).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_notified_of_the_tasks_that_it_names() {
    let mut client = connect(V5).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let other = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
    client.listen(json!({ "taskIds": [id, "none"] })).await.unwrap();
    let params = json!({ "taskId": id, "inputResponses": { "a": accept("1"), "b": accept("2") } });
    client.request("tasks/update", params).await.unwrap();
    pause(2).await;
    let params = json!({ "taskId": id, "inputResponses": { "c": accept("3") } });
    client.request("tasks/update", params).await.unwrap();
    let mut seen = Vec::new();
    while let Some(told) = client.notification(Duration::from_secs(5)).await {
        if told["method"] == "notifications/subscriptions/acknowledged" {
            assert_eq!(told["params"]["notifications"], json!({ "taskIds": [id] }));
            continue;
        }
        assert_eq!(told["method"], "notifications/tasks");
        let params = &told["params"];
        assert_eq!(params["taskId"], id.as_str());
        assert_ne!(params["taskId"], other.as_str());
        assert!(!params["_meta"]["io.modelcontextprotocol/subscriptionId"].is_null());
        let asked = params["inputRequests"].as_object().map_or(0, serde_json::Map::len);
        seen.push(format!("{} {asked}", params["status"].as_str().unwrap()));
        if params["status"] == "completed" {
            assert_eq!(params["result"]["content"][0]["text"], "1 2 3");
        }
    }
    let expected = [
        "input_required 2",
        "input_required 1",
        "working 0",
        "input_required 1",
        "working 0",
        "completed 0",
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_tasks_needs_the_extension() {
    let mut client = TestClient::connect_with(everything(), V5).await.unwrap();
    let params = json!({ "notifications": { "taskIds": [] } });
    let error = client.request("subscriptions/listen", params).await.unwrap_err();
    assert_eq!(error.code, -32021);
}
