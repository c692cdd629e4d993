//! Runs a server that was started with the command-line option `--http`: completes the address, serves, and prints how to try the server.

use std::{future::Future, io::Write as _, net::SocketAddr, pin::pin};

use super::{reactors::Reactors, server::HttpServer};
use crate::{
    error::ServeError,
    protocol::example_request,
    transport::{relay_stderr, runtime::block_on},
};

/// Address that a server listens on by default.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:8000";

/// Completes an address such as `8000`, `:8000` or `0.0.0.0`. The default host is loopback, and the default port is 8000.
pub(crate) fn complete_address(given: &str) -> String {
    match given.strip_prefix(':').unwrap_or(given) {
        port if port.parse::<u16>().is_ok() => format!("127.0.0.1:{port}"),
        _ if given.parse::<std::net::Ipv6Addr>().is_ok() => format!("[{given}]:8000"),
        _ if given.ends_with(']') => format!("{given}:8000"),
        host if !host.contains(':') => format!("{host}:8000"),
        _ => given.to_owned(),
    }
}

/// Returns what is wrong with an address for `--http`, or `None` if the system may be able to listen there.
pub(crate) fn address_problem(given: &str) -> Option<String> {
    if given.starts_with("unix:") {
        return Some(format!(
            "`{given}` is a Unix socket, and the server listens only on TCP: write `--http 127.0.0.1:8000`, which other machines cannot reach"
        ));
    }
    let bare = given.split_once("://").map_or(given, |(_, rest)| rest);
    if bare != given || given.contains('/') {
        let (address, path) = bare.split_once('/').unwrap_or((bare, ""));
        let path = if path.is_empty() { String::new() } else { format!(" --path /{path}") };
        return Some(format!("`{given}` is more than an address: write `--http {address}{path}`"));
    }
    if given.is_empty() || given.contains(char::is_whitespace) {
        return Some(format!("`{given}` is not an address: write a port or HOST:PORT"));
    }
    let is_host = given.parse::<std::net::Ipv6Addr>().is_ok() || given.ends_with(']');
    let port = match given.rsplit_once(':') {
        Some((_, port)) => port,
        None if given.bytes().all(|byte| byte.is_ascii_digit()) => given,
        None => return None,
    };
    let is_port = is_host || port.parse::<u16>().is_ok();
    (!is_port).then(|| format!("`{port}` is not a port: a port is a number up to 65535"))
}

/// Serves until the process receives a signal to stop. This thread accepts the connections of the server that `bind` returns, and
/// [reactors](Reactors) serve them. `announce` tells the person at the terminal that the server listens.
///
/// # Errors
/// Fails if `bind` fails, if the system cannot start a thread, or if a handler still blocks a thread when the server stops.
pub(crate) fn run(
    bind: impl Future<Output = Result<HttpServer, ServeError>>,
    announce: impl FnOnce(&HttpServer),
) -> Result<(), ServeError> {
    relay_stderr();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = pin!(async {
        let server = bind.await?;
        announce(&server);
        server.serve_on(&Reactors::start()?).await
    });
    block_on(runtime, served)
}

/// Prints the address of a server, and how to try the server.
pub(crate) fn hint(server: &HttpServer) {
    let identity = server.identity();
    // If stderr is closed, the hint has no reader, so an error does not matter.
    let _ = writeln!(
        std::io::stderr(),
        "{} {}: an MCP server at {}\n{}{}give the address to a client, or try it with\n  {}\n{}Ctrl-C ends the server, and `help` lists the options",
        identity.name,
        identity.version,
        server.url(),
        all_interfaces(server.local_addr()),
        playground(server),
        curl(&server.url(), server.is_protected()),
        token_hint(server.is_protected())
    );
}

/// Returns a line for a server that listens on all network interfaces, whose URL is only for clients on the same machine.
fn all_interfaces(address: SocketAddr) -> String {
    if !address.ip().is_unspecified() {
        return String::new();
    }
    let port = address.port();
    format!(
        "it listens on all network interfaces: other machines use this machine's address, and port {port}\n"
    )
}

/// Returns a line with the URL of the playground, if the server serves it.
fn playground(server: &HttpServer) -> String {
    #[cfg(feature = "playground")]
    if let Some(url) = server.playground_url() {
        return format!("its playground is at {url}\n");
    }
    let _ = server;
    String::new()
}

