//! Calls in the body of a function that hold its thread, for a warning of the command `check`. A call inside of another function is not seen.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Calls that hold the thread, or panic because they would. The tokens are separated by spaces.
const HOLDING: &[&str] = &[
    " thread : : sleep (",
    " block_in_place (",
    " block_on (",
    " blocking_lock (",
    " blocking_recv (",
    " blocking_send (",
    " reqwest : : blocking : : get (",
    " ureq : : get (",
    " ureq : : post (",
    " std : : net : : TcpStream : : connect (",
];

/// Calls that wait for a program, in a statement with [`COMMAND`]. An `async` function may have the command of tokio.
const WAITING: &[&str] = &[" . output (", " . status (", " . wait ("];

const COMMAND: &str = " Command : : new (";

/// Functions whose arguments run on another thread. A task of `tokio::spawn` runs on the same thread.
const ELSEWHERE: &[&str] = &[" spawn_blocking", " thread : : spawn"];

/// Returns the first of these calls, such as `thread::sleep`.
pub(super) fn find(body: &TokenStream, is_async: bool) -> Option<String> {
    let mut text = String::new();
    write(body.clone(), &mut text);
    let held = HOLDING.iter().filter_map(|call| Some((text.find(call)?, *call))).min();
    if let Some((_, call)) = held {
        return Some(call.replace([' ', '('], ""));
    }
    if is_async || text.contains(" tokio : : process") {
        return None;
    }
    let mut commands = text.split(" ;").filter_map(|statement| statement.split_once(COMMAND));
    commands.find_map(|(_, rest)| {
        let waits = WAITING.iter().find(|call| rest.contains(**call))?;
        Some(format!("Command::{}", waits.trim_matches([' ', '.', '('])))
    })
}

/// Writes the tokens, each after a space. Literals and the arguments of [`ELSEWHERE`] are left out.
fn write(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => text.extend([" ", &ident.to_string()]),
            TokenTree::Punct(punct) => text.extend([' ', punct.as_char()]),
            TokenTree::Literal(_) => text.push_str(" \""),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                let is_elsewhere = ELSEWHERE.iter().any(|call| text.ends_with(call));
                text.push_str(" (");
                if !is_elsewhere {
                    write(group.stream(), text);
                }
                text.push_str(" )");
            }
            TokenTree::Group(group) => {
                text.push_str(" {");
                write(group.stream(), text);
                text.push_str(" }");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, in_place: Option<&str>, in_async: Option<&str>) {
        let body: TokenStream = body.parse().expect("tokens");
        assert_eq!(find(&body, false).as_deref(), in_place, "{body}");
        assert_eq!(find(&body, true).as_deref(), in_async, "{body}");
    }

    const SLEEP: &str = "thread::sleep";

    #[test]
    fn calls_that_hold_the_thread_are_found() {
        let both = |body: &str, call: &str| check(body, Some(call), Some(call));
        both(&format!("if late {{ std::{SLEEP}(PAUSE); }} ureq::get(\"a\")"), SLEEP);
        both(&format!("select! {{ _ = done => {SLEEP}(PAUSE) }}"), SLEEP);
        both(&format!("tokio::spawn(async {{ {SLEEP}(PAUSE) }}).await"), SLEEP);
        both(&format!("let spawned = ({SLEEP}(PAUSE), 1);"), SLEEP);
        both("tokio::task::block_in_place(|| work())", "block_in_place");
        both("Handle::current().block_on(work())", "block_on");
        both("Ok(reqwest::blocking::get(url)?.text()?)", "reqwest::blocking::get");
        both("ureq::get(url).call()?", "ureq::get");
        both("std::net::TcpStream::connect(address)", "std::net::TcpStream::connect");
        check("Command::new(\"git\").arg(\"log\").output()?", Some("Command::output"), None);
        check("std::process::Command::new(\"git\").status()?", Some("Command::status"), None);
    }

    #[test]
    fn work_on_another_thread_and_similar_names_are_not_found() {
        let elsewhere = format!("spawn_blocking(move || {SLEEP}(PAUSE)).await");
        let in_thread = format!("std::thread::spawn(move || {{ {SLEEP}(PAUSE); }});");
        let in_text = format!("let text = \"{SLEEP}(1)\"; my_{SLEEP}_less(PAUSE)");
        for body in [
            &*elsewhere,
            &in_thread,
            &in_text,
            "tokio::time::timeout(PAUSE, work).await",
            "block_once(1)",
            "block_on + 1",
            "Err(ureq::Error::Status(404, answer))",
            "Command::new(\"editor\").spawn()?; Ok(())",
            "tokio::process::Command::new(\"git\").output().await",
            "clap::Command::new(\"git\").about(text)",
            "answer.status()",
            "Command::new(\"editor\").spawn()?; Response::builder().status(200)",
        ] {
            check(body, None, None);
        }
    }
}
