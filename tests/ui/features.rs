//! Errors about features that are off.
//!
//! The features of a package are the same for all of its programs, and those of this one are on. So the programs in `features/`, which have no
//! twins, are built here as a package of their own with the default features only. `fixed` builds them once more with all.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The programs. The first line of each names the feature that it lacks: `// auth`.
pub(crate) fn programs() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("ui/features").expect("the folder is there");
    let mut programs: Vec<_> = entries.map(|it| it.expect("an entry").path()).collect();
    programs.sort();
    programs.into_iter()
}

fn name(program: &Path) -> String {
    program.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// Builds the programs with the default features, and returns cargo's messages.
fn built() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("features");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = tests.join("../mcp-runtime");
    let mut manifest = format!(
        "[package]\nname = \"features\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nmcp-runtime = {{ path = {runtime:?} }}\n"
    );
    for program in programs() {
        let path = tests.join(&program);
        manifest.push_str(&format!("\n[[bin]]\nname = {:?}\npath = {path:?}\n", name(&program)));
    }
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    fs::write(folder.join("Cargo.toml"), manifest).expect("the folder for tests can be written");
    fs::copy(tests.join("../Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the workspace is locked");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--keep-going", "--message-format=json", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(".."))
        .current_dir(&folder)
        .output()
        .expect("cargo starts");
    let messages = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    messages.lines().filter_map(|it| serde_json::from_str(it).ok()).collect()
}

#[test]
fn a_feature_that_is_off_is_named_with_the_command_that_turns_it_on() {
    if let Err(missing) = crate::compiler() {
        return missing.skip();
    }
    let messages = built();
    let mut count = 0;
    for program in programs() {
        let source = fs::read_to_string(&program).expect("the program is there");
        let feature = source.lines().next().and_then(|it| it.strip_prefix("// "));
        let feature = feature.expect("the first line names the feature");
        let name = name(&program);
        let own = messages.iter().filter(|it| it["target"]["name"] == *name);
        let errors: Vec<&Value> = own
            .map(|it| &it["message"])
            .filter(|it| {
                it["level"] == "error" && it["spans"].as_array().is_some_and(|it| !it.is_empty())
            })
            .collect();
        let rendered: String =
            errors.iter().filter_map(|it| it["rendered"].as_str()).collect::<Vec<_>>().join("\n");
        assert_eq!(errors.len(), 1, "{name}:\n{rendered}");
        let spans = errors[0]["spans"].as_array().expect("an error has places");
        let place = spans.iter().find(|it| it["is_primary"] == true).expect("a place");
        let line = source.lines().position(|it| it.ends_with("// mistake")).expect("a mark") + 1;
        assert_eq!(place["line_start"], line, "{name}:\n{rendered}");
        // The stand-in of a method has the first wording, rustc's note about a type the second.
        let named = [format!("the feature `{feature}`"), format!("the `{feature}` feature")];
        assert!(named.iter().any(|it| rendered.contains(it)), "{name}:\n{rendered}");
        let command = format!("cargo add mcp-runtime --features {feature}");
        assert!(
            rendered.lines().any(|it| it.trim_end().trim_end_matches('`').ends_with(&command)),
            "{name}:\n{rendered}"
        );
        count += 1;
    }
    assert!(count >= 12, "only {count} programs");
}
