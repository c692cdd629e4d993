//! Two nodes of a server with logins that share one store: a client or a browser begins a login at one node, and continues it at the other.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Builder,
    limits::Limits,
    store::{
        Follower, MemoryStore, Store, StoreError, StoreFuture, StoreOperation, Transaction,
        TransactionResult,
    },
};
use mcp_runtime_authorization_server::{AuthorizationServer, Logins};
use serde_json::json;
use support::clock::{Frozen, LIMIT, eventually, jump};

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server, whoami_with},
    browser::{Back, Browser, Client, Page, Tokens, register, registration, text},
    client::{Reply, run, run_within},
    delegation::{come_back, leave, server as delegated, upstream},
    expiry::{ends, goes_on, listen, pair_at},
    provider::Provider,
};

/// Store of both nodes, which remembers everything that is written to it.
#[derive(Default)]
struct Shared {
    memory: MemoryStore,
    is_away: AtomicBool,
    transactions: AtomicUsize,
    written: Mutex<Vec<u8>>,
}

impl Shared {
    fn transactions(&self) -> usize {
        self.transactions.load(Ordering::Relaxed)
    }

    fn has(&self, text: &str) -> bool {
        let written = self.written.lock().unwrap();
        written.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

impl Store for Shared {
    fn is_shared(&self) -> bool {
        true
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        self.transactions.fetch_add(transactions.len(), Ordering::Relaxed);
        if self.is_away.load(Ordering::Relaxed) {
            return Box::pin(async { Err(StoreError::unavailable("it is away")) });
        }
        let operations = transactions.iter().flat_map(|transaction| &transaction.operations);
        for operation in operations {
            if let StoreOperation::Put { name, value, ttl, .. } = operation {
                assert!(*ttl <= Duration::from_secs(91 * 24 * 3600), "{name} expires too late");
                self.written.lock().unwrap().extend(name.bytes().chain(value.iter().copied()));
            }
        }
        self.memory.execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.memory.follow(partition, log, after)
    }
}

struct Nodes {
    store: Arc<Shared>,
    served: [Served; 2],
}

impl Nodes {
    async fn start(node: impl Fn() -> Builder) -> Self {
        let store = Arc::<Shared>::default();
        let one = Served::start(node().store(store.clone())).await;
        let other = Served::start(node().store(store.clone())).await;
        Self { store, served: [one, other] }
    }

    /// Starts two nodes, and returns their handles of logins too.
    async fn with_logins() -> (Self, [Logins; 2]) {
        let all = Mutex::new(Vec::new());
        let nodes = Self::start(|| {
            let own = authorization_server();
            all.lock().unwrap().push(own.logins());
            let limits = Limits::new().keep_alive(Duration::from_millis(100));
            server(own).limits(limits)
        });
        let nodes = nodes.await;
        let logins = all.into_inner().unwrap().try_into();
        (nodes, logins.expect("a handle for each node"))
    }

    /// Returns the client at each node.
    async fn clients(&self) -> [Client; 2] {
        let one = Client::register(self.served[0].address).await;
        let other = Client { address: self.served[1].address, ..one.clone() };
        [one, other]
    }

    async fn end(self) {
        for served in self.served {
            served.end().await;
        }
    }
}

async fn status(client: &Client, token: &str) -> u16 {
    whoami_with(client.address, token).await.status()
}

/// Waits until a token is over at this node, which may have verified it within the last second.
async fn is_over(client: &Client, token: &str) {
    let over = async || (status(client, token).await == 401).then_some(());
    eventually("the token is over", over).await;
}

#[track_caller]
fn check_refused(reply: &Reply) {
    assert_eq!(
        (reply.status(), &reply.json()["error"]),
        (400, &json!("invalid_grant")),
        "{reply:?}"
    );
}

#[support::test]
fn each_step_of_a_login_may_reach_another_node() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        let mut browser = Browser::new(&a);
        let login = Page::of(&browser.open(&a.authorize(&[])).await);
        browser.address = b.address;
        let again = browser.log_in(&login, "ada", "wrong").await;
        assert_eq!(Page::of(&again).ticket, login.ticket);
        browser.address = a.address;
        let consent = Page::of(&browser.log_in(&login, "ada", "right").await);
        let agreeing = browser.clone();
        browser.address = b.address;
        // The ticket of the login page has been used at the other node.
        assert_eq!(browser.clone().log_in(&login, "ada", "right").await.status(), 403);
        let code = Back::of(&browser.agree(&consent).await).code();
        // So has that of the consent page.
        assert_eq!(agreeing.clone().agree(&consent).await.status(), 403);

        let tokens = Tokens::of(&a.exchange(&code, &[]).await);
        for client in [&a, &b] {
            let said = whoami_with(client.address, &tokens.access).await;
            assert_eq!(said.text(), "ada (free): notes:read notes:write");
        }
        let moved = Tokens::of(&b.refresh(&tokens.refresh).await);
        assert_eq!(status(&a, &moved.access).await, 200);
        let secrets = [&code, &tokens.access, &tokens.refresh, &moved.access, &moved.refresh];
        let cookies = agreeing.cookies.iter().map(|cookie| &cookie.1);
        for secret in secrets.into_iter().chain(cookies).chain([&login.ticket, &consent.ticket]) {
            assert!(!nodes.store.has(secret), "a secret is in the store");
        }
        assert!(nodes.store.has("ada") && nodes.store.has(&a.id));
        nodes.end().await;
    });
}

