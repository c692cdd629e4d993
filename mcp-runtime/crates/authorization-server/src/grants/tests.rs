use super::*;
use crate::{grant::IDLE, user::User};

const NOW: u64 = 1_000_000;

struct Table(Grants, Journal);

impl Table {
    fn new() -> Self {
        Self(Grants::default(), Journal::default())
    }

    fn begin(&self, user: &str) -> Issued {
        let scopes = ["a", "b"].map(str::to_owned).to_vec();
        let grant = Grant::new("c".into(), None, User::new(user), scopes, "http://r".into());
        self.0.begin(grant, true, |_| Ok(None), NOW, &self.1).ok().unwrap()
    }

    fn refresh(&self, token: &str, now: u64) -> Option<(String, String)> {
        let issued = self.0.refresh(token, "c", None, None, now, &self.1).ok()?;
        Some((issued.access, issued.refresh.unwrap()))
    }

    /// Returns the table of the next process, after this one was killed.
    fn restarted(&self) -> Self {
        let next = Self::new();
        for (key, grant) in self.0.state().grants.iter() {
            let kept = serde_json::to_string(grant).unwrap();
            next.0.set_aside(*key, serde_json::from_str(&kept).unwrap());
        }
        next.0.wake(|_, _| Standing::Good, &next.1);
        next
    }

    fn is_good(&self, access: &str, now: u64) -> bool {
        self.0.verify(access, now).is_some()
    }
}

#[test]
fn access_tokens_end_and_refresh_tokens_change() {
    let table = Table::new();
    let first = table.begin("ada");
    let authorization = table.0.verify(&first.access, NOW).unwrap();
    assert_eq!(authorization.principal().as_str(), "ada");
    assert!(authorization.has_scope("a") && authorization.has_scope("b"));
    assert!(table.is_good(&first.access, NOW + ACCESS - 1));
    assert!(!table.is_good(&first.access, NOW + ACCESS));
    let (access, refresh) = table.refresh(&first.refresh.unwrap(), NOW + ACCESS).unwrap();
    assert!(table.is_good(&access, NOW + ACCESS));
    // A grant lives for as long as its client refreshes it in time.
    let (_, refresh) = table.refresh(&refresh, NOW + ACCESS + IDLE - 1).unwrap();
    assert!(table.refresh(&refresh, NOW + ACCESS + IDLE - 1 + IDLE).is_none());
}

#[test]
fn a_refresh_token_that_is_used_twice_ends_the_grant() {
    let table = Table::new();
    let stolen = table.begin("ada").refresh.unwrap();
    let (access, refresh) = table.refresh(&stolen, NOW).unwrap();
    assert!(table.is_good(&access, NOW));
    assert!(table.refresh(&stolen, NOW + GRACE + 1).is_none());
    assert!(!table.is_good(&access, NOW) && table.refresh(&refresh, NOW).is_none());
}

#[test]
fn a_client_that_repeats_a_refresh_at_once_gets_the_same_tokens() {
    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    let answer = table.refresh(&first, NOW).unwrap();
    for _ in 0..TOKENS * 2 {
        assert_eq!(table.refresh(&first, NOW + GRACE), Some(answer.clone()));
    }
    // The answer is the same after its access token was used.
    assert!(table.is_good(&answer.0, NOW + GRACE + ACCESS - 1));
    assert_eq!(table.refresh(&first, NOW + GRACE), Some(answer.clone()));
    assert!(table.refresh(&first, NOW + GRACE + 1).is_none());
    assert!(table.refresh(&answer.1, NOW).is_none());

    // A different key gives a different answer.
    let [one, other] = [Table::new(), Table::new()];
    let token = one.begin("ada").refresh.unwrap();
    assert_ne!(
        one.0.chain.next("refresh", &token).ok(),
        other.0.chain.next("refresh", &token).ok()
    );

    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    table.refresh(&first, NOW).unwrap();
    // A use within the grace period does not start the period again.
    table.refresh(&first, NOW + GRACE).unwrap();
    assert!(table.refresh(&first, NOW + GRACE + 1).is_none());

    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    let (_, next) = table.refresh(&first, NOW).unwrap();
    table.refresh(&next, NOW).unwrap();
    assert!(table.refresh(&first, NOW).is_none());
}

#[test]
fn a_refresh_whose_answer_was_lost_works_after_a_restart() {
    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    let lost = table.refresh(&first, NOW).unwrap();
    let table = table.restarted();
    let answer = table.refresh(&first, NOW + GRACE).unwrap();
    assert_ne!(answer, lost, "the key of the process before is gone");
    assert_eq!(table.refresh(&first, NOW + GRACE), Some(answer.clone()));
    assert!(table.is_good(&answer.0, NOW + GRACE) && table.is_good(&lost.0, NOW + GRACE));
    let (_, third) = table.refresh(&answer.1, NOW + GRACE).unwrap();
    assert!(table.refresh(&third, NOW + GRACE).is_some());
    // A clock that was set back by some seconds at the restart makes no difference.
    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    table.refresh(&first, NOW).unwrap();
    assert!(table.restarted().refresh(&first, NOW - GRACE).is_some());
}

