//! Structs with `#[config]` in servers without a command line.

use mcp_runtime::{ServeError, prelude::*, testing::TestClient};
use serde_json::json;

#[config(env = "MCP_BEHAVIOUR_ABSENT")]
struct Required {
    absent_root: String,
    #[config(secret)]
    absent_key: String,
}

#[config(env = "MCP_BEHAVIOUR_ABSENT")]
struct WithDefaults {
    #[config(default = 5)]
    absent_count: u32,
    absent_names: Vec<String>,
}

/// Settings that are printed.
#[config]
#[derive(Clone, std::fmt::Debug, PartialEq)]
struct Shown {
    #[config(default)]
    shown_root: String,
    #[config(secret)]
    shown_key: Option<String>,
}

struct Sum(u32);

#[tool(group = "config")]
fn root(config: &Required) -> String {
    config.absent_root.clone() + &config.absent_key
}

#[tool(group = "config defaults")]
fn count(config: &WithDefaults, sum: &Sum) -> String {
    format!("{} {} {}", config.absent_count, config.absent_names.len(), sum.0)
}

async fn sum(config: State<WithDefaults>) -> Result<Sum> {
    Ok(Sum(config.absent_count + 1))
}

#[tokio::test]
async fn a_struct_that_is_given_is_not_read() {
    let given = Required { absent_root: "/data".to_owned(), absent_key: "key".to_owned() };
    let server = mcp_runtime::server!(group = "config").state(given);
    let mut client = TestClient::connect(server).await.expect("a server");
    let called = client.call("root", json!({})).await.expect("a result");
    assert_eq!(called.text(), "/datakey");
}

#[test]
fn a_derived_debug_does_not_show_secrets() {
    let given = Shown { shown_root: "/data".to_owned(), shown_key: Some("k3y".to_owned()) };
    assert_eq!(format!("{given:?}"), r#"Shown { shown_root: "/data", shown_key: <secret> }"#);
    assert!(format!("{:#?}", given.clone()).contains("shown_key: <secret>,\n"));
    assert_eq!(given.clone(), given);
}

#[tokio::test]
async fn without_values_the_server_does_not_start() {
    let server = || mcp_runtime::server!(group = "config");
    assert!(server().build().is_ok());
    let Err(problem) = TestClient::connect(server()).await else { panic!("there are no values") };
    assert!(matches!(problem, ServeError::Config(_)), "{problem}");
    let problem = problem.to_string();
    for part in [
        "the configuration has 2 problems:",
        "`absent_root` at ",
        "set the variable `MCP_BEHAVIOUR_ABSENT_ABSENT_ROOT` to a value of type `String`",
        "a test gives the whole struct with `.state(…)`",
    ] {
        assert!(problem.contains(part), "{problem}");
    }
    assert!(!problem.contains("--"), "a server without a command line has no options: {problem}");
}

#[tokio::test]
async fn defaults_reach_handlers_and_setup() {
    let server = mcp_runtime::server!(group = "config defaults").setup(sum);
    let mut client = TestClient::connect(server).await.expect("a server");
    let called = client.call("count", json!({})).await.expect("a result");
    assert_eq!(called.text(), "5 0 6");
}

/// A group needs only the values of its own handlers, so this server starts although `Required` has no values.
#[tokio::test]
async fn values_that_nothing_takes_may_be_missing() {
    let server = mcp_runtime::server!(group = "config defaults").state(Sum(1));
    assert!(TestClient::connect(server).await.is_ok());
}

#[tokio::test]
async fn a_setup_takes_the_state_of_an_earlier_one() {
    struct First(u32);
    let first = async || Ok::<_, Error>(First(7));
    let second = async |first: State<First>, _: Handle| Ok::<_, Error>(Sum(first.0));
    let server = mcp_runtime::server!(group = "config defaults");
    let mut client =
        TestClient::connect(server.setup(first).setup(second)).await.expect("a server");
    let called = client.call("count", json!({})).await.expect("a result");
    assert_eq!(called.text(), "5 0 7");

    // State that exists already may be added later.
    let server = mcp_runtime::server!(group = "config defaults").setup(second).state(First(1));
    assert!(TestClient::connect(server).await.is_ok());
    for server in [
        mcp_runtime::server!(group = "config defaults").setup(second).setup(first),
        mcp_runtime::server!(group = "config defaults").setup(second),
    ] {
        let problem = server.build().expect_err("`second` runs first").to_string();
        assert!(problem.contains("behaviour/config.rs"), "{problem}");
        assert!(problem.contains("First` yet: call the `.state(…)`"), "{problem}");
    }
}
