//! All kinds of legal programs, compiled under the strictest lints and built into a server.

mod aliases;
mod configured;
mod data_types;
mod documented;
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

/// The items of these modules are in no group, so one server serves them all.
#[test]
fn everything_legal_makes_a_server() {
    let server = mcp_runtime::server!()
        .state(state::Db)
        .state(methods::Notes::default())
        .state(renamed_crate::Renamed);
    if let Err(error) = server.build() {
        panic!("{error}");
    }
    assert_eq!(nested::outer(), "1");
}

#[test]
fn items_are_found_through_another_name_of_the_crate() {
    let server = mcp_runtime::server!().state(renamed_crate::Renamed).items(renamed_crate::all());
    if let Err(error) = server.build() {
        panic!("{error}");
    }
}
