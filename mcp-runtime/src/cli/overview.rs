//! Help and version of a server as JSON.

use serde_json::{Value, json};

use super::{command::Command, trial::as_json};
use crate::server::Identity;

/// Returns the name of the server, its commands, the options of every server, and the options of the author.
pub(super) fn help(
    identity: &Identity,
    commands: &[Command],
    options: &[(&str, &str)],
    own: Vec<(String, Vec<(String, String)>)>,
) -> String {
    let line = |usage: &str, about: &str| json!({ "usage": usage, "about": about });
    let commands = commands.iter().map(|command| line(command.usage, command.about));
    let options = options.iter().map(|(usage, about)| line(usage, about));
    let own =
        own.into_iter().flat_map(|(_, lines)| lines).map(|(usage, about)| line(&usage, &about));
    let own: Vec<Value> = own.collect();
    as_json(&json!({
        "name": identity.name,
        "version": identity.version,
        "description": identity.description,
        "commands": commands.collect::<Vec<_>>(),
        "options": options.collect::<Vec<_>>(),
        "settings": own,
    }))
}

pub(super) fn version(identity: &Identity) -> String {
    as_json(&json!({ "name": identity.name, "version": identity.version }))
}
