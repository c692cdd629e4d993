//! Every public trait has a custom error message (`#[diagnostic::on_unimplemented]`) for types that do not implement it.

use crate::sources::Source;

/// Traits that need no such message, each with the reason.
const EXCEPTED: [(&str, &str); 42] = [
    ("Describe", "only our own handles are asked for it, and each has it"),
    ("Check", "every handle has it, through `Describe`"),
    ("NeverImplemented", "no type has it: the traits that ask for it speak instead"),
    (
        "LiveParam",
        "a level of method look-up asks for it, and where it is missing the next one applies",
    ),
    ("Nobody", "no type has it: an impl that asks for it never applies"),
    ("FieldBound", "`Data`, which it asks for, speaks"),
    ("Borrows", "where it is missing, nothing is wrong"),
    ("Unlent", "where it is missing, nothing is wrong"),
    ("LiveLevel", LEVEL),
    ("ServerLevel", LEVEL),
    ("StrLevel", LEVEL),
    ("OptionalStrLevel", LEVEL),
    ("SliceLevel", LEVEL),
    ("SliceOptionLevel", LEVEL),
    ("SpreadLevel", LEVEL),
    ("ArgumentLevel", LEVEL),
    ("ParsedLevel", LEVEL),
    ("ParsedOptionLevel", LEVEL),
    ("ReadLevel", LEVEL),
    ("UnfitLevel", LEVEL),
    ("UnfitBorrowedLevel", LEVEL),
    ("UnfitStateLevel", LEVEL),
    ("UnfitReceiverLevel", LEVEL),
    ("FieldLevel", LEVEL),
    ("UnfitFieldLevel", LEVEL),
    ("OutputLevel", LEVEL),
    ("NoOutputLevel", LEVEL),
    ("MediaTypeLevel", LEVEL),
    ("NoMediaTypeLevel", LEVEL),
    ("UnknownOutput", CONSTANT),
    ("UnknownParam", CONSTANT),
    ("NotKnown", CONSTANT),
    ("NotSerialized", CONSTANT),
    ("ConfigValueLevel", LEVEL),
    ("UnfitConfigLevel", LEVEL),
    ("LazyArgumentLevel", LEVEL),
    ("LazyLevel", LEVEL),
    ("UnfitLazyLevel", LEVEL),
    ("Depth", DERIVED),
    ("Body", DERIVED),
    ("Described", DERIVED),
    ("Part", DERIVED),
];
const LEVEL: &str = "a level of method look-up: the last of its kind has no bounds, and what that one returns speaks";
const CONSTANT: &str = "the constant of every type that has no inherent one: it has no bounds";
const DERIVED: &str = "only `#[derive(Schema)]` asks for it, of what it has just implemented";

pub(crate) fn silent(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for (at, line) in source.lines.iter().enumerate() {
            let Some(rest) = line.trim_start().strip_prefix("pub trait ") else { continue };
            let name: String = rest
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            let is_excepted = EXCEPTED.iter().any(|exception| exception.0 == name);
            if !is_excepted && !speaks(&source.lines[..at]) {
                found.push(format!(
                    "{}:{}: `{name}` has no `#[diagnostic::on_unimplemented]`",
                    source.path,
                    at + 1
                ));
            }
        }
    }
    found
}

/// Whether the attributes at the end of these lines include `#[diagnostic::on_unimplemented]`.
fn speaks(before: &[String]) -> bool {
    let ends_an_item = |line: &&String| line.trim_end().ends_with(['}', ';', '{']);
    let attributes = before.iter().rev().take_while(|line| !ends_an_item(line));
    attributes.into_iter().any(|line| line.contains("#[diagnostic::on_unimplemented("))
}

/// Returns exceptions for traits that do not exist any more.
pub(crate) fn stale(sources: &[Source]) -> Vec<String> {
    let is_declared = |name: &str| {
        let declaration = format!("pub trait {name}");
        let mut lines = sources.iter().flat_map(|source| &source.lines);
        lines.any(|line| {
            let rest = line.trim_start().strip_prefix(&declaration);
            rest.is_some_and(|rest| rest.starts_with(|next: char| !next.is_alphanumeric()))
        })
    };
    let stale = EXCEPTED.iter().filter(|exception| !is_declared(exception.0));
    stale.map(|(name, reason)| format!("there is no `{name}`, excepted because {reason}")).collect()
}
