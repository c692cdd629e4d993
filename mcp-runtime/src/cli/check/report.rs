//! Text that `check` prints.

use super::{Group, Published, Severity, size::Size};

pub(super) fn report(published: &Published, groups: &[Group]) -> String {
    let mut page = String::new();
    for group in groups {
        page.push_str(&group.title);
        page.push('\n');
        for finding in &group.findings {
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            page.push_str(&format!("  {severity} ({}): {}\n", finding.rule, finding.problem.what));
            page.push_str(&format!("    fix: {}\n", finding.problem.fix));
            // The table of rules lists all threads; three are enough here.
            let because = finding.because.iter().take(3).copied().collect::<Vec<_>>();
            page.push_str(&format!("    why: {}\n", because.join(", ")));
        }
        page.push('\n');
    }
    if let Some(problem) = &published.incomplete {
        page.push_str(&format!(
            "not everything was looked at, because `setup` failed: {problem}\n\n"
        ));
    }
    let size = Size::of(published);
    page.push_str(&format!("{}: {}", published.identity.name, counts(published)));
    page.push_str(&format!(
        ", {} bytes of lists; the tools take about {} tokens of a conversation (3.5 bytes each){}. ",
        size.manifest,
        size.tokens(),
        biggest(&size),
    ));
    page.push_str(&verdict(groups));
    page.push('\n');
    page
}

/// Returns the number of items of each kind: `2 tools, 1 prompt`.
fn counts(published: &Published) -> String {
    let everything = &published.everything;
    let lists = [
        (everything.tools.len(), "tool"),
        (everything.resources.len(), "resource"),
        (everything.templates.len(), "template"),
        (everything.prompts.len(), "prompt"),
    ];
    let counts: Vec<String> =
        lists.into_iter().filter(|it| it.0 > 0).map(|(count, noun)| counted(count, noun)).collect();
    if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the three largest tools, or an empty string if there are fewer than two tools.
fn biggest(size: &Size) -> String {
    if size.tools.len() < 2 {
        return String::new();
    }
    let biggest = size.tools.iter().take(3).map(|(name, bytes)| format!("`{name}` {bytes}"));
    format!(", the biggest being {} bytes", biggest.collect::<Vec<_>>().join(", "))
}

fn verdict(groups: &[Group]) -> String {
    let all = || groups.iter().flat_map(|it| &it.findings);
    let errors = all().filter(|it| it.severity == Severity::Error).count();
    let warnings = all().count() - errors;
    match (errors, warnings) {
        (0, 0) => "No client is known to mind any of it.".to_owned(),
        (0, _) => format!("{}.", counted(warnings, "warning")),
        (_, 0) => format!("{}.", counted(errors, "error")),
        _ => format!("{}, {}.", counted(errors, "error"), counted(warnings, "warning")),
    }
}
