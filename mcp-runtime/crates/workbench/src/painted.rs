//! Texts of the commands as a person at a terminal sees them. A pipe or a file gets each text unchanged, unless `CLICOLOR_FORCE` is set.
//!
//! The functions recognize the parts of a text by their indentation: rows and findings are indented, and titles are not.

use anstyle::Style;

use crate::screen::{ASIDE, BAD, DOUBTFUL, GOOD, NAME, Screen, TITLE, columns, cut, wrapped};

/// Width of a progress bar, in characters.
const CELLS: usize = 20;

/// Labels at the beginning of a line on stderr, each with its style.
const LABELS: [(&str, Style); 3] =
    [("error:", BAD.bold()), ("warning:", DOUBTFUL.bold()), ("note:", NAME.bold())];

/// Item of a list that a command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedItem {
    /// Name or URI.
    pub name: String,
    /// Arguments, separated by spaces.
    pub arguments: String,
    /// First line of the description.
    pub about: String,
    /// Marks, such as `(task)`.
    pub marks: String,
}

impl Screen {
    /// Colours the word `error:`, `warning:` or `note:` at the beginning of each line.
    pub fn remark(&self, text: String) -> String {
        if !self.is_styled() {
            return text;
        }
        self.each_line(&text, |line| {
            let label = LABELS.iter().find(|(label, _)| line.starts_with(label));
            label.map_or(line.to_owned(), |(label, style)| {
                self.paint(*style, label) + &line[label.len()..]
            })
        })
    }

    /// Paints the title of a page, of a section or of a list.
    pub fn title(&self, text: &str) -> String {
        self.paint(TITLE, text)
    }

    /// Paints the name of an item, an option or a command.
    pub fn name(&self, text: &str) -> String {
        self.paint(NAME, text)
    }

    /// Returns the lists of a server as tables. Descriptions are cut to the width of the terminal, and arguments are on separate lines.
    pub fn list(&self, title: &str, sections: &[(&str, Vec<ListedItem>)]) -> String {
        let mut page = format!("{}\n", self.title(title));
        for (title, items) in sections.iter().filter(|section| !section.1.is_empty()) {
            page.push_str(&format!("\n{}\n", self.title(title)));
            let names = items.iter().map(|item| columns(&item.name));
            let column = names.max().unwrap_or_default().min(self.width() / 2);
            for item in items {
                page.push_str(&self.item(item, column));
            }
        }
        page
    }

    fn item(&self, item: &ListedItem, column: usize) -> String {
        let room = self.width().saturating_sub(column + 4);
        let gap = " ".repeat(column + 4);
        let mut text = format!("  {}", self.name(&item.name));
        text.push_str(&match column.checked_sub(columns(&item.name)) {
            Some(rest) => format!("{:rest$}  ", ""),
            None => format!("\n{gap}"),
        });
        // Marks are never cut, because they name the features and scopes that a client needs.
        let space = usize::from(!item.marks.is_empty() && !item.about.is_empty());
        let marks = columns(&item.marks);
        text.push_str(&cut(&item.about, room.saturating_sub(marks + space).max(1)));
        text.push_str(&" ".repeat(space));
        text.push_str(&self.paint(DOUBTFUL, &item.marks));
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
        for line in wrapped(&item.arguments, room.max(20)) {
            text.push_str(&format!("{gap}{}\n", self.paint(ASIDE, &line)));
        }
        text
    }

    /// Colours the changed lines of a unified diff.
    pub fn changes(&self, text: String) -> String {
        if !self.is_styled() {
            return text;
        }
        let mut at = 0;
        self.each_line(&text, |line| {
            at += 1;
            let style = match line.as_bytes().first() {
                _ if at <= 2 => TITLE,
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                Some(b'@') => NAME,
                _ => return line.to_owned(),
            };
            self.paint(style, line)
        })
    }

    /// Colours the titles of a report, and the severity, the reason and the fix of each finding.
    pub fn findings(&self, text: String) -> String {
        if !self.is_styled() {
            return text;
        }
        let mut lines = text.lines().skip(1);
        self.each_line(&text, |line| {
            let is_above_finding = lines.next().is_some_and(|next| next.starts_with("  "));
            let inner = line.trim_start();
            let indent = &line[..line.len() - inner.len()];
            let first = |count: usize, style: Style| {
                format!("{indent}{}{}", self.paint(style, &inner[..count]), &inner[count..])
            };
            match inner.split_once([' ', ':']).map_or(inner, |(word, _)| word) {
                _ if indent.is_empty() && is_above_finding => self.paint(TITLE, line),
                _ if indent.is_empty() => line.to_owned(),
                "error" => first("error".len(), BAD.bold()),
                "warning" => first("warning".len(), DOUBTFUL.bold()),
                "fix" => first("fix:".len(), GOOD),
                "why" => indent.to_owned() + &self.paint(ASIDE, inner),
                _ => line.to_owned(),
            }
        })
    }

