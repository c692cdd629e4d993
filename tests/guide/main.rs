//! The pages of the guide, the READMEs and SKILL.md, followed as a reader follows them: a new crate, the commands of the page, its program,
//! and the output that it shows.
//!
//! While you write a page, set `GUIDE_PAGE` to the name of its module, so that only this page is followed. The names of the other pages are
//! in [`outside::PAGES`].

mod migration;
mod outside;
mod page;
mod session;
mod strict;
mod troubleshooting;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use page::Page;
use session::Session;
use support::requirement::{needs, output_of};

fn main() -> std::process::ExitCode {
    support::harness::run()
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp-runtime/docs/guide"))
}

fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the guide is there")
        .map(|entry| entry.expect("the guide can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Page::read(path)).collect()
}

#[support::test]
fn every_page_does_what_it_shows() {
    // Some pages call a server with curl, and all commands are those of a POSIX shell.
    for tool in ["sh -c true", "curl --version", "openssl version"] {
        let mut words = tool.split(' ');
        let mut command = Command::new(words.next().expect("a program"));
        needs(output_of(command.args(words)));
    }
    let mut failures = Vec::new();
    let mut commands = 0;
    let chosen = env::var("GUIDE_PAGE").ok();
    let is_chosen = |name: &str| chosen.as_ref().is_none_or(|chosen| name == chosen);
    let mut count = |page: &str, result: Result<usize, String>| match result {
        Ok(count) => commands += count,
        Err(problem) => failures.push(format!("{page}: {problem}")),
    };
    for page in pages().into_iter().filter(|page| is_chosen(&page.module())) {
        let page = page.with_free_ports();
        let mut session = Session::start(&page.name);
        let followed = session.follow(&page);
        let checked =
            followed.and_then(|count| strict::check_first_program(&session, &page).map(|()| count));
        count(&page.name, checked);
    }
    for (path, name) in outside::PAGES.into_iter().filter(|(_, name)| is_chosen(name)) {
        count(path, outside::follow(path, name));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let least = if chosen.is_some() { 1 } else { 20 };
    assert!(commands >= least, "only {commands} commands were run");
}

#[support::test]
fn every_page_is_in_the_index_and_begins_with_a_program() {
    let pages = pages();
    let index = pages.iter().find(|page| page.name == "README").expect("an index");
    for page in pages.iter().filter(|page| page.name != "README") {
        let module = page.module();
        assert!(index.text.contains(&format!("| [{module}] | ")), "{module} is not listed");
        let definition = format!("\n[{module}]: {}.md\n", page.name);
        assert!(index.text.contains(&definition), "{module} has no link to its file");
        let start = "Create a crate with `cargo new mine`, and add its dependencies";
        assert!(page.text.contains(start), "{} does not say: {start}", page.name);
        let adds = page.commands().any(|command| command.starts_with("cargo add mcp-runtime"));
        assert!(adds, "{} has no `cargo add` line", page.name);
        assert!(page.programs().next().is_some(), "{} has no program", page.name);
    }
}

#[support::test]
fn every_link_to_a_heading_has_its_heading() {
    assert_eq!(page::anchor("`` the `…` took longer than … ``"), "the--took-longer-than-");
    for page in pages() {
        let headings: Vec<String> = page.headings().map(page::anchor).collect();
        for link in page.text.split("](#").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            assert!(headings.iter().any(|heading| heading == link), "{}: #{link}", page.name);
        }
    }
}

#[support::test]
fn every_heading_is_an_error_of_the_sources() {
    let pages = pages();
    let page = pages.iter().find(|page| page.module() == "troubleshooting").expect("the page");
    let problems = troubleshooting::problems(&page.text);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The program of the crate's README.md is a doctest.
#[support::test]
fn the_readme_begins_with_the_program_of_the_crate() {
    let program = |path: &str| outside::read(path).programs().next().expect("a program").to_owned();
    assert_eq!(program("README.md"), program("mcp-runtime/README.md"));
}

/// `llms.txt` and `llms-full.txt` are made from the pages and from the documentation of the attributes.
#[support::test]
fn the_files_for_machines_are_up_to_date() {
    needs(output_of(Command::new("python3").arg("--version")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let check = Command::new("python3")
        .args(["docs/llms.py", "--check"])
        .current_dir(root)
        .output()
        .expect("the script starts");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
