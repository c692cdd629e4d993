//! Conversations of a client with servers that replace each other.

use super::*;

fn call(id: u64) -> Message {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "a" } }).into()
}

fn done(id: impl Into<Value>) -> Message {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": {} }).into()
}

/// Returns the text of a tool's result.
fn text(answer: &Message) -> Value {
    answer.value(&["result", "content"])[0]["text"].clone()
}

/// Starts a server, and lets it answer its greeting.
fn take_over(conversation: &mut Conversation, server: ServerNumber) -> Vec<Step> {
    conversation.start(server);
    let [Step::ToServer(_, greeting)] = &conversation.steps()[..] else { panic!("no greeting") };
    conversation.server_sent(server, &done(greeting.id()));
    conversation.steps()
}

#[test]
fn a_call_ends_at_the_server_that_has_begun_it() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.client_sent(&call(7));
    assert_eq!(conversation.steps(), [Step::ToServer(1, call(7))]);
    assert_eq!(take_over(&mut conversation, 2), [Step::Retire(1)]);
    conversation.client_sent(&call(8));
    assert_eq!(conversation.steps(), [Step::ToServer(2, call(8))]);
    conversation.server_sent(1, &done(7));
    assert_eq!(conversation.steps(), [Step::ToClient(done(7)), Step::Close(1)]);
    conversation.give_up(1);
    assert_eq!(conversation.steps(), []);
}

#[test]
fn a_call_that_takes_too_long_at_a_retired_server_fails() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.client_sent(&call(7));
    conversation.steps();
    take_over(&mut conversation, 2);
    conversation.give_up(1);
    let [Step::ToClient(answer), Step::Close(1)] = &conversation.steps()[..] else {
        panic!("the call goes on")
    };
    assert_eq!(answer.value(&["result", "isError"]), true);
}

#[test]
fn calls_wait_for_the_build_and_can_be_cancelled_meanwhile() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.changed();
    conversation.client_sent(&call(7));
    conversation.client_sent(&call(8));
    let cancelled: Message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }).into();
    conversation.client_sent(&cancelled);
    assert_eq!(conversation.steps(), []);
    let steps = take_over(&mut conversation, 2);
    assert_eq!(steps, [Step::ToServer(2, call(8)), Step::Retire(1), Step::Close(1)]);
}

#[test]
fn calls_that_wait_for_a_build_are_answered_when_the_client_leaves() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.changed();
    conversation.client_sent(&call(7));
    assert!(conversation.is_waiting(), "the build may still end in time");
    conversation.give_up_waiting();
    let [Step::ToClient(answer)] = &conversation.steps()[..] else { panic!("no answer") };
    assert_eq!((answer.id(), answer.value(&["result", "isError"])), (json!(7), json!(true)));
    assert!(!conversation.is_waiting());
}

#[test]
fn a_retired_server_does_not_wait_for_a_cancelled_request() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.client_sent(&call(7));
    conversation.client_sent(&call(8));
    conversation.steps();
    let cancelled = |id: u64| {
        Message::from(
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        )
    };
    conversation.client_sent(&cancelled(7));
    assert_eq!(conversation.steps(), [Step::ToServer(1, cancelled(7))]);
    assert_eq!(take_over(&mut conversation, 2), [Step::Retire(1)]);
    conversation.client_sent(&cancelled(8));
    assert_eq!(conversation.steps(), [Step::ToServer(1, cancelled(8)), Step::Close(1)]);
    // A cancelled request has no answer.
    conversation.server_sent(1, &done(8));
    conversation.ended(1, "it has ended");
    assert_eq!(conversation.steps(), []);
}

#[test]
fn a_failed_build_is_reported_though_a_server_of_earlier_sources_takes_over() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.start(2);
    let [Step::ToServer(2, greeting)] = &conversation.steps()[..] else { panic!("no greeting") };
    conversation.changed();
    conversation.build_failed("it does not compile".to_owned());
    conversation.client_sent(&call(7));
    assert_eq!(conversation.steps(), []);
    conversation.server_sent(2, &done(greeting.id()));
    let [Step::ToClient(answer), ..] = &conversation.steps()[..] else { panic!("no answer") };
    assert_eq!(text(answer), "it does not compile");
    // The author takes the last change back.
    conversation.changed();
    conversation.nothing_new();
    conversation.client_sent(&call(8));
    assert_eq!(conversation.steps(), [Step::ToServer(2, call(8))]);
}

