//! Notes for the user of a client about an entry.

use crate::{
    client_app::ClientApp,
    entry::{Launch, ServerEntry, Variable, VariableValue},
};

impl ServerEntry {
    /// Returns notes for the user about this entry in the file of a client. `text` is that of the file with the entry. Each note is a sentence,
    /// and contains no value of a variable.
    pub fn notes(&self, client: ClientApp, text: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let title = client.title();
        for place in self.expanded(client) {
            notes.push(match client {
                ClientApp::GeminiCli => format!(
                    "{title} replaces `$NAME` and `${{NAME}}` in {place} if its environment has the variable NAME: make sure that NAME is not set there"
                ),
                _ => format!(
                    "{title} replaces `${{…}}` in {place}, and has no escape for it: use a value without `${{…}}`"
                ),
            });
        }
        match client {
            ClientApp::GeminiCli if self.name.contains('_') => notes.push(format!(
                "the tool rules of {title} do not work if the name of the server contains `_`: use `--name {}`",
                self.name.replace('_', "-")
            )),
            ClientApp::VsCode if !self.questions(client, text).is_empty() => notes.push(
                "VS Code does not pass servers that ask for values on to the Copilot agent: that agent reads `mcpServers` in `~/.copilot/mcp-config.json`, which `plain` writes with `--file`".to_owned(),
            ),
            ClientApp::Windsurf => notes.push(
                "Windsurf has been called Devin since June 2026: newer versions read the file of the client `devin`".to_owned(),
            ),
            _ => {}
        }
        notes
    }

    /// Describes the texts of the entry that the client would change, because it replaces a part by a value of its own.
    fn expanded(&self, client: ClientApp) -> Vec<String> {
        match &self.launch {
            Launch::Http { url, headers } => {
                let url = client.expands(url).then(|| "the URL".to_owned());
                let headers = headers.iter().filter(|(_, text)| client.expands(text));
                let headers = headers.map(|(name, _)| format!("the header `{name}`"));
                url.into_iter().chain(headers).collect()
            }
            Launch::Process { command, args, env } => {
                let command = client.expands(command).then(|| "the path of the program".to_owned());
                let args = args.iter().filter(|arg| client.expands(arg));
                let env = env.iter().filter(|variable| client.expands(variable.literal(client)));
                let command =
                    command.into_iter().chain(args.map(|arg| format!("the argument `{arg}`")));
                command
                    .chain(env.map(|variable| format!("the value of `{}`", variable.name)))
                    .collect()
            }
        }
    }
}

impl Variable {
    /// Returns the text that the client has to take literally. It is empty if the client asks for the value.
    fn literal(&self, client: ClientApp) -> &str {
        match &self.value {
            VariableValue::Text(text) => text,
            VariableValue::Asked { .. } if client.asks() => "",
            VariableValue::Asked { otherwise, .. } => otherwise,
        }
    }
}

impl ClientApp {
    /// Whether the client may replace a part of this text.
    fn expands(self, text: &str) -> bool {
        let mut after_dollars = text.split('$').skip(1);
        let is_braced = |rest: &str| rest.starts_with('{') && rest.contains('}');
        match self {
            Self::ClaudeCode | Self::Cursor | Self::VsCode | Self::Windsurf => {
                after_dollars.any(is_braced)
            }
            Self::GeminiCli => after_dollars.any(|rest| {
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                is_braced(rest) || rest.starts_with(is_name)
            }),
            Self::ClaudeDesktop
            | Self::CodexCli
            | Self::Devin
            | Self::Goose
            | Self::Zed
            | Self::Plain => false,
        }
    }

    /// Returns the value of a variable as the file of the client has it. Gemini CLI expands each value like a line of a `.env` file, in
    /// which `\$` is a dollar sign.
    pub(crate) fn escaped(self, value: &str) -> String {
        match self {
            Self::GeminiCli => value.replace('$', "\\$"),
            _ => value.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
