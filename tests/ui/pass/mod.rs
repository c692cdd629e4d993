//! All kinds of legal programs, compiled under the strictest lints and built into a server.

mod aliases;
mod config;
mod configured;
mod data_types;
mod documented;
mod expressions;
mod form_types;
mod macro_rules;
mod methods;
mod names;
mod namespaces;
mod nested;
mod renamed_crate;
mod results;
mod shadowed_names;
mod spread;
mod state;

use std::path::PathBuf;

use serde_json::Value;

use crate::cargo;

/// The items of these modules are in no group, so one server serves them all.
#[support::test]
fn everything_legal_makes_a_server() {
    let server = mcp_runtime::server!()
        .state(state::Db)
        .state(methods::Notes::default())
        .state(renamed_crate::Renamed);
    if let Err(error) = server.build() {
        panic!("{error}");
    }
    assert_eq!(nested::outer(), "1");
    expressions::main();
}

/// The tests enable the feature `full` of syn, but a first server does not.
#[support::test]
fn expressions_need_no_feature_of_syn() {
    let program = PathBuf::from("ui/pass/expressions.rs");
    let binaries = cargo::alone([program.clone()].into_iter());
    let messages = cargo::built("expressions", &cargo::runtime(&["auth"]), binaries);
    assert_eq!(cargo::errors(&messages, &program), Vec::<&Value>::new());
    let is_built = |message: &Value| message["target"]["name"] == *cargo::name(&program);
    assert!(messages.iter().any(is_built), "the program was not compiled: {messages:?}");
}

#[support::test]
fn items_are_found_through_another_name_of_the_crate() {
    let server = mcp_runtime::server!().state(renamed_crate::Renamed).items(renamed_crate::all());
    if let Err(error) = server.build() {
        panic!("{error}");
    }
}