#[support::test]
fn a_client_with_a_secret_is_known_to_all_nodes() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [_, b] = nodes.clients().await;
        let mut said = registration();
        said["token_endpoint_auth_method"] = json!("client_secret_post");
        let registered = register(nodes.served[0].address, &said).await.json();
        let get = |name: &str| registered[name].as_str().unwrap().to_owned();
        let (client, secret) = (Client { id: get("client_id"), ..b }, get("client_secret"));
        for (shown, expected) in [("", 401), ("wrong", 401), (&secret, 200)] {
            let code = Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
            let exchanged = client.exchange(&code, &[("client_secret", shown)]).await;
            assert_eq!(exchanged.status(), expected, "{shown}");
        }
        assert!(!nodes.store.has(&secret), "the secret is in the store");
        nodes.end().await;
    });
}

#[support::test]
fn a_code_that_is_used_at_two_nodes_takes_back_what_it_gave() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        let code = Browser::new(&a).allow("ada", &a.authorize(&[])).await.code();
        let tokens = Tokens::of(&a.exchange(&code, &[]).await);
        let others = b.log_in("ada").await;
        for client in [&a, &b] {
            assert_eq!(status(client, &tokens.access).await, 200);
        }
        check_refused(&b.exchange(&code, &[]).await);
        for client in [&a, &b] {
            is_over(client, &tokens.access).await;
            check_refused(&client.refresh(&tokens.refresh).await);
            assert_eq!(status(client, &others.access).await, 200);
        }
        // A code is invalid after its first use, even if that use was rejected.
        let code = Browser::new(&a).allow("ada", &a.authorize(&[])).await.code();
        let stranger = Client { id: Client::register(b.address).await.id, ..b.clone() };
        check_refused(&stranger.exchange(&code, &[]).await);
        check_refused(&a.exchange(&code, &[]).await);
        // A code expires by the clock of the store.
        let code = Browser::new(&a).allow("ada", &a.authorize(&[])).await.code();
        jump(Duration::from_secs(61)).await;
        check_refused(&b.exchange(&code, &[]).await);
        nodes.end().await;
    });
}

#[support::test]
fn a_refresh_token_is_good_once_on_all_nodes() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        let first = a.log_in("ada").await;
        let second = Tokens::of(&b.refresh(&first.refresh).await);
        // A client whose response was lost asks another node again.
        let again = Tokens::of(&a.refresh(&first.refresh).await);
        assert_eq!((&again.access, &again.refresh), (&second.access, &second.refresh));
        for client in [&a, &b] {
            assert_eq!(status(client, &second.access).await, 200);
        }
        jump(Duration::from_secs(11)).await;
        check_refused(&a.refresh(&first.refresh).await);
        for client in [&a, &b] {
            is_over(client, &second.access).await;
            check_refused(&client.refresh(&second.refresh).await);
        }
        nodes.end().await;
    });
}

