//! `check`: finds what clients reject or handle badly, before their users run into it.

mod fields;
mod names;
mod report;
mod reserved;
mod rules;
mod schemas;
mod size;
mod tasks;
#[cfg(test)]
mod tests;
mod texts;
mod undocumented;

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use self::rules::{Look, RULES, Rule, Severity};
use super::{Printed, Stop, member, show::Everything};
use crate::{
    builder::Builder,
    catalog::{Entry, Snapshot},
    model::ListKind,
    server::Identity,
    testing::Client,
};

/// Options of the `check` command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Whether every finding is a failure.
    strict: bool,
    /// Manifest to compare with.
    against: Option<PathBuf>,
}

impl Options {
    pub(super) fn read(given: &[String]) -> Result<Self, Stop> {
        let mut options = Self::default();
        let mut parser = lexopt::Parser::from_args(given);
        while let Some(argument) = parser.next().map_err(|error| Stop::usage(error.to_string()))? {
            match argument {
                lexopt::Arg::Long("strict") => options.strict = true,
                lexopt::Arg::Long("against") => {
                    let file = parser
                        .value()
                        .map_err(|_| Stop::usage("`--against` needs a file; see `help`"))?;
                    options.against = Some(file.into());
                }
                other => {
                    let other = super::named(&other);
                    return Err(Stop::usage(format!(
                        "`check` takes `--strict` and `--against FILE`, not `{other}`; see `help`"
                    )));
                }
            }
        }
        Ok(options)
    }
}

/// Lists that the server publishes, and the catalog entries behind them, which know their source lines.
pub(super) struct Published {
    pub(super) identity: Identity,
    pub(super) everything: Everything,
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// Error of `setup`, if it failed. The items that it adds are missing then.
    pub(super) incomplete: Option<String>,
}

impl Published {
    async fn of(builder: Builder) -> Result<Self, Stop> {
        let identity = builder.identity.clone();
        let (mut client, incomplete) = Client::looking(builder).await.map_err(Stop::failure)?;
        client.wait_without_end();
        let everything = Everything::ask(&mut client).await.map_err(Stop::failure)?;
        let snapshot = Some(client.snapshot());
        client.close().await;
        Ok(Self { identity, everything, snapshot, incomplete })
    }

    /// Returns all listed items, in the order of the lists.
    fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let lists = [
            (ListKind::Tools, "tool", "name", &self.everything.tools),
            (ListKind::Resources, "resource", "uri", &self.everything.resources),
            (ListKind::Templates, "template", "uriTemplate", &self.everything.templates),
            (ListKind::Prompts, "prompt", "name", &self.everything.prompts),
        ];
        lists.into_iter().flat_map(move |(list, kind, key, values)| {
            values.iter().map(move |value| {
                let key = member(value, key);
                let entry = self.snapshot.as_ref().and_then(|it| it.find(list, key));
                Item { kind, key, value, entry: entry.map(|it| &**it), server: &self.identity.name }
            })
        })
    }
}

/// An item as it is published.
struct Item<'a> {
    kind: &'static str,
    key: &'a str,
    value: &'a Value,
    entry: Option<&'a Entry>,
    /// The server's name.
    server: &'a str,
}

impl Item<'_> {
    /// Returns the heading of the item's findings: its kind, its key and its place in the source.
    fn title(&self) -> String {
        let place = self.entry.map(|it| format!(", {}", it.place())).unwrap_or_default();
        format!("{} `{}`{place}", self.kind, self.key)
    }

    /// Whether the item was added while the server runs, as a `Tool` or `Prompt` and not with an attribute.
    fn is_added(&self) -> bool {
        self.entry.is_some_and(|it| it.origin.is_none())
    }

    /// The names and schemas of a tool's arguments.
    fn arguments(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.value["inputSchema"]["properties"].as_object();
        properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }
}

/// Problem that a rule has found, and its fix.
struct Problem {
    /// Description of the problem, in terms that the author of the server uses.
    what: String,
    fix: String,
}

impl Problem {
    fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// Problem together with the rule that found it.
struct Finding {
    rule: &'static str,
    severity: Severity,
    problem: Problem,
    /// Public threads that show the problem.
    because: &'static [&'static str],
}

/// Findings about one item, or about the server as a whole.
struct Group {
    title: String,
    findings: Vec<Finding>,
}

/// Returns all findings, grouped by item. The first group is about the server as a whole.
fn look(published: &Published) -> Vec<Group> {
    let mut server = Vec::new();
    for rule in RULES {
        if let Look::Server(find) = rule.look {
            server.extend(find(published).into_iter().map(|it| rule.finding(it)));
        }
    }
    let title = format!("server `{}`", published.identity.name);
    let mut groups = vec![Group { title, findings: server }];
    for item in published.items() {
        let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule.about(&item)).collect();
        // The sort is stable: findings of one severity stay in the order of the table.
        findings.sort_by_key(|it| it.severity);
        groups.push(Group { title: item.title(), findings });
    }
    groups.retain(|it| !it.findings.is_empty());
    groups
}

impl Rule {
    fn finding(&self, problem: Problem) -> Finding {
        Finding { rule: self.name, severity: self.severity, problem, because: self.because }
    }

    fn about(&self, item: &Item<'_>) -> Vec<Finding> {
        match self.look {
            Look::Item(kinds, find) if kinds.contains(&item.kind) => {
                find(item).into_iter().map(|it| self.finding(it)).collect()
            }
            Look::Schemas if item.kind == "tool" => schemas::findings(item),
            _ => Vec::new(),
        }
    }
}

pub(super) async fn run(builder: Builder, options: &Options) -> Result<Printed, Stop> {
    if let Some(file) = &options.against {
        return super::against::run(builder, file, options.strict);
    }
    let published = Published::of(builder).await?;
    let groups = look(&published);
    let text = report::report(&published, &groups);
    let count: usize = groups.iter().map(|it| it.findings.len()).sum();
    let end = match count {
        0 if published.incomplete.is_none() => Ok(()),
        _ if !options.strict => Ok(()),
        0 => Err(Stop::failure("not everything was looked at, and `--strict` wants that")),
        1 => Err(Stop::failure("1 finding, and `--strict` allows none")),
        _ => Err(Stop::failure(format!("{count} findings, and `--strict` allows none"))),
    };
    Ok(Printed { end, ..text.into() })
}
