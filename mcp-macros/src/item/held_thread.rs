//! Calls in the body of a function that hold its thread, for a warning of the command `check`. Calls behind other functions are not seen.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Calls that no server should make outside of threads for such work. The tokens are separated by spaces.
const HOLDING: &[&str] = &[
    " thread : : sleep (",
    " block_in_place (",
    " block_on (",
    " blocking_lock (",
    " blocking_recv (",
    " blocking_send (",
    " reqwest : : blocking : :",
    " ureq : :",
];

/// Calls that hold the thread in a plain function only, because `async` functions have others of the same name.
const HOLDING_IN_PLACE: &[&str] = &[" Command : : new (", " TcpStream : : connect ("];

/// Returns the first of these calls, such as `thread::sleep`. A call inside of the arguments of a `spawn` or `spawn_blocking` runs elsewhere.
pub(super) fn find(body: &TokenStream, is_async: bool) -> Option<String> {
    let in_place = if is_async { &[] } else { HOLDING_IN_PLACE };
    let mut text = String::new();
    write(body.clone(), &mut text);
    let calls = HOLDING.iter().chain(in_place);
    let (_, call) = calls.filter_map(|call| Some((text.find(call)?, call))).min()?;
    Some(call.replace([' ', '('], "").trim_end_matches(':').to_owned())
}

/// Writes the tokens, each after a space. Literals are left out.
fn write(tokens: TokenStream, text: &mut String) {
    let mut is_spawned = false;
    for token in tokens {
        let group = match token {
            TokenTree::Group(group) => group,
            TokenTree::Ident(ident) => {
                let ident = ident.to_string();
                is_spawned = ident.starts_with("spawn");
                text.extend([" ", &ident]);
                continue;
            }
            TokenTree::Punct(punct) => {
                text.extend([' ', punct.as_char()]);
                continue;
            }
            TokenTree::Literal(_) => continue,
        };
        if group.delimiter() == Delimiter::Parenthesis && is_spawned {
            continue;
        }
        is_spawned = false;
        text.push_str(if group.delimiter() == Delimiter::Parenthesis { " (" } else { " {" });
        write(group.stream(), text);
        text.push_str(" }");
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

    #[test]
    fn calls_that_hold_the_thread_are_found() {
        let sleep = Some("thread::sleep");
        check("if late { std::thread::sleep(PAUSE); } ureq::get(\"a\")", sleep, sleep);
        check("select! { _ = done => thread::sleep(PAUSE) }", sleep, sleep);
        check(
            "tokio::task::block_in_place(|| work())",
            Some("block_in_place"),
            Some("block_in_place"),
        );
        check("Handle::current().block_on(work())", Some("block_on"), Some("block_on"));
        let client = Some("reqwest::blocking");
        check("Ok(reqwest::blocking::get(url)?.text()?)", client, client);
        check("ureq::get(url).call()?", Some("ureq"), Some("ureq"));
        check("Command::new(\"git\").output()?", Some("Command::new"), None);
        check("TcpStream::connect(address)", Some("TcpStream::connect"), None);
    }

    #[test]
    fn work_on_another_thread_and_similar_names_are_not_found() {
        for body in [
            "spawn_blocking(move || thread::sleep(PAUSE)).await",
            "std::thread::spawn(move || { thread::sleep(PAUSE); });",
            "tokio::time::sleep(PAUSE).await",
            "let text = \"thread::sleep(1)\";",
            "my_thread::sleep_less(PAUSE); block_once(1)",
            "block_on + 1",
        ] {
            check(body, None, None);
        }
    }
}
