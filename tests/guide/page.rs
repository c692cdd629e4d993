//! A page of the guide as a list of its code blocks.

use std::{collections::BTreeMap, fs, net::TcpListener, path::Path};

/// Page of the guide.
pub(crate) struct Page {
    /// File name without its extension, such as `01-first-server`.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
}

/// Code block of a page.
pub(crate) enum Block {
    /// Rust code. A block with `fn main` is a whole program. A comment in its first line may name its file, which is `src/main.rs`
    /// otherwise.
    Rust(String),
    /// Another file of the crate, such as a configuration. Its first line names it in a comment.
    File { path: String, text: String },
    /// Commands with the output that each of them prints.
    Console(Vec<Step>),
}

/// Command that a page shows, with its output.
pub(crate) struct Step {
    pub(crate) command: String,
    /// Method call that the reader takes out of the program for this command, such as `.setup(…)`.
    pub(crate) without: Option<String>,
    pub(crate) output: Vec<String>,
}

impl Page {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a page is text");
        let name = path.file_stem().expect("a page has a name").to_string_lossy().into_owned();
        let blocks = blocks(&text);
        Self { name, text, blocks }
    }

    /// Replaces the ports of the page's servers by free ones, so that several runs can follow the page at the same
    /// time.
    pub(crate) fn with_free_ports(self) -> Self {
        let mut listeners = BTreeMap::new();
        let mut text = self.text;
        for port in ports(&text) {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            let free = listener.local_addr().expect("it has an address").port();
            // The listener stays open until all ports are chosen, so that they differ.
            listeners.insert(port, (listener, free));
        }
        for (port, (_, free)) in &listeners {
            text = text.replace(port, &free.to_string());
        }
        Self { name: self.name, blocks: blocks(&text), text }
    }

    /// Returns the name of the page's module: `first_server` for `01-first-server`.
    pub(crate) fn module(&self) -> String {
        let name = self.name.trim_start_matches(|char: char| char.is_ascii_digit() || char == '-');
        name.replace('-', "_")
    }

    /// Returns the texts of all headings. Lines of code that begin with `# ` are not told apart from headings.
    pub(crate) fn headings(&self) -> impl Iterator<Item = &str> {
        let headings = self.text.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| line.trim_start_matches('#').trim_start())
    }

    /// Returns the commands of all console blocks.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(Block::steps).map(|step| step.command.as_str())
    }

    /// Returns the Rust blocks that are whole programs.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Rust(code) if is_program(code) => Some(code.as_str()),
            _ => None,
        })
    }
}

impl Block {
    /// Returns the commands of a console block. Other blocks have none.
    pub(crate) fn steps(&self) -> &[Step] {
        match self {
            Self::Console(steps) => steps,
            _ => &[],
        }
    }
}

/// Returns the anchor that rustdoc and GitHub make of a heading.
pub(crate) fn anchor(heading: &str) -> String {
    // Two backticks and a space surround code that contains backticks.
    let text = heading.strip_prefix("`` ").and_then(|text| text.strip_suffix(" ``"));
    let text = text.unwrap_or(heading).to_lowercase();
    let is_kept = |char: &char| char.is_alphanumeric() || ['-', '_', ' '].contains(char);
    text.chars().filter(is_kept).map(|char| if char == ' ' { '-' } else { char }).collect()
}

/// Whether Rust code is a whole program, and not a part of the program above it.
pub(crate) fn is_program(code: &str) -> bool {
    code.contains("fn main()")
}

/// Returns the ports of the servers that a page starts. All of them are between 18000 and 18999, and each page has its own.
fn ports(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !char.is_ascii_digit());
    let mut ports: Vec<String> =
        words.filter(|word| word.len() == 5 && word.starts_with("18")).map(str::to_owned).collect();
    ports.sort();
    ports.dedup();
    ports
}

/// Returns the code blocks of a Markdown text in their order. Blocks in languages other than Rust and `console` are files if their first
/// line is a comment with a path, and are left out otherwise.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let language = language.split(',').next().unwrap_or_default();
        match language {
            "rust" => blocks.push(Block::Rust(visible(&code))),
            "console" => blocks.push(Block::Console(steps(&code))),
            _ => blocks.extend(file(&code)),
        }
    }
    blocks
}

/// Returns the code that a reader sees: without the lines that rustdoc hides.
fn visible(code: &[&str]) -> String {
    let hidden = |line: &&&str| line.trim_start() == "#" || line.trim_start().starts_with("# ");
    code.iter().filter(|line| !hidden(line)).map(|line| format!("{line}\n")).collect()
}

fn file(code: &[&str]) -> Option<Block> {
    let (first, rest) = code.split_first()?;
    let path = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
    let is_path = path.contains('.') && !path.contains(' ');
    is_path.then(|| Block::File { path: path.to_owned(), text: rest.join("\n") + "\n" })
}

/// Splits a console block. A line with `$ ` begins a command, which goes on in the next line after a `\`.
fn steps(code: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    for line in code {
        if let Some(command) = line.strip_prefix("$ ") {
            // Two spaces and a `#` begin a remark for the reader.
            let (command, remark) = command.split_once("  #").unwrap_or((command, ""));
            let without = remark
                .trim()
                .strip_prefix("without `")
                .and_then(|call| call.split_once('('))
                .map(|(call, _)| format!("{call}("));
            steps.push(Step {
                command: command.trim_end().to_owned(),
                without,
                output: Vec::new(),
            });
        } else if let Some(step) = steps.last_mut() {
            if continues {
                step.command = format!("{}{line}", step.command.trim_end_matches('\\'));
            } else {
                step.output.push((*line).to_owned());
            }
        }
        continues = line.ends_with('\\') && steps.last().is_some_and(|step| step.output.is_empty());
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[support::test]
    fn ports_of_servers_are_found_and_replaced() {
        let text =
            "```console\n$ mine --http 18130 &\n$ curl http://127.0.0.1:18131/ 200018\n```\n";
        assert_eq!(ports(text), ["18130", "18131"]);
        let page = Page { name: String::new(), text: text.to_owned(), blocks: Vec::new() };
        let page = page.with_free_ports();
        assert!(!page.text.contains("18130") && page.text.contains(" 200018"), "{}", page.text);
        assert_eq!(page.commands().count(), 2);
    }
}