#[test]
fn calls_are_answered_if_the_system_cannot_start_the_server_again() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.start(2);
    conversation.steps();
    conversation.hold();
    conversation.client_sent(&call(7));
    conversation.ended(1, "it has ended");
    assert_eq!(conversation.steps(), [Step::Retire(1), Step::Close(1)]);
    conversation.cannot_start("there are too many processes".to_owned());
    let [Step::ToClient(answer)] = &conversation.steps()[..] else { panic!("no answer") };
    assert_eq!(text(answer), "there are too many processes");
}

#[test]
fn the_answer_to_a_line_that_is_no_message_reaches_the_client() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    let error = json!({ "code": -32700, "message": "a" });
    let answer = Message::from(json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    conversation.server_sent(1, &answer);
    assert_eq!(conversation.steps(), [Step::ToClient(answer)]);
}

#[test]
fn the_answer_to_a_line_that_is_no_message_but_has_an_id_reaches_the_client() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.sent_as_it_is(1, &json!({ "jsonrpc": "2.0", "id": 5 }).into());
    conversation.sent_as_it_is(1, &json!([{ "id": 6 }]).into());
    conversation.server_sent(1, &refused(5));
    assert_eq!(conversation.steps(), [Step::ToClient(refused(5))]);
    assert_eq!(take_over(&mut conversation, 2), [Step::Retire(1), Step::Close(1)]);
}

#[test]
fn questions_of_two_servers_with_the_same_id_reach_the_right_one() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create" }).into();
    let mut ids = Vec::new();
    for server in [1, 2] {
        conversation.client_sent(&call(server));
        conversation.steps();
        conversation.server_sent(server, &question);
        let [Step::ToClient(asked)] = &conversation.steps()[..] else { panic!("no question") };
        ids.push(asked.id());
        take_over(&mut conversation, server + 1);
    }
    for (server, id) in [1, 2].into_iter().zip(&ids) {
        conversation.client_sent(&done(id.clone()));
        assert_eq!(conversation.steps(), [Step::ToServer(server, done(1))]);
    }
}

#[test]
fn a_listen_stream_goes_on_at_the_next_server() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    let wanted = json!({ "toolsListChanged": true });
    let listen: Message = json!({ "id": "l", "method": "subscriptions/listen", "params": { "notifications": wanted } }).into();
    conversation.client_sent(&listen);
    conversation.steps();
    let meta = json!({ message::SUBSCRIPTION: "l" });
    let acknowledged =
        json!({ "method": ACKNOWLEDGED, "params": { "_meta": meta, "notifications": {} } }).into();
    conversation.server_sent(1, &acknowledged);
    let [Step::ToClient(seen)] = &conversation.steps()[..] else { panic!("no stream") };
    assert_eq!(seen.value(&["params", "notifications"]), wanted);
    let changed =
        message::list_changed("notifications/tools/list_changed", Some(json!("l").into()));
    let expected = [
        Step::ToServer(2, listen),
        Step::ToClient(changed.clone()),
        Step::Retire(1),
        Step::Close(1),
    ];
    assert_eq!(take_over(&mut conversation, 2), expected);
    // The end of the stream at the old server, and its beginning at the new server, are no news.
    conversation.server_sent(1, &changed);
    conversation.server_sent(1, &done("l"));
    conversation.server_sent(2, &acknowledged);
    assert_eq!(conversation.steps(), []);
}

#[test]
fn a_listen_stream_outlasts_a_server_that_ends_before_the_next_one_starts() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    let listen: Message =
        json!({ "id": "l", "method": "subscriptions/listen", "params": {} }).into();
    conversation.client_sent(&listen);
    conversation.start(2);
    conversation.steps();
    conversation.hold();
    conversation.client_sent(&call(7));
    assert_eq!(conversation.steps(), [Step::Retire(1), Step::Close(1)]);
    conversation.server_sent(1, &done("l"));
    conversation.ended(1, "it has ended");
    assert_eq!(conversation.steps(), []);
    conversation.start_again(3, None);
    let [Step::ToServer(3, greeting)] = &conversation.steps()[..] else { panic!("no greeting") };
    conversation.server_sent(3, &done(greeting.id()));
    assert_eq!(conversation.steps(), [Step::ToServer(3, listen), Step::ToServer(3, call(7))]);
}