/// Returns a shell command that asks the server for its name and its capabilities.
fn curl(url: &str, is_protected: bool) -> String {
    let (headers, body) = example_request();
    let mut line = format!("curl {}", quoted(url));
    let mut header = |name: &str, value: &str| {
        line.push_str(&format!(" -H {}", quoted(&format!("{name}: {value}"))));
    };
    header("Content-Type", "application/json");
    header("Accept", "application/json, text/event-stream");
    for (name, value) in &headers {
        header(name, value);
    }
    if is_protected {
        header("Authorization", "Bearer TOKEN");
    }
    line.push_str(&format!(" -d {}", quoted(&body)));
    line
}

/// Returns a line that says where the access token of [`curl`] comes from.
fn token_hint(is_protected: bool) -> &'static str {
    match is_protected {
        true => {
            "replace TOKEN by an access token: the guide's page `authorization` shows how to get one\n"
        }
        false => "",
    }
}

/// Quotes a word for a shell. Within single quotes, only a single quote has a special meaning.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{address_problem, all_interfaces, complete_address, curl, token_hint};

    #[test]
    fn an_address_may_leave_something_out() {
        for (given, expected) in [
            ("8000", "127.0.0.1:8000"),
            (":8000", "127.0.0.1:8000"),
            ("0.0.0.0", "0.0.0.0:8000"),
            ("localhost", "localhost:8000"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::1]:2", "[::1]:2"),
            ("[::1]", "[::1]:8000"),
            ("::1", "[::1]:8000"),
        ] {
            assert_eq!(complete_address(given), expected);
        }
    }

    #[test]
    fn a_server_on_all_interfaces_is_announced_to_other_machines() {
        let said = |address: &str| all_interfaces(address.parse().unwrap());
        for address in ["0.0.0.0:8000", "[::]:8000"] {
            assert_eq!(
                said(address),
                "it listens on all network interfaces: other machines use this machine's address, and port 8000\n"
            );
        }
        assert_eq!(said("127.0.0.1:8000"), "");
    }

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for fine in ["8000", ":8000", "0.0.0.0", "localhost:1", "[::1]:2", "[::1]", "::1", "a.b"] {
            assert_eq!(address_problem(fine), None, "{fine}");
        }
        for (wrong, problem) in [
            ("http://127.0.0.1:1", "is more than an address: write `--http 127.0.0.1:1`"),
            ("https://a.b/", "is more than an address: write `--http a.b`"),
            ("127.0.0.1:1/x/y", "is more than an address: write `--http 127.0.0.1:1 --path /x/y`"),
            ("", "is not an address: write a port or HOST:PORT"),
            (
                "unix:/run/mcp.sock",
                "is a Unix socket, and the server listens only on TCP: write `--http 127.0.0.1:8000`, which other machines cannot reach",
            ),
            ("a b", "is not an address: write a port or HOST:PORT"),
            ("70000", "is not a port: a port is a number up to 65535"),
        ] {
            assert_eq!(address_problem(wrong), Some(format!("`{wrong}` {problem}")));
        }
        for wrong in ["localhost:70000", "localhost:http", "[::1]:", ":x"] {
            let problem = address_problem(wrong).expect("a problem");
            assert!(
                problem.ends_with(" is not a port: a port is a number up to 65535"),
                "{problem}"
            );
        }
    }

    #[test]
    fn a_line_for_curl_survives_a_shell() {
        let line = curl("http://127.0.0.1:1/it's", false);
        assert!(
            line.starts_with(
                r"curl 'http://127.0.0.1:1/it'\''s' -H 'Content-Type: application/json' "
            ),
            "{line}"
        );
        assert!(!line.contains("Authorization"), "{line}");
        assert!(
            curl("http://127.0.0.1:1/mcp", true).contains(" -H 'Authorization: Bearer TOKEN' ")
        );
    }

    #[test]
    fn only_the_line_with_a_token_says_where_the_token_comes_from() {
        for is_protected in [true, false] {
            let names_token = curl("http://127.0.0.1:1/mcp", is_protected).contains("TOKEN");
            assert_eq!(token_hint(is_protected).contains("TOKEN"), names_token);
        }
    }
}
