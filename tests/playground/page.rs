//! The page as a response of the server, and the command line that serves it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
};

use support::process::{HttpServer, Running};

fn fixture() -> Command {
    Command::new(env!("CARGO_BIN_EXE_playground-fixture"))
}

/// Sends the head of a request to the server at `url`, and returns the whole response.
fn ask(url: &str, method: &str, path: &str, headers: &str) -> String {
    let address = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    let mut stream = TcpStream::connect(address.expect("a URL")).expect("the server listens");
    let host = if headers.contains("Host:") { "" } else { "Host: localhost\r\n" };
    write!(stream, "{method} {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n")
        .expect("the server reads");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("the server answers");
    String::from_utf8_lossy(&response).into_owned()
}

fn server(options: &[&str]) -> HttpServer {
    let none: [(&str, std::path::PathBuf); 0] = [];
    HttpServer::start(Path::new(env!("CARGO_BIN_EXE_playground-fixture")), options, &none)
}

#[support::test]
fn the_page_has_a_strict_policy_and_a_tag() {
    let server = server(&["--playground"]);
    let response = ask(&server.url, "GET", "/playground", "");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let lower = head.to_lowercase();
    for header in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-cache",
        "content-security-policy: default-src 'none'; script-src 'sha256-",
    ] {
        assert!(lower.contains(header), "{header}: {head}");
    }
    assert!(!lower.contains("unsafe"), "{head}");
    assert!(!lower.contains("access-control-allow-origin"), "{head}");
    assert!(body.contains("content=\"/mcp\""), "the page knows the endpoint");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag");
    let again = ask(&server.url, "GET", "/playground", &format!("If-None-Match: {tag}\r\n"));
    assert!(again.starts_with("HTTP/1.1 304 "), "{again}");
    let posted = ask(&server.url, "POST", "/playground", "Content-Length: 0\r\n");
    assert!(posted.starts_with("HTTP/1.1 405 "), "{posted}");
}

#[support::test]
fn the_document_of_a_view_has_the_policy_that_its_address_declares() {
    let server = server(&["--playground", "--path", "/api/mcp"]);
    let path = "/api/playground-view?connect=https://a.example&resource=https://*.b.example:*&base=c.example";
    let response = ask(&server.url, "GET", path, "");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let lower = head.to_lowercase();
    for part in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "x-frame-options: sameorigin",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'; script-src 'unsafe-inline' https://*.b.example:*; ",
        "; connect-src https://a.example; frame-src 'none'; object-src 'none'; base-uri c.example; ",
        "; frame-ancestors 'self'; sandbox allow-scripts\r\n",
    ] {
        assert!(format!("{lower}\r\n").contains(part), "{part}: {head}");
    }
    assert!(!lower.contains("access-control-allow-origin"), "{head}");
    assert!(body.contains("playgroundView") && !body.contains("a.example"), "{body}");
    for wrong in
        ["connect='unsafe-eval'", "connect=*", "connect=a.example;script-src", "x=a.example"]
    {
        let refused = ask(&server.url, "GET", &format!("/api/playground-view?{wrong}"), "");
        assert!(refused.starts_with("HTTP/1.1 400 "), "{wrong}: {refused}");
        assert!(!refused.to_lowercase().contains("content-security-policy"), "{refused}");
    }
    let rebound = ask(&server.url, "GET", "/api/playground-view", "Host: evil.example\r\n");
    assert!(rebound.starts_with("HTTP/1.1 403 "), "{rebound}");
    let posted = ask(&server.url, "POST", "/api/playground-view", "Content-Length: 0\r\n");
    assert!(posted.starts_with("HTTP/1.1 405 "), "{posted}");
    let without = self::server(&[]);
    let missing = ask(&without.url, "GET", "/playground-view", "");
    assert!(missing.starts_with("HTTP/1.1 404 "), "{missing}");
}

#[support::test]
fn the_page_is_served_only_to_hosts_that_the_server_accepts() {
    let server = server(&["--playground"]);
    let rebound = ask(&server.url, "GET", "/playground", "Host: evil.example\r\n");
    assert!(rebound.starts_with("HTTP/1.1 403 "), "{rebound}");
    let elsewhere = ask(&server.url, "GET", "/playground", "Origin: http://evil.example\r\n");
    assert!(elsewhere.starts_with("HTTP/1.1 403 "), "{elsewhere}");
}

#[support::test]
fn without_the_option_there_is_no_page() {
    let server = server(&[]);
    let response = ask(&server.url, "GET", "/playground", "");
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
}