#[test]
fn a_session_that_begins_while_a_server_starts_is_known_to_that_server() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.start(2);
    conversation.steps();
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "a": 1 } }).into();
    conversation.client_sent(&initialize);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    conversation.client_sent(&initialized.into());
    conversation.steps();
    let greeting = conversation.starting.as_ref().map(|starting| starting.greeting.id());
    conversation.server_sent(2, &done(greeting.expect("it starts")));
    let [Step::ToServer(2, greeting)] = &conversation.steps()[..] else { panic!("no handshake") };
    assert_eq!(
        (&*greeting.method(), greeting.value(&["params"])),
        ("initialize", json!({ "a": 1 }))
    );
    conversation.server_sent(2, &done(greeting.id()));
    let steps = conversation.steps();
    assert!(
        matches!(&steps[0], Step::ToServer(2, first) if first.method() == "notifications/initialized")
    );
    let changes = steps.iter().filter(|step| matches!(step, Step::ToClient(_)));
    assert_eq!(changes.count(), 3);
}

#[test]
fn a_server_that_ends_is_reported_until_the_next_one_runs() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.client_sent(&call(7));
    conversation.steps();
    conversation.ended(1, "it is dead");
    conversation.client_sent(&call(8));
    let texts = conversation.steps().into_iter().map(|step| match step {
        Step::ToClient(answer) => text(&answer),
        other => panic!("{other:?}"),
    });
    assert_eq!(texts.collect::<Vec<_>>(), ["it is dead", "it is dead"]);
    conversation.changed();
    conversation.client_sent(&call(9));
    assert_eq!(take_over(&mut conversation, 2), [Step::ToServer(2, call(9))]);
}

#[test]
fn a_message_keeps_its_text_on_both_ways() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    let sent = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"b":1e400,"a":18446744073709551616}}"#;
    let sent = Message::read(sent.as_bytes()).unwrap();
    conversation.client_sent(&sent);
    assert_eq!(conversation.steps(), [Step::ToServer(1, sent)]);
    let question = r#"{"method":"elicitation/create","id":"q","params":{"zip":1.0,"city":2}}"#;
    conversation.server_sent(1, &Message::read(question.as_bytes()).unwrap());
    let [Step::ToClient(asked)] = &conversation.steps()[..] else { panic!("no question") };
    assert_eq!(asked.text(), question.replace("\"q\"", &asked.id().to_string()));
    let answer = r#"{"result":{"b":1,"a":0.10},"id":7}"#;
    let answer = Message::read(answer.as_bytes()).unwrap();
    conversation.server_sent(1, &answer);
    assert_eq!(conversation.steps(), [Step::ToClient(answer)]);
}

fn request(id: u64, method: &str, params: Value) -> Message {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).into()
}

fn initialized() -> Message {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).into()
}

fn refused(id: u64) -> Message {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": "no" } }).into()
}

/// Begins a session at a server that runs.
fn begin_session(conversation: &mut Conversation, server: ServerNumber) {
    conversation.client_sent(&request(1, "initialize", json!({ "a": 1 })));
    conversation.server_sent(server, &done(1));
    conversation.client_sent(&initialized());
    conversation.steps();
}

/// Lets a new server answer the handshake of the client. Returns the methods and parameters of the messages that it gets afterwards.
fn exchange(conversation: &mut Conversation, server: ServerNumber) -> Vec<(String, Value)> {
    conversation.start(server);
    let [Step::ToServer(_, greeting)] = &conversation.steps()[..] else { panic!("no greeting") };
    let expected = ("initialize".to_owned(), json!({ "a": 1 }));
    assert_eq!((greeting.method(), greeting.value(&["params"])), expected);
    conversation.server_sent(server, &done(greeting.id()));
    let sent = conversation.steps().into_iter().filter_map(|step| match step {
        Step::ToServer(number, message) if number == server => {
            Some((message.method(), message.value(&["params"])))
        }
        _ => None,
    });
    sent.collect()
}

