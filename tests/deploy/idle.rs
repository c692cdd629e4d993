//! Idle connections between a proxy and its server. The proxy has to close them, because a POST that it sends while the server closes the
//! connection is lost.

use std::time::Duration;

use serde_json::json;
use support::{clock::eventually, requirement::needs};

use crate::{
    client::{Request, plain_call},
    files::{HOST, committed},
    front::{BOTH, Front, Program, behind_both},
    limits::default_time,
    relay::Relay,
    server::{Server, fixture},
};

/// Returns the setting of the committed file for idle connections to the server, and its value in seconds.
fn idle_time(program: Program) -> (String, u64) {
    let (file, setting) = match program {
        Program::Nginx => ("nginx.conf", "keepalive_timeout "),
        Program::Caddy => ("Caddyfile", "keepalive "),
    };
    let text = committed(file);
    let line = text.lines().find_map(|line| line.trim().strip_prefix(setting));
    let value = line.expect("the file sets the time").trim_end_matches(';');
    let (number, unit) = value.split_at(value.len() - 1);
    let number: u64 = number.parse().expect("a number");
    let seconds = if unit == "m" { number * 60 } else { number };
    (format!("{setting}{value}"), seconds)
}

#[support::test]
fn the_files_set_less_than_the_server_waits() {
    for program in BOTH {
        let (setting, seconds) = idle_time(program);
        // The server looks at its deadlines in steps, and so does a proxy.
        let proxy = Duration::from_secs(seconds + 15);
        assert!(proxy < default_time("connection_idle"), "{program:?}: {setting}");
    }
}

fn echo() -> Request {
    plain_call(1, "echo", json!({ "text": "x" })).host(HOST)
}

fn server() -> Server {
    Server::start_with(fixture(), &["--allow-host", HOST], &[])
}

#[support::test]
fn the_clients_of_a_proxy_share_its_connections_to_the_server() {
    behind_both(async |program| {
        let server = server();
        let relay = Relay::before(server.address()).await;
        let front = needs(Front::start(program, relay.address, &[]).await);
        let address = front.secured().await;
        for _ in 0..5 {
            assert_eq!(echo().ask(address).await.text(), "x", "{program:?}");
        }
        assert_eq!(relay.opened(), 1, "{program:?}");
    });
}

/// With a shorter time in the file, the proxy closes the connection, and the next POST gets a new one.
#[support::test]
fn the_proxy_closes_idle_connections_as_its_file_says() {
    behind_both(async |program| {
        let server = server();
        let relay = Relay::before(server.address()).await;
        let (setting, _) = idle_time(program);
        let name = setting.split(' ').next().expect("a name");
        let shorter = format!("{name} 200ms");
        let changes = [(&*setting, &*shorter)];
        let front = needs(Front::start(program, relay.address, &changes).await);
        let address = front.secured().await;
        for round in 1..=2 {
            assert_eq!(echo().ask(address).await.text(), "x", "{program:?}");
            eventually("the idle connection is closed", async || {
                let (by_proxy, by_server) = relay.closed();
                (by_proxy + by_server == round).then_some(())
            })
            .await;
            assert_eq!(relay.closed(), (round, 0), "{program:?}: proxy, server");
        }
    });
}

/// If the server has closed an idle connection long before, the proxy knows that, and sends the next POST on a new one.
#[support::test]
fn a_connection_that_the_server_has_closed_is_not_used_again() {
    behind_both(async |program| {
        let soon = ("FIXTURE_LIMITS", "connection_idle=100");
        let server = Server::start_with(fixture(), &["--allow-host", HOST], &[soon]);
        let relay = Relay::before(server.address()).await;
        let front = needs(Front::start(program, relay.address, &[]).await);
        let address = front.secured().await;
        for round in 1..=3 {
            assert_eq!(echo().ask(address).await.text(), "x", "{program:?}");
            eventually("the server closes the idle connection", async || {
                (relay.closed() == (0, round)).then_some(())
            })
            .await;
        }
    });
}
