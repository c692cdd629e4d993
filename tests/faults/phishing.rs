//! Clients that impersonate others, or that use links to the authorization server to send users to another site.

use axum::{Router, extract::Request as HttpRequest, http::header};
use serde_json::json;

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server},
    browser::{Back, Browser, CALLBACK, Client, Page, register, registration, text},
    client::run,
    mounted::Application,
};

/// The server redirects a browser to a client only after the user has decided, even if the request is invalid. Otherwise an attacker could
/// register a site as a client, and publish a link to this server that leads users to the attacker's site.
#[support::test]
fn a_browser_is_not_redirected_to_a_client_before_its_user_decides() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let mut said = registration();
        let site = "https://phish.example/\"<b>?a=b";
        said["redirect_uris"] = json!([site.replace(['"', '<', '>'], "'")]);
        let id = register(served.address, &said).await.json()["client_id"].clone();
        let id = id.as_str().expect("it is registered").to_owned();
        let client = Client { id, ..Client::register(served.address).await };
        for wrong in [
            [("redirect_uri", ""), ("scope", "x")],
            [("redirect_uri", ""), ("response_type", "token")],
            [("redirect_uri", ""), ("code_challenge_method", "plain")],
            [("redirect_uri", ""), ("resource", "https://other.example/")],
        ] {
            let mut browser = Browser::new(&client);
            let page = browser.open(&client.authorize(&wrong)).await;
            assert_eq!((page.status(), page.head.get("location")), (400, None), "{wrong:?}");
            let html = text(&page);
            // The page has a link to the client. The URL of the link contains the complete error response.
            let link = html.split_once("<a href=\"").and_then(|parts| parts.1.split_once('"'));
            let (link, _) = link.unwrap_or_else(|| panic!("{html}"));
            assert!(
                link.starts_with("https://phish.example/&#39;&#39;b&#39;?a=b&amp;error="),
                "{link}"
            );
            assert!(link.contains("&amp;state=s%20t%26%3D%2F%C3%BC&amp;iss=http"), "{link}");
            assert!(html.contains("<b>phish.example</b>"), "{html}");
            assert!(browser.cookies.is_empty());
        }
        // A user who has decided is redirected.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[("redirect_uri", "")])).await);
        Back::of(&browser.submit(&page, &[("action", "deny")]).await).check_error("access_denied");
        served.end().await;
    });
}

/// For a client that is identified by a URL, the page shows only the host, because the client chooses the rest of the URL.
#[support::test]
fn the_page_shows_only_the_host_of_a_client_url() {
    run(async {
        let site = Router::new().fallback(async |request: HttpRequest| {
            let host = request.headers()[header::HOST].to_str().expect("a host").to_owned();
            let path = request.uri().path_and_query().expect("a path").as_str().to_owned();
            // The client's id is a URL, which may have no slash before its query: `http://host?x`.
            let path = path.strip_prefix('/').filter(|rest| rest.starts_with('?')).unwrap_or(&path);
            json!({
                "client_id": format!("http://{host}{path}"),
                "redirect_uris": [CALLBACK],
                "token_endpoint_auth_method": "none",
            })
            .to_string()
        });
        let site = Application::start(site).await;
        let served = Served::start(server(authorization_server())).await;
        let open = async |id: String| {
            let client = Client { address: served.address, host: "localhost".into(), id };
            Browser::new(&client).open(&client.authorize(&[])).await
        };
        let page = open(format!("http://{}/c?claude.ai/x", site.address)).await;
        assert!(text(&page).contains(&format!("<b>{}</b>", site.address)), "{}", text(&page));
        let page = open(format!("http://{}?.claude.ai/x", site.address)).await;
        assert_eq!(page.status(), 400, "{}", text(&page));
        served.end().await;
        site.end().await;
    });
}

#[support::test]
fn a_client_with_an_invisible_name_is_shown_as_unnamed() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        for name in ["\u{202e}", "\u{200b}\u{2060} \u{feff}", "\u{ad}\n", " ", "\u{e0041}."] {
            let mut said = registration();
            said["client_name"] = json!(name);
            let id = register(served.address, &said).await.json()["client_id"].clone();
            let id = id.as_str().expect("it is registered").to_owned();
            let client = Client { id, ..Client::register(served.address).await };
            let page = Browser::new(&client).open(&client.authorize(&[])).await;
            assert!(text(&page).contains("<b>An unnamed application</b>"), "{name:?}");
        }
        served.end().await;
    });
}