#[support::test]
fn a_login_that_ends_at_one_node_is_over_at_the_other() {
    run(async {
        let (nodes, [here, there]) = Nodes::with_logins().await;
        let [a, b] = nodes.clients().await;
        let (stolen, kept) = (a.log_in("ada").await, a.log_in("ada").await);
        let theirs = b.log_in("bob").await;
        let mut ending = listen(b.address, &stolen.access).await;
        let mut staying = listen(b.address, &theirs.access).await;
        assert_eq!(there.of("ada").await.unwrap().len(), 2);
        let id = |login: &mcp_runtime_authorization_server::Login| login.id().to_owned();
        let all: Vec<_> = here.of("ada").await.unwrap().iter().map(id).collect();
        // A user cannot end the login of another user at any node.
        assert!(
            !there.end("bob", &all[0]).await.unwrap() && !here.end("bob", &all[1]).await.unwrap()
        );
        assert_eq!(status(&b, &stolen.access).await, 200);

        let revoke = [("token", &*stolen.refresh), ("client_id", &*a.id)];
        assert_eq!(a.post("/revoke", &revoke).await.status(), 200);
        // The stream at the other node ends without another request.
        ends(&mut ending).await;
        is_over(&b, &stolen.access).await;
        assert_eq!(status(&b, &kept.access).await, 200);

        // All nodes know what was begun before the end of all logins.
        let asked = a.authorize(&[]);
        let code = Browser::new(&a).allow("ada", &asked).await.code();
        let mut deciding = Browser::new(&a);
        let page = Page::of(&deciding.open(&asked).await);
        let consent = Page::of(&deciding.log_in(&page, "ada", "right").await);
        let mut ending = listen(a.address, &kept.access).await;
        assert_eq!(there.end_all("ada").await.unwrap(), 1);
        assert_eq!(here.end_all("ada").await.unwrap(), 0);
        ends(&mut ending).await;
        for client in [&a, &b] {
            is_over(client, &kept.access).await;
            check_refused(&client.refresh(&kept.refresh).await);
        }
        check_refused(&a.exchange(&code, &[]).await);
        Back::of(&deciding.agree(&consent).await).check_error("access_denied");
        goes_on(&mut staying).await;
        assert_eq!(status(&a, &theirs.access).await, 200);
        let anew = b.log_in("ada").await;
        assert_eq!(status(&a, &anew.access).await, 200);
        assert_eq!(here.of("ada").await.unwrap().len(), 1);
        nodes.end().await;
    });
}

/// A node does not notice the revocation of a token that only the other node has verified. Such a token therefore does not keep the stream
/// open, and its revocation does not end the stream.
#[support::test]
fn a_stream_ends_with_its_login_although_the_client_posts_to_another_node() {
    run(async {
        let nodes = Nodes::start(|| {
            let limits = Limits::new().keep_alive(Duration::from_millis(100));
            server(authorization_server()).limits(limits).legacy_sse(true)
        });
        let nodes = nodes.await;
        let [a, b] = nodes.clients().await;
        let (stolen, kept) = (a.log_in("ada").await, a.log_in("ada").await);
        let addresses = [a.address, b.address];
        let mut ending = pair_at(addresses, [&stolen.access, &stolen.access]).await;
        let mut staying = pair_at(addresses, [&kept.access, &stolen.access]).await;
        assert!(!nodes.store.has(&stolen.access) && !nodes.store.has(&kept.access));
        let revoke = [("token", &*stolen.refresh), ("client_id", &*a.id)];
        assert_eq!(b.post("/revoke", &revoke).await.status(), 200);
        ends(&mut ending).await;
        goes_on(&mut staying).await;
        drop(staying);
        nodes.end().await;
    });
}