#[test]
fn answers_to_a_refresh_from_before_and_after_a_restart_are_all_valid() {
    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    let answers: Vec<_> = (0..3)
        .scan(table, |table, at| {
            let answer = table.refresh(&first, NOW + at).unwrap();
            *table = table.restarted();
            Some((answer, table.restarted()))
        })
        .collect();
    let (_, table) = answers.last().unwrap();
    for ((access, refresh), _) in &answers {
        // The use of one answer ends the others.
        let table = table.restarted();
        assert!(table.is_good(access, NOW));
        let (_, next) = table.refresh(refresh, NOW + GRACE + 1).unwrap();
        assert!(table.refresh(&next, NOW + GRACE + 1).is_some());
        for ((_, other), _) in answers.iter().filter(|it| it.0.1 != *refresh).take(1) {
            assert!(table.refresh(other, NOW + GRACE + 1).is_none());
        }
        assert!(table.refresh(&next, NOW + GRACE + 1).is_none(), "the grant has ended");
    }
}

#[test]
fn a_refresh_token_that_is_used_twice_ends_the_grant_after_a_restart() {
    let table = Table::new();
    let stolen = table.begin("ada").refresh.unwrap();
    let (access, refresh) = table.refresh(&stolen, NOW).unwrap();
    let table = table.restarted();
    assert!(table.is_good(&access, NOW));
    assert!(table.refresh(&stolen, NOW + GRACE + 1).is_none());
    assert!(!table.is_good(&access, NOW) && table.refresh(&refresh, NOW).is_none());
}

#[test]
fn a_refresh_works_only_for_its_client_and_may_narrow_the_scopes() {
    let table = Table::new();
    let token = table.begin("ada").refresh.unwrap();
    let refresh = |client: &str, scopes: &[&str]| {
        let scopes = scopes.iter().map(|it| (*it).to_owned()).collect();
        table.0.refresh(&token, client, Some(scopes), None, NOW, &table.1)
    };
    assert_eq!(refresh("d", &["a"]).err().unwrap().error, "invalid_grant");
    assert_eq!(refresh("c", &["a", "x"]).err().unwrap().error, "invalid_scope");
    let less = refresh("c", &["a"]).ok().unwrap();
    let authorization = table.0.verify(&less.access, NOW).unwrap();
    assert_eq!(authorization.granted().collect::<Vec<_>>(), ["a"]);
    // A refresh without scopes returns to all granted scopes.
    let all = table.0.refresh(&less.refresh.unwrap(), "c", None, None, NOW, &table.1).ok().unwrap();
    assert_eq!(all.scopes, ["a", "b"]);
}

#[test]
fn a_scope_that_is_named_often_is_kept_once() {
    let table = Table::new();
    let token = table.begin("ada").refresh.unwrap();
    let scopes = ["b", "a"].repeat(10_000).into_iter().map(str::to_owned).collect();
    let issued = table.0.refresh(&token, "c", Some(scopes), None, NOW, &table.1).ok().unwrap();
    assert_eq!(issued.scopes, ["a", "b"]);
    let authorization = table.0.verify(&issued.access, NOW).unwrap();
    assert_eq!(authorization.granted().count(), 2);
}

#[test]
fn a_revoked_access_token_is_not_issued_again_by_a_repeated_refresh() {
    let table = Table::new();
    let first = table.begin("ada").refresh.unwrap();
    let (access, _) = table.refresh(&first, NOW).unwrap();
    assert!(table.is_good(&access, NOW));
    table.0.revoke(&access, "c", &table.1);
    assert!(table.refresh(&first, NOW).is_none());
    assert!(!table.is_good(&access, NOW));
}

#[test]
fn a_client_can_revoke_only_its_own_tokens() {
    let table = Table::new();
    let issued = table.begin("ada");
    let (access, refresh) = (issued.access, issued.refresh.unwrap());
    for foreign in [&access, &refresh] {
        table.0.revoke(foreign, "d", &table.1);
    }
    table.0.revoke("unknown", "c", &table.1);
    assert!(table.is_good(&access, NOW));
    table.0.revoke(&access, "c", &table.1);
    assert!(!table.is_good(&access, NOW));
    let (access, refresh) = table.refresh(&refresh, NOW).unwrap();
    table.0.revoke(&refresh, "c", &table.1);
    assert!(!table.is_good(&access, NOW) && table.refresh(&refresh, NOW).is_none());
}

#[test]
fn one_user_does_not_fill_the_table() {
    let (counts, tally) = Counts::of_test();
    let table = Table(Grants::new(counts), Journal::default());
    let bob = table.begin("bob");
    let all: Vec<_> = (0..OF_USER + 3).map(|_| table.begin("ada")).collect();
    let kept = all.iter().filter(|it| table.is_good(&it.access, NOW)).count();
    assert_eq!(kept, OF_USER);
    assert_eq!(tally.refused(Limit::Logins), 3);
    assert!(table.is_good(&bob.access, NOW));
    let mut refresh = bob.refresh.unwrap();
    for _ in 0..TOKENS * 2 {
        refresh = table.refresh(&refresh, NOW).unwrap().1;
    }
    assert_eq!(table.0.tokens.len(), OF_USER + TOKENS);
    assert_eq!(table.0.state().grants.len(), OF_USER + 1);
}
