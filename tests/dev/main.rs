//! The command `dev` on real crates: a change of the sources reaches clients that stay connected, over stdio and over HTTP.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod client;
mod http;
mod real;
mod stdio;
mod workshop;
