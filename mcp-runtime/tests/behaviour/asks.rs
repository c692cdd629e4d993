//! Capabilities that items require of the client, and those that the client declares.

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Revision, RpcError, TestClient},
};
use serde_json::{Value, json};

use crate::support::{named, said};

/// A parameter type of the author that contains `Elicit`, and therefore requires the capability `elicitation`.
struct Consent(Elicit);

impl<'a> FromCall<'a> for Consent {
    fn from_call(context: &'a Context) -> Result<Self> {
        Elicit::from_call(context).map(Self)
    }

    fn needs(needs: &mut mcp_runtime::extract::Requirements) {
        Elicit::needs(needs);
    }
}

/// Requires every capability that a client can have.
#[tool(asks(roots))]
async fn everything(consent: Consent, model: Sample, directories: Roots, ctx: &Context) -> String {
    let can = [consent.0.client_can(), model.client_can(), directories.client_can()];
    let client = ctx.client();
    assert_eq!(can, [client.can_elicit(), client.can_sample(), client.can_list_roots()]);
    format!("{can:?}")
}

#[prompt(asks(sampling))]
async fn asking_prompt(model: Sample) -> String {
    model.client_can().to_string()
}

#[resource("asks://{id}", asks(elicitation))]
async fn asking_resource(id: u8, user: Elicit) -> String {
    format!("{id} {}", user.client_can())
}

/// Returns the result of one request from a client of protocol revision 2026-07-28 with these capabilities.
async fn answered(method: &str, params: Value, capabilities: Value) -> Result<Value, RpcError> {
    let server = server!().items(items![everything, asking_prompt, asking_resource]);
    let connecting = TestClient::connect_capable(server, Revision::V2026_07_28, capabilities);
    connecting.await.expect("the server starts").request(method, params).await
}

async fn asked(method: &str, params: Value, capabilities: Value) -> Value {
    answered(method, params, capabilities).await.expect("a result")
}

#[tokio::test]
async fn a_client_that_lacks_a_capability_is_refused_before_a_handler_runs() {
    async fn check(method: &str, params: Value, capabilities: Value, required: Value) {
        let error = answered(method, params, capabilities).await.expect_err(method);
        assert_eq!(error.code, -32021, "{method}: {error}");
        assert_eq!(error.data, Some(json!({ "requiredCapabilities": required })), "{method}");
    }
    let tool = json!({ "name": "everything" });
    let all = json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} });
    check("tools/call", tool.clone(), json!({}), all).await;
    // The arguments are wrong too, but the call is rejected before they are read.
    let wrong = json!({ "name": "everything", "arguments": { "x": 1 } });
    check(
        "tools/call",
        wrong,
        json!({ "sampling": {}, "roots": {} }),
        json!({ "elicitation": { "form": {} } }),
    )
    .await;
    check(
        "prompts/get",
        json!({ "name": "asking_prompt" }),
        json!({ "roots": {} }),
        json!({ "sampling": {} }),
    )
    .await;
    let read = json!({ "uri": "asks://7" });
    check(
        "resources/read",
        read,
        json!({ "elicitation": { "url": {} } }),
        json!({ "elicitation": { "form": {} } }),
    )
    .await;
    let error = answered("tools/call", json!({ "name": "nobody" }), json!({})).await.unwrap_err();
    assert_eq!(error.code, -32602);
}

#[resource("either://{number}")]
fn a_number(number: u8) -> String {
    format!("number {number}")
}

#[form]
struct Yes {
    yes: bool,
}

#[resource("either://{name}")]
async fn a_name(ctx: &Context, name: String, _user: Elicit) -> Result<String> {
    let consent: Yes = ctx.elicit("consent", "Shall I?").await?;
    Ok(format!("{name} {}", consent.yes))
}

/// If several templates match a URI, the template that the server uses determines the required capabilities.
#[tokio::test]
async fn the_template_being_read_determines_the_required_capabilities() {
    let connect = async |can: Value| {
        let server = server!().items(items![a_number, a_name]);
        TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap()
    };
    let mut client = connect(json!({})).await;
    assert_eq!(client.read("either://7").await.unwrap()[0].text.as_deref(), Some("number 7"));
    assert_eq!(client.read("either://ada").await.unwrap_err().code, -32021);
    let mut client = connect(json!({ "elicitation": {} })).await;
    client.answer_with(|_, _| json!({ "action": "accept", "content": { "yes": true } }));
    assert_eq!(client.read("either://7").await.unwrap()[0].text.as_deref(), Some("number 7"));
    assert_eq!(client.read("either://ada").await.unwrap()[0].text.as_deref(), Some("ada true"));
}

#[tokio::test]
async fn a_client_with_the_required_capabilities_is_served() {
    let capabilities =
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
    let result = asked("tools/call", json!({ "name": "everything" }), capabilities).await;
    assert_eq!(result["content"][0]["text"], "[true, true, true]", "{result}");
    let capabilities = json!({ "sampling": { "tools": {} } });
    let result = asked("prompts/get", json!({ "name": "asking_prompt" }), capabilities).await;
    assert_eq!(result["messages"][0]["content"]["text"], "true", "{result}");
    // An empty capability `elicitation` means that the client supports forms.
    let capabilities = json!({ "elicitation": {} });
    let result = asked("resources/read", json!({ "uri": "asks://7" }), capabilities).await;
    assert_eq!(result["contents"][0]["text"], "7 true", "{result}");
}

/// Declares no required capability.
#[tool]
async fn looks(ctx: &Context) -> String {
    ctx.client().can_elicit().to_string()
}

#[tokio::test]
async fn a_legacy_client_without_a_capability_is_refused_before_a_handler() {
    for revision in Revision::LEGACY {
        let connect = async |can: Value| {
            let server = server!().items(items![everything, asking_prompt, asking_resource, looks]);
            TestClient::connect_capable(server, revision, can).await.unwrap()
        };
        let has_forms = revision >= Revision::V2025_06_18;
        let mut client = connect(json!({ "roots": {} })).await;
        // The arguments are wrong too, but the call is rejected before they are read.
        let called = client.call("everything", json!({ "x": 1 })).await.unwrap();
        let lacks = if has_forms { "elicitation and sampling" } else { &*revision.to_string() };
        assert!(called.is_error && called.text().contains(lacks), "{revision}: {called:?}");
        let error = client.prompt("asking_prompt", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603, "{revision}");
        assert!(error.message.contains("a client with sampling"), "{revision}: {error}");
        let error = client.read("asks://7").await.unwrap_err();
        let lacks = if has_forms { "a client with elicitation" } else { "(elicitation)" };
        assert!(error.message.contains(lacks), "{revision}: {error}");
        // A tool that declares no requirements runs, and has to check the client's capabilities itself.
        assert_eq!(said(&mut client, "looks", json!({})).await, "false");

        let all = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
        let mut client = connect(all).await;
        let called = client.call("everything", json!({})).await.unwrap();
        assert_eq!(called.is_error, !has_forms, "{revision}: {called:?}");
    }
}

#[tokio::test]
async fn parameters_that_ask_the_client_are_no_arguments_of_the_tool() {
    let mut client = TestClient::connect(server!().items(items![everything])).await.unwrap();
    let tools = client.tools().await.unwrap();
    assert_eq!(named(&tools, "everything")["inputSchema"]["properties"], json!({}));
}
