//! The command `check`, which finds problems that make clients reject or mishandle a server.

mod baseline;
mod descriptions;
mod finding;
mod names;
mod rules;
mod schemas;
mod size;
#[cfg(test)]
mod tests;

use std::path::Path;
#[cfg(feature = "contract")]
use std::{env, fs, io::ErrorKind};

use serde_json::{Value, json};

use self::{
    baseline::{AcceptedFindings, Baseline},
    finding::{CheckedServer, FindingGroup, Severity},
    rules::look,
    size::ListSizes,
};
use super::{
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
    option::CommandOption,
    trial::as_json,
};
use crate::builder::Builder;
#[cfg(feature = "contract")]
use crate::contract;

pub(super) const OPTIONS: &[CommandOption] = &[
    STRICT,
    #[cfg(feature = "contract")]
    AGAINST,
    BASELINE,
    WRITE_BASELINE,
];

const STRICT: CommandOption =
    CommandOption::flag("--strict", "fails if there is any finding that is not accepted");

#[cfg(feature = "contract")]
const AGAINST: CommandOption =
    CommandOption::valued("--against", "FILE", "compares the server with this lock file instead");

const BASELINE: CommandOption =
    CommandOption::valued("--baseline", "FILE", "leaves out the findings that this file accepts");

const WRITE_BASELINE: CommandOption = CommandOption::valued(
    "--write-baseline",
    "FILE",
    "accepts all findings, and lists them in this file",
);

pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(move |_| {
        Box::pin(async move {
            let mut printed = output(builder, &given).await?;
            if !given.json {
                printed.text = given.screen.findings(printed.text);
            }
            Ok(printed)
        })
    }))
}

async fn output(builder: Builder, given: &CommandWords) -> Result<CommandOutput, CommandError> {
    let (strict, json) = (given.options.has(&STRICT), given.json);
    let mut files = OPTIONS.iter().filter(|option| **option != STRICT && given.options.has(option));
    if let (Some(first), Some(second)) = (files.next(), files.next()) {
        return Err(CommandError::usage(format!(
            "`{}` and `{}` cannot be used together: run `check` twice",
            first.name, second.name
        )));
    }
    let file = |option| given.options.all(option).next().map(Path::new);
    #[cfg(feature = "contract")]
    if let Some(file) = file(&AGAINST) {
        return compare(builder, file, strict, json);
    }
    let baseline = file(&BASELINE).map(Baseline::read).transpose()?;
    let published = CheckedServer::of(builder).await?;
    let mut groups = look(&published);
    if let Some(file) = file(&WRITE_BASELINE) {
        let shown = file.display().to_string();
        if let Some(problem) = &published.incomplete {
            return Err(CommandError::failure(format!(
                "{shown} is not written, because `setup` failed, so that items are missing: {problem}"
            )));
        }
        let count = Baseline::write(file, &groups)?;
        return Ok(match json {
            true => as_json(&json!({ "file": shown, "accepted": count })).into(),
            false => format!("{shown} accepts {}\n", counted(count, "finding")).into(),
        });
    }
    let accepted = baseline.map(|baseline| baseline.accept(&mut groups));
    let text = match json {
        true => as_json(&report_as_json(&published, &groups, accepted.as_ref())),
        false => report(&published, &groups, accepted.as_ref()),
    };
    let count: usize = groups.iter().map(|group| group.findings.len()).sum();
    let end = match count {
        0 if published.incomplete.is_none() => Ok(()),
        _ if !strict => Ok(()),
        0 => Err(CommandError::failure("not everything was checked, and `--strict` requires that")),
        1 => Err(CommandError::failure("1 finding, and `--strict` allows none")),
        _ => Err(CommandError::failure(format!("{count} findings, and `--strict` allows none"))),
    };
    Ok(CommandOutput { end, ..text.into() })
}

/// Compares the server with the lock file. Fails if a change breaks clients; with `strict` it fails for every difference.
#[cfg(feature = "contract")]
fn compare(
    builder: Builder,
    file: &Path,
    strict: bool,
    json: bool,
) -> Result<CommandOutput, CommandError> {
    let server = builder.build().map_err(CommandError::failure)?;
    let published = contract::published(&server.identity, &server.catalog.snapshot());
    let shown = file.display();
    let lock = fs::read(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => CommandError::failure(format!(
            "{shown} does not exist: create it with `{}`, then commit it",
            regenerate(file)
        )),
        _ => CommandError::failure(format!("{shown} cannot be read: {error}")),
    })?;
    let report = published.against(&lock).map_err(|problem| {
        CommandError::failure(format!(
            "{shown}: {problem}\nwrite it again with `{}`",
            regenerate(file)
        ))
    })?;
    let text = match json {
        true => as_json(&report.json()),
        false => report.text(&shown.to_string(), &regenerate(file)),
    };
    let end = if report.breaks() {
        Err(CommandError::failure(format!("the server breaks the contract in {shown}")))
    } else if strict && !report.is_empty() {
        Err(CommandError::failure(format!(
            "{shown} is out of date, and `--strict` requires it to match the server"
        )))
    } else {
        Ok(())
    };
    Ok(CommandOutput { end, ..text.into() })
}