#[support::test]
fn the_page_follows_the_path_of_the_endpoint() {
    let server = server(&["--playground", "--path", "/api/v1/mcp"]);
    let response = ask(&server.url, "GET", "/api/v1/playground", "");
    assert!(response.contains("content=\"/api/v1/mcp\""), "{response}");
}

#[support::test]
fn a_start_at_an_address_that_others_reach_fails_with_the_fix() {
    let output = fixture().args(["--http", "0.0.0.0:0", "--playground"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("`--allow-remote-playground`"), "{text}");
    assert!(text.contains("`.allow_remote_playground(true)`"), "{text}");
}

#[support::test]
fn a_proxy_gets_the_page_only_if_that_is_allowed() {
    let proxied =
        ["--playground", "--allow-host", "api.example.com", "--trust-proxy", "10.0.0.0/8"];
    let server = server(&proxied);
    for header in ["Host: api.example.com\r\n", "X-Forwarded-For: 192.0.2.1\r\n"] {
        let response = ask(&server.url, "GET", "/playground", header);
        assert!(response.starts_with("HTTP/1.1 403 "), "{header}: {response}");
        assert!(response.contains("`--allow-remote-playground`"), "{response}");
    }
    let server = self::server(&[&proxied[..], &["--allow-remote-playground"]].concat());
    let response = ask(&server.url, "GET", "/playground", "X-Forwarded-For: 192.0.2.1\r\n");
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

#[support::test]
fn the_option_allows_addresses_that_others_reach() {
    let mut command = fixture();
    command.args(["--http", "0.0.0.0:0", "--playground", "--allow-remote-playground"]);
    let mut process = Running::start(command.stdin(Stdio::null()).stderr(Stdio::piped()));
    let said = BufReader::new(process.stderr().expect("stderr is piped"));
    let line = said.lines().map_while(Result::ok).find(|line| line.contains("playground"));
    assert!(line.expect("a line").contains("http://127.0.0.1:"));
}

/// The user may put the option on either side of the command. The error for the wrong side names the right one.
#[support::test]
fn the_command_takes_the_option_that_its_error_names() {
    let run = |words: &[&str]| {
        let output = fixture().args(words).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, text) = run(&["playground", "0.0.0.0:0", "--no-open"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("add `--allow-remote-playground` to the command"), "{text}");
    let (status, text) = run(&["--allow-remote-playground", "playground", "0.0.0.0:0"]);
    let expected = "error: `--allow-remote-playground` goes after the command: `playground --allow-remote-playground`\n";
    assert_eq!((status, &*text), (Some(2), expected));
    let mut command = fixture();
    command.args(["playground", "0.0.0.0:0", "--no-open", "--allow-remote-playground"]);
    let mut process = Running::start(command.stdin(Stdio::null()).stderr(Stdio::piped()));
    let said = BufReader::new(process.stderr().expect("stderr is piped"));
    let line = said.lines().map_while(Result::ok).next().expect("a line");
    assert!(line.contains("try it at http://127.0.0.1:"), "{line}");
}

#[support::test]
fn the_command_serves_the_page_at_a_free_port_and_says_where() {
    let mut command = fixture();
    command.args(["playground", "--no-open"]);
    let mut process = Running::start(command.stdin(Stdio::null()).stderr(Stdio::piped()));
    let mut said = BufReader::new(process.stderr().expect("stderr is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let url = line.trim_end().rsplit("try it at ").next().expect("a URL").to_owned();
    assert!(url.ends_with("/playground"), "{line}");
    let response = ask(&url, "GET", "/playground", "");
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

#[cfg(target_os = "linux")]
#[support::test]
fn the_command_opens_the_page_in_the_browser() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("playground-opener");
    fs::create_dir_all(&folder).expect("the folder for tests is writable");
    let opener = folder.join("xdg-open");
    // The opener tells the test by a pipe, which is a file that both know.
    let opened = folder.join("opened");
    let _ = fs::remove_file(&opened);
    fs::write(
        &opener,
        format!("#!/bin/sh\necho \"$1\" > '{0}.part' && mv '{0}.part' '{0}'\n", opened.display()),
    )
    .expect("writable");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = fixture();
    command.arg("playground").env("PATH", path).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut process = Running::start(&mut command);
    let mut line = String::new();
    BufReader::new(process.stderr().expect("stderr is piped"))
        .read_line(&mut line)
        .expect("a line");
    let url = support::clock::eventually_blocking("the opener has run", || {
        fs::read_to_string(&opened).ok()
    });
    assert!(line.contains(url.trim()), "{line}{url}");
}
