//! Shells that complete the command line of a server: their scripts, and the form in which they take suggestions.

/// Shell that completes words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shell {
    /// bash, from version 3.2.
    Bash,
    /// zsh.
    Zsh,
    /// fish, from version 3.
    Fish,
    /// PowerShell, from version 5.
    PowerShell,
}

/// Word that a shell may put at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suggestion {
    /// Whole word.
    pub word: String,
    /// Description, which may be empty.
    pub about: String,
    /// Whether the person continues this word, as after `NAME=`. The shell then adds no space.
    pub is_open: bool,
}

impl Suggestion {
    /// Creates a suggestion for a finished word. It keeps only the first line of the description.
    pub fn new(word: impl Into<String>, about: &str) -> Self {
        Self { word: word.into(), about: first_line(about), is_open: false }
    }

    /// Creates a suggestion for the beginning of a word.
    pub fn open(word: impl Into<String>, about: &str) -> Self {
        Self { is_open: true, ..Self::new(word, about) }
    }
}

impl Shell {
    /// All shells, in the order in which commands list them.
    pub const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::PowerShell];

    /// Returns the name of the shell on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::PowerShell => "powershell",
        }
    }

    /// Returns the shell with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shell| shell.name() == name)
    }

    /// Returns the script that a person loads into the shell. The shell uses it for the program of this name, also if the person types
    /// a path. For suggestions, the script runs the program that the person has typed, with `completions SHELL --` and the words up to the cursor.
    ///
    /// ```
    /// let script = mcp_runtime_workbench::Shell::Fish.script("my-server");
    /// assert!(script.contains("\ncomplete -c my-server -f -k -a '(_my_server)'\n"));
    /// ```
    pub fn script(self, program: &str) -> String {
        let text = match self {
            Self::Bash => include_str!("completions/bash.sh"),
            Self::Zsh => include_str!("completions/zsh.zsh"),
            Self::Fish => include_str!("completions/fish.fish"),
            Self::PowerShell => include_str!("completions/powershell.ps1"),
        };
        let letters = program.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
        let function: String = ['_'].into_iter().chain(letters).collect();
        text.replace("@FUNCTION@", &function).replace("@NAME@", program)
    }

    /// Converts the words that the script passes to the program into the words that the person has typed. The last word is the word at the
    /// cursor.
    pub fn words(self, mut words: Vec<String>) -> Vec<String> {
        let last = words.last_mut();
        if let (Self::PowerShell, Some(last)) = (self, last) {
            *last = last.strip_prefix('=').unwrap_or(last).to_owned();
        }
        words
    }

    /// Returns the line that the script reads for a suggestion. Returns `None` for an empty word, and for a word with control characters such as
    /// line breaks, because no shell could insert it.
    pub fn line(self, suggestion: &Suggestion) -> Option<String> {
        let Suggestion { word, about, is_open } = suggestion;
        if word.is_empty() || word.contains(char::is_control) {
            return None;
        }
        Some(match self {
            Self::Bash => format!("{word}{}\n", if *is_open { "" } else { " " }),
            Self::Zsh => {
                let sign = if *is_open { '-' } else { '+' };
                let word = word.replace('\\', "\\\\").replace(':', "\\:");
                let about = if about.is_empty() { String::new() } else { format!(":{about}") };
                format!("{sign}{word}{about}\n")
            }
            Self::Fish | Self::PowerShell if about.is_empty() => format!("{word}\n"),
            Self::Fish | Self::PowerShell => format!("{word}\t{about}\n"),
        })
    }
}

/// Returns the first line of a text, with spaces in place of control characters.
fn first_line(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_gets_a_suggestion_in_its_form() {
        let check = |shell: Shell, suggestion: &Suggestion, expected: Option<&str>| {
            assert_eq!(shell.line(suggestion).as_deref(), expected);
        };
        let tool = Suggestion::new("add", "Adds: numbers.\nMore.");
        check(Shell::Bash, &tool, Some("add \n"));
        check(Shell::Zsh, &tool, Some("+add:Adds: numbers.\n"));
        check(Shell::Fish, &tool, Some("add\tAdds: numbers.\n"));
        check(Shell::PowerShell, &tool, Some("add\tAdds: numbers.\n"));
        let uri = Suggestion::open("notes://", "");
        check(Shell::Bash, &uri, Some("notes://\n"));
        check(Shell::Zsh, &uri, Some("-notes\\://\n"));
        check(Shell::Fish, &uri, Some("notes://\n"));
        for shell in Shell::ALL {
            check(shell, &Suggestion::new("two\nlines", ""), None);
        }
    }

    #[test]
    fn power_shell_marks_the_last_word_so_that_an_empty_word_is_kept() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let check = |shell: Shell, given: &[&str], expected: &[&str]| {
            assert_eq!(shell.words(words(given)), words(expected));
        };
        check(Shell::PowerShell, &["call", "="], &["call", ""]);
        check(Shell::PowerShell, &["=a=b"], &["a=b"]);
        check(Shell::Bash, &["=a"], &["=a"]);
    }

    #[test]
    fn a_script_has_the_name_of_the_program_in_place_of_each_mark() {
        for shell in Shell::ALL {
            assert_eq!(Shell::named(shell.name()), Some(shell));
            let script = shell.script("my-server");
            assert!(script.contains("my-server completions"), "{script}");
            assert!(!script.contains("@NAME@"), "{script}");
            assert!(!script.contains("@FUNCTION@"), "{script}");
        }
    }
}
