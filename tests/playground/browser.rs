//! Scenarios of a user in front of the page, in Chromium. `scenarios/NAME.mjs` has the steps of each.

use std::path::{Path, PathBuf};

use support::{
    examples::example,
    process::HttpServer,
    requirement::{Missing, needs, output_of},
    server::PASSWORDS,
};

use crate::sources::installed;

/// Runs a scenario with the URL of the page.
fn run(scenario: &str, page: &str) -> Result<(), Missing> {
    let node = installed()?;
    output_of(std::process::Command::new("chromium").arg("--version"))?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("playground/run.mjs");
    let mut command = node.run(script);
    command.args([scenario, page]).arg(&node.folder);
    if let Err(why) = output_of(&mut command) {
        panic!("{scenario}: {why}");
    }
    Ok(())
}

/// Runs a scenario with a server of its own.
fn with_server(program: &Path, scenario: &str) {
    with_environment(program, scenario, &[]);
}

/// Runs a scenario with a server of its own, which has these variables in its environment.
fn with_environment(program: &Path, scenario: &str, variables: &[(&str, PathBuf)]) {
    let server = HttpServer::start(program, &["--playground"], variables);
    let page = server.url.replace("/mcp", "/playground");
    needs(run(scenario, &page));
}

fn fixture(scenario: &str) {
    with_server(Path::new(env!("CARGO_BIN_EXE_playground-fixture")), scenario);
}

fn everything(scenario: &str) {
    with_server(example("everything"), scenario);
}

#[support::test]
fn the_list_shows_all_items_and_a_search_narrows_it() {
    everything("list");
}

#[support::test]
fn a_form_has_a_field_for_each_kind_of_value_and_checks_it_while_typing() {
    fixture("form");
}

#[support::test]
fn a_form_fits_the_schemas_of_other_servers() {
    fixture("schemas");
}

#[support::test]
fn suggestions_come_while_typing_and_know_the_other_arguments() {
    fixture("completion");
}

#[support::test]
fn texts_pictures_sounds_and_resources_are_shown() {
    everything("content");
}

#[support::test]
fn structured_content_is_a_table_or_a_tree_and_is_compared_with_its_schema() {
    fixture("structured");
}

#[support::test]
fn whole_numbers_above_2_to_the_53_keep_their_digits() {
    fixture("numbers");
}

#[support::test]
fn a_result_of_many_levels_is_shown_and_the_page_goes_on() {
    fixture("deep");
}

#[support::test]
fn an_error_says_what_to_do() {
    everything("errors");
}

#[support::test]
fn the_refusal_of_an_http_request_shows_its_status_and_what_to_do() {
    fixture("refusals");
}

#[support::test]
fn a_call_ends_with_its_connection_and_the_page_listens_again() {
    everything("lost");
}

#[support::test]
fn a_running_call_shows_progress_and_log_lines_and_can_be_cancelled() {
    fixture("live");
}

#[support::test]
fn the_user_answers_forms_models_and_roots_in_both_eras() {
    everything("questions");
}

#[support::test]
fn the_user_decides_about_a_page_of_another_site() {
    fixture("pages");
}

#[support::test]
fn updates_of_a_subscribed_resource_are_counted() {
    everything("subscriptions");
}

#[support::test]
fn items_that_are_added_appear_in_the_list() {
    fixture("changes");
}

#[support::test]
fn a_task_shows_its_status_asks_and_can_be_cancelled_in_both_dialects() {
    everything("tasks");
}

#[support::test]
fn a_call_works_in_each_revision() {
    everything("revisions");
}

#[support::test]
fn the_wire_is_filtered_and_copied_as_a_transcript_and_as_a_command() {
    everything("wire");
}

#[support::test]
fn earlier_calls_and_links_bring_a_form_back() {
    everything("history");
}

#[support::test]
fn the_page_keeps_no_secret_and_no_result_of_another_revision() {
    fixture("state");
}

#[support::test]
fn a_user_books_a_table_and_follows_the_booking() {
    with_server(example("book"), "book");
}

#[support::test]
fn a_call_needs_no_mouse() {
    everything("keyboard");
}

#[support::test]
fn each_view_is_accessible_in_light_and_dark_and_fits_a_narrow_screen() {
    fixture("looks");
}

#[support::test]
fn the_page_loads_nothing_from_other_hosts_and_its_policy_holds() {
    fixture("policy");
}

#[support::test]
fn the_view_of_a_tool_is_shown_and_talks_to_the_page() {
    fixture("views");
}

#[support::test]
fn a_view_reaches_only_the_hosts_that_it_declares_and_nothing_of_the_page() {
    fixture("view_sandbox");
}

#[support::test]
fn the_page_lists_the_calls_of_a_view_and_asks_before_a_call_that_may_change_something() {
    fixture("view_calls");
}

#[support::test]
fn a_view_ends_with_its_connection() {
    fixture("view_connection");
}

#[support::test]
fn a_view_that_does_not_begin_shows_what_to_check() {
    fixture("view_silent");
}

#[support::test]
fn a_view_may_use_the_official_library() {
    let program = Path::new(env!("CARGO_BIN_EXE_playground-fixture"));
    let node = needs(installed());
    let bundler = Path::new(env!("CARGO_MANIFEST_DIR")).join("playground/library_view.mjs");
    let view = node.folder.join("library_view.html");
    output_of(node.run(bundler).arg(&node.folder).arg(&view)).expect("the view is bundled");
    with_environment(program, "view_library", &[("FIXTURE_VIEW", view)]);
}

#[support::test]
fn the_user_logs_in_before_anything_of_the_server_is_shown() {
    let passwords = PASSWORDS.map(|(user, password)| {
        (if user == "ada" { "NOTES_ADA" } else { "NOTES_BOB" }, password.into())
    });
    with_environment(example("notes"), "login", &passwords);
}

#[support::test]
fn the_user_enters_a_token_where_there_is_no_authorization_server() {
    let program = Path::new(env!("CARGO_BIN_EXE_playground-fixture"));
    with_environment(program, "token", &[("FIXTURE_TOKEN", "secret".into())]);
}
