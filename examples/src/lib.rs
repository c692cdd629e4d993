//! Real servers: run one with `cargo run --example NAME`.
