//! A login behind nginx and Caddy, whose public URL has a port other than 443.

use serde_json::json;
use support::{examples::example, requirement::needs, server::PASSWORDS};

use crate::{
    browser::{Back, Browser, Client, Page, Tokens, registration},
    client::{Request, initialize, plain_call},
    files::HOST,
    front::{Front, Program, behind_both},
    server::Server,
};

/// A port that a port forwarder or a container publishes. The proxies of the tests listen on other ports, which clients do not see.
const PORT: u16 = 8443;

#[support::test]
fn a_user_logs_in_behind_a_proxy_on_a_port() {
    example("notes");
    let host = format!("{HOST}:{PORT}");
    let public = format!("https://{host}");
    let settings =
        [("NOTES_URL", &*public), ("NOTES_ADA", PASSWORDS[0].1), ("NOTES_BOB", PASSWORDS[1].1)];
    let paths =
        "/authorize /token /register /revoke /callback /.well-known/oauth-authorization-server";
    let matcher = format!("@mcp path {paths} ");
    let caddy = [("@mcp path ", &*matcher)];
    behind_both(async |program| {
        let changes = if program == Program::Nginx { &[][..] } else { &caddy };
        // The issuer allows its own host and origin, so the server needs no `--allow-host`.
        let options = ["--trust-proxy", "127.0.0.1"];
        let server = Server::start_with(example("notes"), &options, &settings);
        let front = needs(Front::start(program, server.address(), changes).await);
        let address = front.secured().await;
        let refused = initialize("2025-11-25").host(&host).ask(address).await;
        let challenge = refused.head.get("www-authenticate").unwrap_or_default();
        let metadata = format!("\"{public}/.well-known/oauth-protected-resource/mcp\"");
        assert!(refused.status() == 401 && challenge.contains(&metadata), "{refused:?}");

        let request = Request::sending("/register", "application/json", registration().to_string());
        let registered = request.host(&host).ask(address).await;
        assert_eq!(registered.status(), 201, "{program:?}: {registered:?}");
        let id = registered.json()["client_id"].as_str().expect("an identifier").to_owned();
        let client = Client { address, host: host.clone(), id };
        let mut browser = Browser { origin: Some(public.clone()), ..Browser::new(&client) };
        let resource = format!("{public}/mcp");
        let path = client.authorize(&[("resource", &resource)]);
        let page = Page::of(&browser.open(&path).await);
        let page = Page::of(&browser.log_in(&page, PASSWORDS[0].0, PASSWORDS[0].1).await);
        let code = Back::of(&browser.agree(&page).await).code();
        let reply = client.exchange(&code, &[("resource", &resource)]).await;
        let token = Tokens::of(&reply).access;

        let list = plain_call(1, "list_notes", json!({})).host(&host);
        let listed = list.header("Authorization", format!("Bearer {token}")).ask(address).await;
        assert_eq!(listed.status(), 200, "{program:?}: {listed:?}");
    });
}