/// Returns the command that writes the lock file, with the program name of this invocation.
#[cfg(feature = "contract")]
fn regenerate(file: &Path) -> String {
    let program = env::args_os().next().unwrap_or_default();
    format!("{} schema > {}", quoted(Path::new(&program)), quoted(file))
}

/// Returns a path for a command line, with quotes if it contains characters that a shell may interpret.
#[cfg(feature = "contract")]
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |char: char| {
        char.is_alphanumeric() || "/.:_-+".contains(char) || cfg!(windows) && char == '\\'
    };
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else if cfg!(windows) {
        // A path contains no quotation marks there.
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns the text that `check` prints.
fn report(
    published: &CheckedServer,
    groups: &[FindingGroup],
    accepted: Option<&AcceptedFindings>,
) -> String {
    let mut page = String::new();
    for group in groups {
        page.push_str(&group.title);
        page.push('\n');
        for finding in &group.findings {
            let severity = finding.severity.name();
            page.push_str(&format!("  {severity} ({}): {}\n", finding.rule, finding.problem.what));
            page.push_str(&format!("    fix: {}\n", finding.problem.fix));
            // Three issue threads are enough in the output. The table `RULES` lists all of them.
            let because = finding.because.iter().take(3).copied().collect::<Vec<_>>();
            page.push_str(&format!("    why: {}\n", because.join(", ")));
        }
        page.push('\n');
    }
    if let Some(problem) = &published.incomplete {
        page.push_str(&format!(
            "not everything was checked, because `setup` failed: {problem}\n\n"
        ));
    }
    if let Some(accepted) = accepted {
        page.push_str(&accepted.report(published.incomplete.is_none(), groups.is_empty()));
    }
    let size = ListSizes::of(published);
    page.push_str(&format!("{}: {}", published.identity.name, counts(published)));
    page.push_str(&format!(
        ", {} bytes of lists; the tools take up about {} tokens of a conversation (3.5 bytes each){}. ",
        size.manifest,
        size.tokens(),
        biggest(&size),
    ));
    page.push_str(&verdict(groups, accepted.is_some_and(AcceptedFindings::is_any)));
    page.push('\n');
    page
}

/// Returns the JSON that `check --json` prints.
fn report_as_json(
    published: &CheckedServer,
    groups: &[FindingGroup],
    accepted: Option<&AcceptedFindings>,
) -> Value {
    let findings = groups.iter().flat_map(|group| {
        group.findings.iter().map(|finding| {
            json!({
                "subject": group.title,
                "severity": finding.severity.name(),
                "rule": finding.rule,
                "problem": finding.problem.what,
                "fix": finding.problem.fix,
                "because": finding.because,
            })
        })
    });
    let size = ListSizes::of(published);
    let mut report = json!({
        "findings": findings.collect::<Vec<_>>(),
        "setupError": published.incomplete,
        "bytes": size.manifest,
        "toolTokens": size.tokens(),
    });
    if let Some(accepted) = accepted {
        report["baseline"] = accepted.json();
    }
    report
}

/// Returns the number of items of each kind: `2 tools, 1 prompt`.
fn counts(published: &CheckedServer) -> String {
    let everything = &published.everything;
    let lists = [
        (everything.tools.len(), "tool"),
        (everything.resources.len(), "resource"),
        (everything.templates.len(), "template"),
        (everything.prompts.len(), "prompt"),
    ];
    let counts: Vec<String> = lists
        .into_iter()
        .filter(|list| list.0 > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the three largest tools, or an empty string if there are fewer than two tools.
fn biggest(size: &ListSizes) -> String {
    if size.tools.len() < 2 {
        return String::new();
    }
    let biggest = size.tools.iter().take(3).map(|(name, bytes)| format!("`{name}` {bytes}"));
    format!(", the largest are {} bytes", biggest.collect::<Vec<_>>().join(", "))
}

fn verdict(groups: &[FindingGroup], any_accepted: bool) -> String {
    let all = || groups.iter().flat_map(|group| &group.findings);
    let errors = all().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = all().count() - errors;
    match (errors, warnings) {
        (0, 0) if any_accepted => "No further finding.".to_owned(),
        (0, 0) => "No known client has a problem with any of it.".to_owned(),
        (0, _) => format!("{}.", counted(warnings, "warning")),
        (_, 0) => format!("{}.", counted(errors, "error")),
        _ => format!("{}, {}.", counted(errors, "error"), counted(warnings, "warning")),
    }
}
