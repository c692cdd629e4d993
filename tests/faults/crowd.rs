//! A limit on sessions that is too low to reserve sessions for further users. If all sessions are in use, the user with the most sessions
//! loses one of them as soon as another user opens a session.

use std::time::Duration;

use mcp_runtime::{auth::StaticTokens, limits::Limits};
use support::clock::jump;

use crate::{
    authorization::{Served, server, with},
    client::{Session, initialize, message, run},
};

#[support::test]
fn a_user_with_most_sessions_makes_room_for_others() {
    run(async {
        let tokens = StaticTokens::new().token("ada", "ada").token("grace", "grace");
        let served = Served::start(server().limits(Limits::new().sessions(4)).auth(tokens)).await;
        let begin = async |token: &str| {
            let begun = with(token, initialize("2025-11-25")).ask(served.address).await;
            let id = begun.head.get("mcp-session-id");
            id.map(|id| Session { address: served.address, revision: "2025-11-25", id })
        };
        let uses = async |token: &str, session: &Session| {
            let ping = session.post(&message(2, "ping", serde_json::json!({})));
            with(token, ping).ask(served.address).await.status() == 200
        };
        let mut all = Vec::new();
        for _ in 0..4 {
            let session = begin("ada").await.expect("there is room");
            assert!(uses("ada", &session).await);
            // The server records the time of the last use in milliseconds. The jump gives each session a different time.
            jump(Duration::from_millis(5)).await;
            all.push(session);
        }
        // This user gets no further session, and the repeated requests do not keep other users out.
        for _ in 0..10 {
            assert!(begin("ada").await.is_none());
        }
        let grace = begin("grace").await.expect("there is room for others");
        assert!(uses("grace", &grace).await);
        assert!(!uses("ada", &all[0]).await, "the one that was used first has gone");
        for session in &all[1..] {
            assert!(uses("ada", session).await);
        }
        // A user never loses sessions within an equal share of the limit. Here the share is two of four sessions.
        assert!(begin("ada").await.is_none());
        assert!(begin("grace").await.is_some());
        assert!(begin("grace").await.is_none());
        let mut left = 0;
        for session in &all[1..] {
            left += usize::from(uses("ada", session).await);
        }
        assert_eq!(left, 2);
        served.end().await;
    });
}