#[test]
fn messages_that_follow_a_waiting_handshake_reach_the_server_in_order() {
    let mut conversation = Conversation::default();
    conversation.start(1);
    let [Step::ToServer(1, greeting)] = &conversation.steps()[..] else { panic!("no greeting") };
    let subscribe = request(2, "resources/subscribe", json!({ "uri": "a" }));
    let sent = [request(1, "initialize", json!({})), initialized(), subscribe];
    for message in &sent {
        conversation.client_sent(message);
    }
    // A notification without an id cancels no message that waits.
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" });
    conversation.client_sent(&cancelled.into());
    assert_eq!(conversation.steps(), []);
    conversation.server_sent(1, &done(greeting.id()));
    assert_eq!(conversation.steps(), sent.map(|message| Step::ToServer(1, message)));
}

#[test]
fn only_requests_that_wait_are_answered_when_the_client_leaves() {
    let mut conversation = Conversation::default();
    conversation.start(1);
    conversation.steps();
    conversation.client_sent(&request(1, "initialize", json!({})));
    conversation.client_sent(&initialized());
    conversation.give_up_waiting();
    let [Step::ToClient(answer)] = &conversation.steps()[..] else { panic!("no answer") };
    assert_eq!(answer.id(), 1);
}

#[test]
fn the_next_server_gets_only_requests_that_the_last_one_has_accepted() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    begin_session(&mut conversation, 1);
    let level = |level: &str| json!({ "level": level });
    let uri = |uri: &str| json!({ "uri": uri });
    for (id, method, params, is_accepted) in [
        (2, "logging/setLevel", level("debug"), true),
        (3, "logging/setLevel", level("bogus"), false),
        (4, "resources/subscribe", uri("a"), true),
        (5, "resources/subscribe", uri("b"), false),
        (6, "resources/unsubscribe", uri("a"), false),
        // The session goes on, whose handshake the server has accepted.
        (7, "initialize", json!({}), false),
    ] {
        conversation.client_sent(&request(id, method, params));
        conversation.server_sent(1, &if is_accepted { done(id) } else { refused(id) });
    }
    conversation.steps();
    let expected = [
        ("notifications/initialized", Value::Null),
        ("logging/setLevel", level("debug")),
        ("resources/subscribe", uri("a")),
    ];
    let expected = expected.map(|(method, params)| (method.to_owned(), params));
    assert_eq!(exchange(&mut conversation, 2), expected);
}

#[test]
fn a_session_that_the_server_refuses_is_none_for_the_next_server() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    conversation.client_sent(&request(1, "initialize", json!({})));
    conversation.client_sent(&initialized());
    conversation.server_sent(1, &refused(1));
    conversation.steps();
    assert_eq!(take_over(&mut conversation, 2), [Step::Retire(1), Step::Close(1)]);
}

#[test]
fn a_subscription_that_the_last_server_accepts_late_reaches_the_new_server() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    begin_session(&mut conversation, 1);
    let subscribe = request(2, "resources/subscribe", json!({ "uri": "a" }));
    conversation.client_sent(&subscribe);
    conversation.steps();
    assert_eq!(exchange(&mut conversation, 2).len(), 1);
    conversation.server_sent(1, &done(2));
    let [Step::ToServer(2, sent), Step::ToClient(_), Step::Close(1)] = &conversation.steps()[..]
    else {
        panic!("the new server does not know the subscription")
    };
    assert!(message::is_own(&sent.id()), "the client has its answer");
    assert_eq!(sent.part(&["params"]), subscribe.part(&["params"]));
}

#[test]
fn an_id_that_no_request_can_have_keeps_no_server_busy() {
    let mut conversation = Conversation::default();
    take_over(&mut conversation, 1);
    for id in [json!(1.5), json!({ "a": 1 }), Value::Null] {
        let ping: Message = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).into();
        conversation.client_sent(&ping);
        assert_eq!(conversation.steps(), [Step::ToServer(1, ping)]);
    }
    assert_eq!(take_over(&mut conversation, 2), [Step::Retire(1), Step::Close(1)]);
}
