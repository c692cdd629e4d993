//! The command `dev` on real crates: a change of the sources reaches clients that stay connected, over stdio and over HTTP. Templates,
//! and the whole way from a template to a bundle.

#![forbid(unsafe_code)]

mod client;
mod generated;
mod http;
mod programs;
mod real;
mod stdio;
mod template;
mod walk;
mod workshop;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
