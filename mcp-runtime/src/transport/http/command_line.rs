//! Runs a server that was started with the command-line option `--http`: completes the address, serves, and prints how to try the server.

use std::{future::Future, io::Write as _, pin::pin};

use super::{reactors::Reactors, server::HttpServer};
use crate::{error::ServeError, protocol::example_request, transport::runtime::block_on};

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

/// Serves until the process receives a signal to stop. This thread accepts the connections of the server that `bind` returns, and
/// [reactors](Reactors) serve them.
///
/// # Errors
/// Fails if `bind` fails, if the system cannot start a thread, or if a handler still blocks a thread when the server stops.
pub(crate) fn run(
    bind: impl Future<Output = Result<HttpServer, ServeError>>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = pin!(async {
        let server = bind.await?;
        hint(&server);
        server.serve_on(&Reactors::start()?).await
    });
    block_on(runtime, served)
}

fn hint(server: &HttpServer) {
    let identity = server.identity();
    // If stderr is closed, the hint has no reader, so an error does not matter.
    let _ = writeln!(
        std::io::stderr(),
        "{} {}: an MCP server at {}\ngive the address to a client, or try it with\n  {}\nCtrl-C ends the server, and `help` lists the options",
        identity.name,
        identity.version,
        server.url(),
        curl(&server.url(), server.is_protected())
    );
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

/// Quotes a word for a shell. Within single quotes, only a single quote has a special meaning.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{complete_address, curl};

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
}