    /// Colours the place of each difference between two sessions, which is the text before the first colon.
    pub fn differences(&self, text: String) -> String {
        if !self.is_styled() {
            return text;
        }
        self.each_line(&text, |line| match line.split_once(": ") {
            Some((place, rest)) => format!("{}: {rest}", self.paint(BAD, place)),
            None => self.paint(GOOD, line),
        })
    }

    fn each_line(&self, text: &str, mut change: impl FnMut(&str) -> String) -> String {
        let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
            Some(line) => change(line) + "\n",
            None => change(line),
        });
        lines.collect()
    }
}

/// Returns a progress bar in characters, without colours. The bar is full if `progress` has reached `total`, or if `total` is zero.
///
/// ```
/// assert_eq!(mcp_runtime_workbench::bar(1.0, 4.0), "━━━━━───────────────");
/// ```
pub fn bar(progress: f64, total: f64) -> String {
    let share = if total > 0.0 { (progress / total).clamp(0.0, 1.0) } else { 1.0 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the share is between 0 and 1"
    )]
    let done = (share * CELLS as f64) as usize;
    "━".repeat(done) + &"─".repeat(CELLS - done)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURED: Screen = Screen::new(Some(60), true);
    const PLAIN: Screen = Screen::new(Some(40), false);
    const PIPE: Screen = Screen::new(None, false);

    fn item(name: &str, arguments: &str, about: &str, marks: &str) -> ListedItem {
        ListedItem {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            about: about.to_owned(),
            marks: marks.to_owned(),
        }
    }

    #[test]
    fn a_pipe_gets_every_text_unchanged() {
        let text = "error: no\n  error (name): x\n+ a\nline 3: y\n";
        for unchanged in [
            PIPE.remark(text.to_owned()),
            PIPE.title(text),
            PIPE.changes(text.to_owned()),
            PIPE.findings(text.to_owned()),
            PIPE.differences(text.to_owned()),
        ] {
            assert_eq!(unchanged, text);
        }
    }

    #[test]
    fn a_list_is_a_table_that_fits_into_the_terminal() {
        let items = vec![
            item("add", "a=<integer> [b=<integer>] [c=<integer>]", "Adds numbers.", ""),
            item("remember", "", "Remembers a fact for the next conversations.", "(task)"),
            item("forget", "", "", "(task)"),
        ];
        let text = PLAIN.list("notes 1.0", &[("tools", items), ("prompts", Vec::new())]);
        let expected = [
            "notes 1.0",
            "",
            "tools",
            "  add       Adds numbers.",
            "            a=<integer> [b=<integer>]",
            "            [c=<integer>]",
            "  remember  Remembers a fact for… (task)",
            "  forget    (task)",
            "",
        ];
        assert_eq!(text.lines().map(str::to_owned).collect::<Vec<_>>().join("\n") + "\n", {
            expected.join("\n")
        });
        assert!(text.lines().all(|line| columns(line) <= 40), "{text}");
    }

    #[test]
    fn colours_mark_the_severity_of_a_line() {
        assert_eq!(
            COLOURED.findings(
                "tool `x`\n  error (name): bad\n    fix: rename\n\nx: 1 tool.\n".to_owned()
            ),
            "\x1b[1mtool `x`\x1b[0m\n  \x1b[1m\x1b[31merror\x1b[0m (name): bad\n    \x1b[32mfix:\x1b[0m rename\n\nx: 1 tool.\n"
        );
        assert_eq!(
            COLOURED.changes("--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n same\n".to_owned()),
            "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ a\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n same\n"
        );
        assert_eq!(
            COLOURED.differences("line 3: `x` was 1\nthe same\n".to_owned()),
            "\x1b[31mline 3\x1b[0m: `x` was 1\n\x1b[32mthe same\x1b[0m\n"
        );
    }

    #[test]
    fn a_bar_is_full_at_the_total() {
        assert_eq!(bar(0.0, 3.0), "─".repeat(CELLS));
        assert_eq!(bar(2.0, 2.0), "━".repeat(CELLS));
        assert_eq!(bar(9.0, 2.0), "━".repeat(CELLS));
        assert_eq!(bar(0.0, 0.0), "━".repeat(CELLS));
        assert_eq!(bar(f64::NAN, 2.0).chars().count(), CELLS);
    }
}
