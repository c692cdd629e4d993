//! Clients that are identified by the URL of their metadata document, and sites that publish valid and invalid documents.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    extract::{Request as HttpRequest, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server, whoami_with},
    browser::{Browser, CALLBACK, Client, Tokens, text},
    client::{Request, run},
    mounted::Application,
};

#[derive(Default)]
struct Asked {
    documents: AtomicUsize,
    strayed: AtomicUsize,
}

async fn publish(State(asked): State<Arc<Asked>>, request: HttpRequest) -> Response {
    let host = request.headers()[header::HOST].to_str().unwrap().to_owned();
    let path = request.uri().path().to_owned();
    let own = format!("http://{host}{path}");
    let document = |other: Value| {
        let mut document = json!({
            "client_id": own,
            "client_name": "Published",
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
        });
        document.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        document.to_string().into_response()
    };
    asked.documents.fetch_add(1, Ordering::Relaxed);
    match &*path {
        "/good.json" => document(json!({})),
        "/foreign.json" => document(json!({ "client_id": format!("http://{host}/good.json") })),
        "/nameless.json" => document(json!({ "client_id": null })),
        "/secret.json" => document(json!({ "token_endpoint_auth_method": "client_secret_post" })),
        "/nowhere.json" => document(json!({ "redirect_uris": [] })),
        "/plain.json" => document(json!({ "redirect_uris": ["http://app.example/"] })),
        "/long.json" => document(json!({ "client_name": "x".repeat(100 << 10) })),
        "/huge.json" => "x".repeat(4 << 20).into_response(),
        "/text.json" => "hello".into_response(),
        "/redirect.json" => {
            (StatusCode::FOUND, [(header::LOCATION, format!("http://{host}/stray"))])
                .into_response()
        }
        "/slow.json" => std::future::pending().await,
        "/stray" => {
            asked.strayed.fetch_add(1, Ordering::Relaxed);
            StatusCode::OK.into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

#[support::test]
fn clients_are_known_by_what_they_publish() {
    run(async {
        let asked = Arc::new(Asked::default());
        let router = Router::new().fallback(publish).with_state(asked.clone());
        let site = Application::start(router).await;
        let served = Served::start(server(authorization_server())).await;
        let (address, host) = (served.address, "localhost".to_owned());
        let client = |name: &str| {
            let id = format!("http://{}/{name}.json", site.address);
            Client { address, host: host.clone(), id }
        };
        let good = client("good");
        let tokens = good.log_in("ada").await;
        assert!(whoami_with(address, &tokens.access).await.text().starts_with("ada"));
        let tokens = Tokens::of(&good.refresh(&tokens.refresh).await);
        let mut browser = Browser::new(&good);
        let page = browser.open(&good.authorize(&[])).await;
        assert!(text(&page).contains("Published"));
        // All of these requests together have caused a single fetch of the document.
        assert_eq!(asked.documents.load(Ordering::Relaxed), 1);
        let elsewhere = good.authorize(&[("redirect_uri", "https://evil.example/")]);
        assert_eq!(browser.open(&elsewhere).await.status(), 400);
        let foreign = client("other").refresh(&tokens.refresh).await;
        assert_eq!(foreign.json()["error"], "invalid_grant");

        for bad in [
            "foreign", "nameless", "secret", "nowhere", "plain", "long", "huge", "text",
            "redirect", "slow", "missing",
        ] {
            let client = client(bad);
            let page = Browser::new(&client).open(&client.authorize(&[])).await;
            assert_eq!(
                (page.status(), page.head.get("location")),
                (400, None),
                "{bad}: {}",
                text(&page)
            );
        }
        assert_eq!(asked.strayed.load(Ordering::Relaxed), 0);
        let before = asked.documents.load(Ordering::Relaxed);
        for id in [
            format!("http://{}", site.address),
            format!("http://{}/", site.address),
            format!("http://{}/x/../good.json", site.address),
            format!("http://{}/good.json#x", site.address),
            format!("http://user@{}/good.json", site.address),
            "http://10.0.0.1/good.json".to_owned(),
            "https://10.0.0.1/good.json".to_owned(),
            "https://169.254.169.254/latest".to_owned(),
            "https://localhost.invalid/good.json".to_owned(),
        ] {
            let client = Client { id: id.clone(), ..good.clone() };
            let page = Browser::new(&client).open(&client.authorize(&[])).await;
            assert_eq!(page.status(), 400, "{id}: {}", text(&page));
        }
        assert_eq!(asked.documents.load(Ordering::Relaxed), before);
        served.end().await;
        site.end().await;
    });
}

#[support::test]
fn without_client_documents_every_client_has_to_register() {
    run(async {
        let asked = Arc::new(Asked::default());
        let router = Router::new().fallback(publish).with_state(asked.clone());
        let site = Application::start(router).await;
        for (own, expected) in [
            (authorization_server(), true),
            (authorization_server().without_client_documents(), false),
        ] {
            let served = Served::start(server(own)).await;
            let address = served.address;
            let metadata = Request::new("GET", "/.well-known/oauth-authorization-server");
            let metadata = metadata.ask(address).await.json();
            assert_eq!(metadata["client_id_metadata_document_supported"], expected);
            let id = format!("http://{}/good.json", site.address);
            let client = Client { address, host: address.to_string(), id };
            let page = Browser::new(&client).open(&client.authorize(&[])).await;
            let refused = text(&page).contains("the application that sent you must register here");
            assert_eq!((page.status() == 200, refused), (expected, !expected), "{}", text(&page));
            served.end().await;
        }
        assert_eq!(asked.documents.load(Ordering::Relaxed), 1);
        site.end().await;
    });
}

#[support::test]
fn a_public_server_fetches_no_client_document_from_its_own_machine() {
    run(async {
        let asked = Arc::new(Asked::default());
        let router = Router::new().fallback(publish).with_state(asked.clone());
        let site = Application::start(router).await;
        let own = || server(authorization_server().issuer("https://notes.example.com"));
        let application = Application::start(own().into_router().await.unwrap()).await;
        // This server listens on loopback. It may be behind a proxy on the same machine, so it does not fetch documents from this machine
        // either.
        let served = Served::start(own()).await;
        for address in [application.address, served.address] {
            for site in [site.address.to_string(), format!("localhost:{}", site.address.port())] {
                let id = format!("http://{site}/good.json");
                let client = Client { address, host: "notes.example.com".into(), id };
                let path = client.authorize(&[("resource", "https://notes.example.com/mcp")]);
                assert_eq!(Browser::new(&client).open(&path).await.status(), 400);
            }
        }
        assert_eq!(asked.documents.load(Ordering::Relaxed), 0);
        served.end().await;
        application.end().await;
        site.end().await;
    });
}
