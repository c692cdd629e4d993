//! Two nodes on one store, which lets other tasks run before and after each transaction.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    __companion::CallerKey,
    store::{
        Condition, Follower, MemoryStore, Store, StoreError, StoreFuture, StoreOperation,
        Transaction, TransactionResult,
    },
};
use tokio::{task::yield_now, time::Instant};

use crate::{
    authorization_request::{AuthorizationRequest, RedirectTarget},
    client::Client,
    codes::{AuthorizationCode, CodeUse, TakenCode},
    grant::{GRACE, Grant, IssuedTokens, OF_USER, Standing, TOKENS},
    login::User,
    oauth_error::OAuthError,
    pending::{Approval, LoggedInUser},
    records::Records,
    secret::Digest,
};

/// Store whose transactions take a varying number of steps.
#[derive(Default)]
struct Steps {
    memory: MemoryStore,
    executed: AtomicUsize,
    is_away: AtomicBool,
}

impl Steps {
    /// Returns the number of transactions so far.
    fn executed(&self) -> usize {
        self.executed.load(Ordering::Relaxed)
    }
}

impl Store for Steps {
    fn is_shared(&self) -> bool {
        true
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        let number = self.executed.fetch_add(transactions.len(), Ordering::Relaxed);
        Box::pin(async move {
            if self.is_away.load(Ordering::Relaxed) {
                return Err(StoreError::unavailable("the store is away"));
            }
            let steps = |shift: u32| (number.wrapping_mul(0x9E37_79B9) >> shift) % 4;
            for _ in 0..steps(7) {
                yield_now().await;
            }
            let results = self.memory.execute(transactions).await;
            for _ in 0..steps(13) {
                yield_now().await;
            }
            results
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.memory.follow(partition, log, after)
    }
}

async fn nodes() -> (Arc<Steps>, [Records; 2]) {
    let store = Arc::<Steps>::default();
    let node = || {
        let records = Records::new(None);
        records.start(Some(store.clone()));
        records
    };
    let nodes = [node(), node()];
    for node in &nodes {
        node.nodes().unwrap().start().await.unwrap();
    }
    (store, nodes)
}

fn code(user: &str) -> AuthorizationCode {
    AuthorizationCode { user: User::new(user), ..AuthorizationCode::of_test() }
}

fn grant(user: &str) -> Grant {
    let scopes = ["a", "b"].map(str::to_owned).to_vec();
    Grant::new("c".into(), None, User::new(user), scopes, "http://r".into())
}

async fn begin(node: &Records, user: &str) -> IssuedTokens {
    begin_since(node, user, CodeUse::default()).await.0
}

async fn begin_since(node: &Records, user: &str, used: CodeUse) -> (IssuedTokens, bool) {
    node.begin_grant(grant(user), true, |_| Ok(None), used).await.unwrap()
}

/// Exchanges a code as the token endpoint does.
async fn exchange(node: &Records, text: &str) -> Option<IssuedTokens> {
    match node.take_code(text).await.unwrap() {
        TakenCode::Good(code, used) => {
            let (issued, is_good) = begin_since(node, code.user.principal(), used).await;
            if is_good && node.gave(text, issued.grant, used).await.unwrap() {
                return Some(issued);
            }
            node.end_grant(issued.grant).await.unwrap();
            None
        }
        TakenCode::Again(grant) => {
            if let Some(grant) = grant {
                node.end_grant(grant).await.unwrap();
            }
            None
        }
        TakenCode::Unknown => None,
    }
}

async fn try_verify(node: &Records, access: &str) -> Result<bool, OAuthError> {
    let now = node.clock.now();
    let nodes = node.nodes().unwrap();
    Ok(nodes.grants.verify(access, now, |_, _| Standing::Good).await?.is_some())
}

async fn is_good(node: &Records, access: &str) -> bool {
    try_verify(node, access).await.unwrap()
}

async fn refresh(node: &Records, token: &str) -> Result<(String, String), OAuthError> {
    let issued = node.refresh(token, "c", None, None).await?;
    Ok((issued.access, issued.refresh.unwrap()))
}

#[tokio::test(start_paused = true)]
async fn one_of_two_nodes_exchanges_a_code() {
    let (_, [a, b]) = nodes().await;
    let mut winners = [0, 0];
    for round in 0..1000 {
        let user = format!("user {round}");
        let since = a.login_start().await.unwrap();
        let text = a.add_code(code(&user), since).await.unwrap();
        let (one, other) = tokio::join!(exchange(&a, &text), exchange(&b, &text));
        // The second use of the code ends the grant of the first use, if this grant exists already.
        assert!(one.is_none() || other.is_none(), "both nodes have tokens");
        for (node, issued) in [one, other].into_iter().enumerate() {
            let Some(issued) = issued else { continue };
            winners[node] += 1;
            for node in [&a, &b] {
                assert!(!is_good(node, &issued.access).await, "the code was used twice");
            }
        }
        let left = a.grants_of(&user, |_, _| ()).await.unwrap().len();
        assert_eq!(left, 0, "a grant of a code that was used twice");
    }
    assert!(winners.iter().all(|won| *won > 0), "only one node ever wins: {winners:?}");
}

#[tokio::test(start_paused = true)]
async fn one_of_two_nodes_takes_a_code() {
    let (_, [a, b]) = nodes().await;
    let mut winners = [0, 0];
    for round in 0..1000 {
        let since = a.login_start().await.unwrap();
        let text = a.add_code(code(&format!("user {round}")), since).await.unwrap();
        let (one, other) = tokio::join!(a.take_code(&text), b.take_code(&text));
        let won = [one, other].map(|taken| matches!(taken.unwrap(), TakenCode::Good(..)));
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        winners[usize::from(won[1])] += 1;
    }
    assert!(winners.iter().all(|won| *won > 0), "only one node ever wins: {winners:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_token_that_two_nodes_exchange_at_once_is_exchanged_once() {
    let (_, [a, b]) = nodes().await;
    let issued = begin(&a, "ada").await;
    let (mut token, mut before) = (issued.refresh.unwrap(), issued.access);
    for _ in 0..1000 {
        let (one, other) = tokio::join!(refresh(&a, &token), refresh(&b, &token));
        let (one, other) = (one.unwrap(), other.unwrap());
        // The two answers have the tokens of one exchange.
        assert_eq!(one, other);
        assert!(one.1 != token && one.0 != before);
        (before, token) = one;
    }
    for node in [&a, &b] {
        assert!(is_good(node, &before).await);
    }
    let current = a.grants_of("ada", |_, grant| {
        let refresh = grant.refresh.as_ref().unwrap();
        (refresh.current == Digest::of(&token), refresh.alternatives.len())
    });
    assert_eq!(current.await.unwrap(), [(true, 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_brings_no_grant_back_that_another_node_ends() {
    let (_, [a, b]) = nodes().await;
    let mut refreshed = 0;
    for _ in 0..1000 {
        let issued = begin(&a, "ada").await;
        let token = issued.refresh.unwrap();
        let (answer, ended) = tokio::join!(refresh(&a, &token), b.end_grant(issued.grant));
        assert_eq!(ended.unwrap().len(), 1);
        // The client may have its answer before the grant ends.
        refreshed += usize::from(answer.is_ok());
        let left = a.grants_of("ada", |_, _| ()).await.unwrap();
        assert!(left.is_empty(), "the grant is back");
        if let Ok((access, _)) = answer {
            tokio::time::advance(Duration::from_secs(1)).await;
            assert!(!is_good(&a, &access).await && !is_good(&b, &access).await);
        }
    }
    assert!((1..1000).contains(&refreshed), "there is no race: {refreshed}");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_token_that_is_used_again_late_ends_the_grant_on_all_nodes() {
    let (_, [a, b]) = nodes().await;
    let first = begin(&a, "ada").await;
    let stolen = first.refresh.unwrap();
    let answer = refresh(&a, &stolen).await.unwrap();
    tokio::time::advance(Duration::from_millis(GRACE * 1000 - 100)).await;
    assert_eq!(refresh(&b, &stolen).await.unwrap(), answer);
    assert!(is_good(&b, &answer.0).await);
    // The repetition has not begun the grace period again.
    tokio::time::advance(Duration::from_millis(200)).await;
    assert_eq!(refresh(&b, &stolen).await.unwrap_err().error, "invalid_grant");
    for node in [&a, &b] {
        assert!(!is_good(node, &answer.0).await && !is_good(node, &first.access).await);
        assert_eq!(refresh(node, &answer.1).await.unwrap_err().error, "invalid_grant");
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_token_is_good_at_a_node_that_has_just_read_its_grant() {
    let (_, [a, b]) = nodes().await;
    let first = begin(&a, "ada").await;
    assert!(is_good(&b, &first.access).await);
    let (access, _) = refresh(&a, &first.refresh.unwrap()).await.unwrap();
    assert!(is_good(&b, &access).await && is_good(&b, &first.access).await);
}

#[tokio::test(start_paused = true)]
async fn a_verified_token_costs_one_transaction_a_second_and_an_invented_one_none() {
    let (store, [a, b]) = nodes().await;
    let issued = begin(&a, "ada").await;
    let count = async |token: &str, expected: bool| {
        let before = store.executed();
        for _ in 0..100 {
            assert_eq!(is_good(&b, token).await, expected);
        }
        store.executed() - before
    };
    assert_eq!(count(&issued.access, true).await, 1);
    assert_eq!(count(&issued.access, true).await, 0);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(count(&issued.access, true).await, 1);
    // A refresh token is not accepted for calls, and no node has issued the other texts.
    let mut invented = issued.access.clone();
    invented.replace_range(30..31, if &invented[30..31] == "A" { "B" } else { "A" });
    tokio::time::advance(Duration::from_secs(1)).await;
    // The node looks once whether there is another key.
    assert!(count(&invented, false).await <= 2);
    for token in [&*invented, issued.refresh.as_deref().unwrap(), "x", ""] {
        assert_eq!(count(token, false).await, 0, "{token}");
    }
    // A token that has ended is looked up once a second.
    a.end_grant(issued.grant).await.unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(count(&issued.access, false).await, 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(count(&issued.access, false).await, 1);
}

#[tokio::test(start_paused = true)]
async fn calls_that_verify_one_token_at_once_read_its_grant_once() {
    let (store, [a, b]) = nodes().await;
    let issued = begin(&a, "ada").await;
    assert!(is_good(&b, &issued.access).await);
    tokio::time::advance(Duration::from_secs(1)).await;
    let before = store.executed();
    let all: [_; 8] = std::array::from_fn(|_| is_good(&b, &issued.access));
    let [c, d, e, f, g, h, i, j] = all;
    let results = tokio::join!(c, d, e, f, g, h, i, j);
    assert_eq!(results, (true, true, true, true, true, true, true, true));
    assert_eq!(store.executed() - before, 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_has_ended_at_one_node_is_over_at_the_other() {
    let (_, [a, b]) = nodes().await;
    let nodes = b.nodes().unwrap();
    for ends_grant in [true, false] {
        let issued = begin(&a, "ada").await;
        let verified = nodes.grants.verify(&issued.access, b.clock.now(), |_, _| Standing::Good);
        let flag = verified.await.unwrap().unwrap().revoked().cloned().unwrap();
        let token = if ends_grant { issued.refresh.as_ref().unwrap() } else { &issued.access };
        a.revoke(token, "c").await.unwrap();
        assert!(!is_good(&a, &issued.access).await);
        // The other node gets a message, without another request.
        for _ in 0..100 {
            yield_now().await;
        }
        assert!(flag.load(Ordering::Acquire), "a stream stays open");
        assert!(!is_good(&b, &issued.access).await);
        let refreshed = refresh(&b, issued.refresh.as_ref().unwrap()).await;
        assert_eq!(refreshed.is_ok(), !ends_grant);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_newer_ones_displace_is_over_at_the_other_node() {
    let (_, [a, b]) = nodes().await;
    let issued = begin(&a, "ada").await;
    let nodes = b.nodes().unwrap();
    let verified = nodes.grants.verify(&issued.access, b.clock.now(), |_, _| Standing::Good);
    let flag = verified.await.unwrap().unwrap().revoked().cloned().unwrap();
    let mut token = issued.refresh.unwrap();
    for number in 1..=TOKENS {
        token = refresh(&a, &token).await.unwrap().1;
        for _ in 0..100 {
            yield_now().await;
        }
        assert_eq!(flag.load(Ordering::Acquire), number == TOKENS, "{number}");
    }
    assert!(!is_good(&b, &issued.access).await);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_has_missed_messages_looks_for_itself() {
    let (store, [a, b]) = nodes().await;
    let (kept, ended) = (begin(&a, "ada").await, begin(&a, "ada").await);
    let nodes = b.nodes().unwrap();
    let flag = async |issued: &IssuedTokens| {
        let verified = nodes.grants.verify(&issued.access, b.clock.now(), |_, _| Standing::Good);
        verified.await.unwrap().unwrap().revoked().cloned().unwrap()
    };
    let (staying, ending) = (flag(&kept).await, flag(&ended).await);
    // The log drops the message about the grant, because thousands of others come before the node reads it.
    let partition = format!("authorization:grant:{}", ended.grant.text());
    let ttl = Duration::from_secs(60);
    let remove = StoreOperation::remove("grant", Condition::Any);
    let mut all = vec![Transaction::on(partition).then(remove)];
    all.extend((0..5000).map(|_| {
        Transaction::on("authorization:ends")
            .then(StoreOperation::append("ends", *b"{}", ttl, 4096))
    }));
    store.memory.execute(all).await.unwrap();
    for _ in 0..20_000 {
        yield_now().await;
    }
    assert!(ending.load(Ordering::Acquire) && !staying.load(Ordering::Acquire));
}

#[tokio::test(start_paused = true)]
async fn grants_that_leave_their_entry_behind_displace_no_others() {
    let (store, [a, _]) = nodes().await;
    let mut all = Vec::new();
    for _ in 0..OF_USER {
        all.push(begin(&a, "ada").await);
    }
    let (gone, left) = all.split_at(20);
    for issued in gone {
        let partition = format!("authorization:grant:{}", issued.grant.text());
        let remove =
            Transaction::on(partition).then(StoreOperation::remove("grant", Condition::Any));
        store.memory.execute(vec![remove]).await.unwrap();
    }
    for _ in 0..20 {
        begin(&a, "ada").await;
    }
    for issued in left {
        assert!(is_good(&a, &issued.access).await);
    }
}

#[tokio::test(start_paused = true)]
async fn only_its_client_can_revoke_a_token() {
    let (_, [a, b]) = nodes().await;
    let issued = begin(&a, "ada").await;
    let refresh_token = issued.refresh.unwrap();
    // A token that no node has issued ends nothing, even if it contains the name of the grant.
    let invented = format!("{}x", &refresh_token[..refresh_token.len() - 1]);
    for (token, client) in [
        (&*refresh_token, "d"),
        (&*issued.access, "d"),
        (&*invented, "c"),
        (&refresh_token[..22], "c"),
        ("", "c"),
    ] {
        assert!(b.revoke(token, client).await.unwrap().is_empty(), "{token}");
    }
    assert!(is_good(&a, &issued.access).await);
    assert_eq!(b.revoke(&refresh_token, "c").await.unwrap().len(), 1);
    assert!(b.revoke(&refresh_token, "c").await.unwrap().is_empty());
    assert_eq!(a.grants_of("ada", |_, _| ()).await.unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn ending_all_logins_of_a_user_reaches_every_node() {
    let (_, [a, b]) = nodes().await;
    let since = a.login_start().await.unwrap();
    let early = begin(&a, "ada").await;
    let theirs = begin(&b, "bob").await;
    let [fresh, brought] = [b.add_code(code("ada"), since), a.add_code(code("ada"), since)];
    let (fresh, brought) = (fresh.await.unwrap(), brought.await.unwrap());
    let TakenCode::Good(_, used) = a.take_code(&brought).await.unwrap() else {
        panic!("the code is good")
    };
    let (ended, _) = b.end_of("ada", None).await.unwrap();
    assert_eq!(ended.len(), 1);
    assert!(!is_good(&a, &early.access).await && !is_good(&b, &early.access).await);
    assert!(is_good(&a, &theirs.access).await);
    assert!(matches!(a.take_code(&fresh).await.unwrap(), TakenCode::Unknown));
    // The exchange that was in progress gives nothing.
    let (issued, is_valid) = begin_since(&a, "ada", used).await;
    assert!(!is_valid && !a.gave(&brought, issued.grant, used).await.unwrap());
    let refused = a.add_code(code("ada"), since).await.unwrap_err();
    assert_eq!(refused.error, "access_denied");
    assert!(a.add_code(code("bob"), since).await.is_ok());
    // A login that begins now is valid at both nodes.
    for node in [&a, &b] {
        let since = node.login_start().await.unwrap();
        let text = node.add_code(code("ada"), since).await.unwrap();
        assert!(exchange(node, &text).await.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_epoch_keeps_no_user_from_logging_in() {
    let (store, [a, b]) = nodes().await;
    b.end_of("ada", None).await.unwrap();
    let lose = StoreOperation::remove("epoch", Condition::Any);
    let lose = Transaction::on("authorization:epoch").then(lose);
    assert!(store.memory.execute(vec![lose]).await.unwrap()[0].is_ok());
    // It is not known whether this login began before the end of all logins.
    let since = a.login_start().await.unwrap();
    assert!(a.add_code(code("ada"), since).await.is_err());
    let since = a.login_start().await.unwrap();
    let text = a.add_code(code("ada"), since).await.unwrap();
    assert!(exchange(&b, &text).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_user_keeps_the_newest_logins() {
    let (_, [a, b]) = nodes().await;
    let bob = begin(&b, "bob").await;
    let mut all = Vec::new();
    for number in 0..OF_USER + 3 {
        tokio::time::advance(Duration::from_secs(2)).await;
        all.push(begin(if number % 2 == 0 { &a } else { &b }, "ada").await);
    }
    for (number, issued) in all.iter().enumerate() {
        assert_eq!(is_good(&a, &issued.access).await, number >= 3, "{number}");
    }
    assert_eq!(b.grants_of("ada", |_, _| ()).await.unwrap().len(), OF_USER);
    assert!(is_good(&a, &bob.access).await);
}

fn request() -> Arc<AuthorizationRequest> {
    let AuthorizationCode { challenge, .. } = AuthorizationCode::of_test();
    Arc::new(AuthorizationRequest {
        client: Arc::new(client("c")),
        target: RedirectTarget::to("http://127.0.0.1/"),
        challenge,
        scopes: Vec::new(),
        resource: "http://r".into(),
    })
}

fn client(id: &str) -> Client {
    let (name, uri, secret, redirects) = (None, None, None, Vec::new());
    let expires = u64::MAX;
    Client { id: id.into(), name, uri, redirects, secret, refreshes: false, expires }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_answered_at_two_nodes_is_answered_once() {
    let (_, [a, b]) = nodes().await;
    for _ in 0..200 {
        let begun = a.add_authorization(request(), CallerKey::Anybody, false).await.unwrap();
        let id = &*begun.id;
        // The nodes allow five attempts together, and a further attempt ends the authorization.
        let other = b.add_authorization(request(), CallerKey::Anybody, false).await.unwrap();
        let tries = async |node: &Records| {
            let mut allowed = 0;
            for _ in 0..4 {
                allowed += u32::from(node.may_try(&other.id).await.unwrap());
            }
            allowed
        };
        let (one, two) = tokio::join!(tries(&a), tries(&b));
        assert_eq!(one + two, 5);
        assert!(!a.has_tries(&other.id).await.unwrap());

        let since = a.login_start().await.unwrap();
        let user = |name: &str| LoggedInUser { user: User::new(name), since };
        let logins = tokio::join!(a.log_in(id, user("ada")), b.log_in(id, user("bob")));
        let tickets = [logins.0.unwrap(), logins.1.unwrap()];
        assert_eq!(tickets.iter().flatten().count(), 1, "a user replaces another one");

        let approval = || Approval { scopes: Vec::new(), secrets: String::new(), since };
        let approved =
            tokio::join!(a.approve(id, approval(), false), b.approve(id, approval(), false));
        assert_eq!([approved.0.unwrap(), approved.1.unwrap()].iter().flatten().count(), 1);
        let taken = tokio::join!(a.take_approval(id), b.take_approval(id));
        assert_eq!([taken.0.unwrap(), taken.1.unwrap()].iter().flatten().count(), 1);
        let ended = tokio::join!(a.take_authorization(id), b.take_authorization(id));
        assert!(ended.0.unwrap() != ended.1.unwrap(), "an authorization ends once");
        assert!(!b.has_tries(id).await.unwrap());
    }
}

/// The time for the user's decision does not begin again with each answer.
#[tokio::test(start_paused = true)]
async fn pending_authorizations_expire() {
    let (_, [a, b]) = nodes().await;
    let begun = a.add_authorization(request(), CallerKey::Anybody, false).await.unwrap();
    let half = Duration::from_secs(5 * 60);
    tokio::time::advance(half).await;
    assert!(b.may_try(&begun.id).await.unwrap());
    tokio::time::advance(half).await;
    assert!(!a.has_tries(&begun.id).await.unwrap());
    // At the provider, it begins again.
    let begun = a.add_authorization(request(), CallerKey::Anybody, false).await.unwrap();
    tokio::time::advance(half).await;
    let since = a.login_start().await.unwrap();
    let approval = Approval { scopes: Vec::new(), secrets: String::new(), since };
    assert!(b.approve(&begun.id, approval, false).await.unwrap().is_some());
    tokio::time::advance(half).await;
    assert!(a.has_tries(&begun.id).await.unwrap());
    tokio::time::advance(half).await;
    assert!(a.take_approval(&begun.id).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_node_waits_a_while_for_its_store_when_it_starts() {
    for (away, is_started) in [(Duration::from_secs(3), true), (Duration::from_secs(8), false)] {
        let store = Arc::<Steps>::default();
        store.is_away.store(true, Ordering::Relaxed);
        let records = Records::new(None);
        records.start(Some(store.clone()));
        let comes_back = async {
            tokio::time::sleep(away).await;
            store.is_away.store(false, Ordering::Relaxed);
        };
        let (started, ()) = tokio::join!(records.nodes().unwrap().start(), comes_back);
        assert_eq!(started.is_ok(), is_started, "{away:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_authorizations_displaces_no_other_callers_authorization() {
    let (_, [a, b]) = nodes().await;
    let add = async |node: &Records, address: [u8; 4]| {
        let caller = CallerKey::of_address(address.into());
        node.add_authorization(request(), caller, false).await.unwrap().id
    };
    let mut own = Vec::new();
    for number in 0..20 {
        own.push(add(&a, [192, 0, 2, number]).await);
    }
    for number in 0..6000_u16 {
        let [high, low] = (number % 300).to_be_bytes();
        add(&b, [10, 0, high, low]).await;
    }
    for id in own {
        assert!(b.has_tries(&id).await.unwrap(), "an honest user is displaced");
    }
}

#[tokio::test(start_paused = true)]
async fn endless_registrations_displace_no_client_that_is_used() {
    let (store, [a, b]) = nodes().await;
    let now = a.clock.now();
    let unused = |id: String| Client { expires: now + crate::client::UNUSED, ..client(&id) };
    let id = |number: usize| format!("{number:022}");
    let nodes = b.nodes().unwrap();
    for number in 0..50 {
        let used = unused(id(number));
        a.add_client(&used).await.unwrap();
        nodes.clients.extend(&used, now).await.unwrap();
    }
    for number in 50..11_500 {
        a.add_client(&unused(id(number))).await.unwrap();
    }
    for number in 0..50 {
        assert!(b.client(&id(number)).await.unwrap().is_some(), "a used client is displaced");
    }
    let mut left = 0;
    for number in 0..11_500 {
        left += usize::from(b.client(&id(number)).await.unwrap().is_some());
    }
    assert!((9000..=10_000).contains(&left), "{left}");
    // The node rejects other ids without asking the store.
    let before = store.executed();
    for other in ["", "x", "0000000000000000000000\n", &"0".repeat(1000)] {
        assert!(b.client(other).await.unwrap().is_none());
    }
    assert_eq!(store.executed(), before);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_makes_nothing_valid_or_invalid() {
    let (store, [a, b]) = nodes().await;
    let issued = begin(&a, "ada").await;
    let token = issued.refresh.clone().unwrap();
    assert!(is_good(&b, &issued.access).await);
    store.is_away.store(true, Ordering::Relaxed);
    // The node still trusts a token that it has verified within the last second.
    assert!(is_good(&b, &issued.access).await);
    tokio::time::advance(Duration::from_secs(1)).await;
    for _ in 0..2 {
        let refused = try_verify(&b, &issued.access).await.unwrap_err();
        assert_eq!((refused.error, refused.status.as_u16()), ("temporarily_unavailable", 503));
        assert_eq!(refresh(&a, &token).await.unwrap_err().status.as_u16(), 503);
        assert!(a.end_of("ada", None).await.is_err());
    }
    store.is_away.store(false, Ordering::Relaxed);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(is_good(&b, &issued.access).await);
    refresh(&a, &token).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_that_goes_away_follows_nothing() {
    let (store, [a, b]) = nodes().await;
    let strong = Arc::strong_count(&store);
    drop(a);
    // The follower of the dropped node ends at its next step.
    for _ in 0..10 {
        yield_now().await;
    }
    assert!(Arc::strong_count(&store) < strong);
    let since = b.login_start().await.unwrap();
    assert!(since.at <= Instant::now());
}
