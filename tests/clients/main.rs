//! Third-party clients against the examples: a matrix of clients, transports and abilities.
//!
//! The clients are hundreds of megabytes, so these tests are ignored by default. Run them with
//! `cargo test --workspace --test clients -- --ignored`. Each client is installed once, at a pinned version, into
//! `target/clients`, where the tests also write `table.md`. The tests drive the MCP layer of a client. They call no model, and
//! send no data to other machines.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};
use support::requirement::needs;

mod client;
mod clients;
mod driver;
mod matrix;
mod schema;
mod table;

use client::{Client, Transport};
use matrix::{Bench, Cell};
use table::Entry;

fn main() -> std::process::ExitCode {
    support::harness::run()
}

/// Fills the rows of a client in the table, and fails with a list of all wrong cells.
#[track_caller]
fn check(client: &'static Client) {
    needs(client.install());
    let mut mistakes = Vec::new();
    for (order, transport) in Transport::ALL.into_iter().enumerate() {
        if !client.has(transport) {
            continue;
        }
        let mut bench = Bench::new(client, transport);
        let row = format!("{} {}, {}", client.name, client.version(), transport.name());
        let entries = Cell::ALL.map(|cell| {
            if let Some(reason) = client.lacks(transport, cell) {
                return Entry::None(reason);
            }
            if let Err(mistake) = bench.fill(cell) {
                mistakes.push(format!("{row}, {cell:?}: {mistake}"));
                return Entry::Wrong;
            }
            client.note(transport, cell).map_or(Entry::Right, Entry::Noted)
        });
        table::add(client.name, order, row, entries);
    }
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    if TRIED.fetch_add(1, Ordering::SeqCst) + 1 == clients::NUMBER {
        table::print();
    }
    assert!(mistakes.is_empty(), "{}\n", mistakes.join("\n\n"));
}