#[support::test]
fn guessing_at_all_nodes_ends_as_soon_as_at_one() {
    // The clock jumps over more than the usual limit of a test.
    run_within(10 * LIMIT, async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        for _ in 0..4 {
            let mut browser = Browser::new(&a);
            let page = Page::of(&browser.open(&a.authorize(&[])).await);
            for attempt in 0..4 {
                browser.address = [a.address, b.address][attempt % 2];
                let again = browser.log_in(&page, "ada", "wrong").await;
                assert_eq!(Page::of(&again).ticket, page.ticket);
            }
            Back::of(&browser.log_in(&page, "ada", "wrong").await).check_error("access_denied");
            browser.address = a.address;
            assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 403);
        }
        let begin = async |client: &Client| {
            let mut browser = Browser::new(client);
            let page = Page::of(&browser.open(&client.authorize(&[])).await);
            browser.log_in(&page, "ada", "right").await
        };
        // Each node has seen half of the attempts.
        for client in [&a, &b] {
            let refused = begin(client).await;
            assert_eq!(refused.status(), 429, "{}", text(&refused));
        }
        jump(Duration::from_secs(121)).await;
        for client in [&a, &b, &a, &b] {
            assert_eq!(begin(client).await.status(), 200);
        }
        // Each node alone would allow 60.
        let mut left = 90;
        let open = async |client: &Client| {
            Browser::new(client).open(&client.authorize(&[])).await.status()
        };
        while left > 0 && open(if left % 2 == 0 { &a } else { &b }).await != 429 {
            left -= 1;
        }
        assert!(left > 0, "nothing bounds the authorizations of all nodes together");
        nodes.end().await;
    });
}

/// Each node refuses the client or the browser of another user, also if the login has begun at the other node.
#[support::test]
fn nodes_show_nothing_to_strangers() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        let stranger = Client::register(b.address).await;
        let mut browser = Browser::new(&a);
        let page = Page::of(&browser.open(&a.authorize(&[])).await);
        let consent = Page::of(&browser.log_in(&page, "ada", "right").await);
        let mut other = Browser::new(&stranger);
        let own = Page::of(&other.open(&stranger.authorize(&[])).await);
        for page in [
            page.clone(),
            consent.clone(),
            Page { pending: consent.pending.clone(), ..own.clone() },
            Page { ticket: consent.ticket.clone(), ..own.clone() },
            Page { pending: "0".repeat(23), ..own.clone() },
            Page { pending: "é".into(), ..own.clone() },
        ] {
            let stray = other.clone().agree(&page).await;
            assert_eq!((stray.status(), stray.head.get("location")), (403, None), "{page:?}");
        }
        let code = Back::of(&browser.agree(&consent).await).code();
        check_refused(&stranger.exchange(&code, &[]).await);
        let tokens = a.log_in("ada").await;
        check_refused(&stranger.refresh(&tokens.refresh).await);
        for token in [&tokens.refresh, &tokens.access] {
            let revoke = [("token", &**token), ("client_id", &*stranger.id)];
            assert_eq!(stranger.post("/revoke", &revoke).await.status(), 200);
            assert_eq!(status(&b, &tokens.access).await, 200);
        }
        // A refresh token is not accepted as an access token, and an access token is not accepted as a refresh token.
        assert_eq!(status(&b, &tokens.refresh).await, 401);
        check_refused(&b.refresh(&tokens.access).await);
        Tokens::of(&b.refresh(&tokens.refresh).await);
        nodes.end().await;
    });
}

#[support::test]
fn calls_with_one_token_ask_the_store_at_most_once_a_second() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        let tokens = a.log_in("ada").await;
        let frozen = Frozen::start();
        let before = nodes.store.transactions();
        for _ in 0..20 {
            assert_eq!(status(&b, &tokens.access).await, 200);
        }
        assert_eq!(nodes.store.transactions() - before, 1);
        // Tokens that no node has issued cause no transaction, except for one read of the common key.
        for number in 0..20 {
            let (name, rest) = (format!("{number:022}"), &tokens.access[22..]);
            assert_eq!(status(&b, &format!("{name}{rest}")).await, 401);
        }
        assert!(nodes.store.transactions() - before <= 2);
        frozen.end().await;
        nodes.end().await;
    });
}

