use super::*;
use crate::{
    builder::{builder, items},
    server::Identity,
};

/// Creates an endpoint that has reached its limit on sessions. `held` lists the number of sessions of each tenant.
async fn full(held: &[usize]) -> (Arc<Endpoint>, Vec<Share>) {
    let server = builder(Identity::new("test", None, "1.0.0", "")).items(items(&[]));
    let server = server.limits(Limits::new().sessions(held.iter().sum())).build().unwrap();
    let started = server.start().await.unwrap();
    let endpoint = Endpoint::new(started, HttpSettings::default(), None);
    let owners = held.iter().enumerate().flat_map(|(owner, held)| vec![owner; *held]);
    let shares = owners.map(|owner| tenant(&endpoint, owner).hold(Pool::Sessions)).collect();
    (endpoint, shares)
}

fn tenant(endpoint: &Endpoint, owner: usize) -> Arc<Tenant> {
    endpoint.service.shares().tenant(CallerKey::Peer(owner as u64))
}

#[tokio::test(start_paused = true)]
async fn a_search_in_vain_is_remembered_unless_it_says_nothing_about_other_tenants() {
    for (held, owner, is_remembered) in [
        (&[1, 1, 1, 1][..], 4, true),
        (&[2, 2, 2, 2], 0, true),
        // A new tenant may displace sessions of the first tenant, but the first tenant cannot displace its own.
        (&[3, 1, 1, 1, 1, 1], 0, false),
    ] {
        let (endpoint, _shares) = full(held).await;
        assert!(endpoint.share(&tenant(&endpoint, owner)).is_err(), "{held:?} {owner}");
        let remembered = endpoint.displaced_none.load(Ordering::Relaxed) != 0;
        assert_eq!(remembered, is_remembered, "{held:?} {owner}");
    }
}