#[support::test]
fn a_store_that_is_away_is_an_error_that_passes() {
    run(async {
        let nodes = Nodes::start(|| server(authorization_server())).await;
        let [a, b] = nodes.clients().await;
        let tokens = a.log_in("ada").await;
        let mut browser = Browser::new(&a);
        let page = Page::of(&browser.open(&a.authorize(&[])).await);
        let code = Browser::new(&a).allow("ada", &a.authorize(&[])).await.code();
        assert_eq!(status(&b, &tokens.access).await, 200);
        nodes.store.is_away.store(true, Ordering::Relaxed);
        jump(Duration::from_secs(1)).await;
        for round in 0..2 {
            let called = whoami_with(b.address, &tokens.access).await;
            called.check_busy("the store of this server is not available");
            let revoke = [("token", &*tokens.access), ("client_id", &*a.id)];
            for refused in [
                a.refresh(&tokens.refresh).await,
                b.exchange(&code, &[]).await,
                b.post("/revoke", &revoke).await,
                register(a.address, &registration()).await,
            ] {
                let error = (refused.status(), refused.json()["error"].clone());
                assert_eq!(error, (503, json!("temporarily_unavailable")), "{round}");
                assert!(refused.head.get("retry-after").is_some(), "{refused:?}");
            }
            for shown in [
                browser.log_in(&page, "ada", "right").await,
                Browser::new(&b).open(&b.authorize(&[])).await,
            ] {
                assert_eq!(shown.status(), 503, "{}", text(&shown));
                assert!(shown.head.get("retry-after").is_some() && text(&shown).contains("store"));
            }
        }
        nodes.store.is_away.store(false, Ordering::Relaxed);
        jump(Duration::from_secs(1)).await;
        assert_eq!(status(&b, &tokens.access).await, 200);
        Tokens::of(&b.exchange(&code, &[]).await);
        Tokens::of(&b.refresh(&tokens.refresh).await);
        let consent = browser.log_in(&page, "ada", "right").await;
        Back::of(&browser.agree(&Page::of(&consent)).await).code();
        nodes.end().await;
    });
}

#[support::test]
fn a_login_at_a_provider_may_come_back_to_another_node() {
    run(async {
        let provider = Provider::start().await;
        let nodes = Nodes::start(|| delegated(upstream(&provider).hand_over())).await;
        let [a, b] = nodes.clients().await;
        let mut browser = Browser::new(&a);
        let query = provider.log_in(&leave(&mut browser, &a).await);
        browser.address = b.address;
        let code = Back::of(&come_back(&mut browser.clone(), &query).await).code();
        browser.address = a.address;
        assert_eq!(come_back(&mut browser, &query).await.status(), 403, "it came back twice");
        let mut tokens = Tokens::of(&a.exchange(&code, &[]).await);
        // The nodes share a key, so each opens what the other has sealed.
        for (number, client) in [&b, &a, &b].into_iter().enumerate() {
            let said = whoami_with(client.address, &tokens.access).await.text();
            assert_eq!(said, format!("ada@example.com upstream-access-{number}"));
            tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        }
        // The provider accepts each of its tokens once, so two nodes must not refresh at the same time.
        let (one, other) = tokio::join!(a.refresh(&tokens.refresh), b.refresh(&tokens.refresh));
        let (one, other) = (Tokens::of(&one), Tokens::of(&other));
        assert_eq!((&one.access, &one.refresh), (&other.access, &other.refresh));
        assert!(!nodes.store.has("upstream-"), "it is not sealed");
        let revoke = [("token", &*one.refresh), ("client_id", &*b.id)];
        assert_eq!(b.post("/revoke", &revoke).await.status(), 200);
        assert_eq!(provider.revoked(1).await, ["refresh_token upstream-refresh-5"]);
        is_over(&a, &one.access).await;
        nodes.end().await;
        provider.end().await;
    });
}

#[support::test]
fn a_node_that_starts_later_knows_everything() {
    run(async {
        let store = Arc::<Shared>::default();
        let start =
            async |own: AuthorizationServer| Served::start(server(own).store(store.clone())).await;
        let first = start(authorization_server()).await;
        let client = Client::register(first.address).await;
        let tokens = client.log_in("ada").await;
        first.end().await;
        let second = start(authorization_server()).await;
        let client = Client { address: second.address, ..client };
        assert_eq!(status(&client, &tokens.access).await, 200);
        let moved = Tokens::of(&client.refresh(&tokens.refresh).await);
        second.end().await;
        // Tokens for one URL of a server are not valid for another URL.
        let other = start(authorization_server().issuer("https://notes.example.com")).await;
        let elsewhere = Client { address: other.address, ..client.clone() };
        assert_eq!(status(&elsewhere, &moved.access).await, 401);
        let third = start(authorization_server()).await;
        let client = Client { address: third.address, ..client };
        assert_eq!(status(&client, &moved.access).await, 200);
        other.end().await;
        third.end().await;
    });
}
