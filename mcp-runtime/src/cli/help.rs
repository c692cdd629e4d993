//! Help of the server and of its commands, as text or as JSON, and the version of the server.

#[cfg(feature = "workbench")]
use serde_json::{Value, json};

#[cfg(feature = "workbench")]
use super::trial::as_json;
use super::{
    command::{Command, CommandWords, SHARED, print},
    exit::CommandError,
    http,
    option::CommandOption,
    screen::{Screen, columns},
};
use crate::{builder::Builder, config::HelpSection};

/// Prints the name of the server, all commands, the options of every server, and the options of the author.
pub(super) fn general(commands: &[Command], builder: &Builder, given: &CommandWords) {
    let identity = &builder.identity;
    let options = SHARED.iter().chain(http::OPTIONS);
    let own = builder.declared_config().options().help();
    #[cfg(feature = "workbench")]
    if given.json {
        let own = own.iter().flat_map(|(_, rows)| rows);
        let own: Vec<_> = own.map(|(usage, about)| row_as_json(usage, about)).collect();
        print(&as_json(&json!({
            "name": identity.name,
            "version": identity.version,
            "description": identity.description,
            "commands": commands.iter().map(command_as_json).collect::<Vec<_>>(),
            "options": options.map(option_as_json).collect::<Vec<_>>(),
            "settings": own,
        })));
        return;
    }
    let mut intro = format!("{} {}: an MCP server\n", identity.name, identity.version);
    if let Some(description) = &identity.description {
        intro.push_str(description);
        intro.push('\n');
    }
    intro.push_str("\nWithout arguments it serves a client on stdin and stdout.\n");
    let commands = commands.iter().map(|command| (command.usage(), command.about.to_owned()));
    let mut sections = vec![
        (String::new(), commands.collect()),
        (String::new(), options.map(option_row).collect()),
    ];
    sections.extend(own);
    print(&laid_out(&intro, &sections, &given.screen));
}

/// Prints the usage of a command, and its options.
pub(super) fn of_command(command: &Command, given: &CommandWords) {
    #[cfg(feature = "workbench")]
    if given.json {
        print(&as_json(&command_as_json(command)));
        return;
    }
    let intro = format!("{}\n{}\n", command.usage(), command.about);
    let options = command.all_options().into_iter().map(option_row);
    print(&laid_out(&intro, &[(String::new(), options.collect())], &given.screen));
}

#[cfg_attr(not(feature = "workbench"), expect(unused_variables, reason = "`--json` needs it"))]
pub(super) fn version(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let identity = &builder.identity;
    #[cfg(feature = "workbench")]
    if given.json {
        print(&as_json(&json!({ "name": identity.name, "version": identity.version })));
        return Ok(());
    }
    print(&format!("{} {}\n", identity.name, identity.version));
    Ok(())
}

fn option_row(option: &CommandOption) -> (String, String) {
    (option.usage(), option.description())
}

#[cfg(feature = "workbench")]
fn command_as_json(command: &Command) -> Value {
    let mut row = row_as_json(&command.usage(), command.about);
    row["options"] = command.all_options().into_iter().map(option_as_json).collect();
    row
}

#[cfg(feature = "workbench")]
fn option_as_json(option: &CommandOption) -> Value {
    row_as_json(&option.usage(), &option.description())
}

#[cfg(feature = "workbench")]
fn row_as_json(usage: &str, about: &str) -> Value {
    json!({ "usage": usage, "about": about })
}

/// Lays out a page of help. The first line of `intro` is the title of the page. All sections share the column of their descriptions. A
/// description that does not fit beside its option continues in the lines below.
fn laid_out(intro: &str, sections: &[HelpSection], screen: &Screen) -> String {
    let (mut column, mut longest) = (0, 0);
    for (usage, about) in sections.iter().flat_map(|(_, rows)| rows) {
        column = column.max(columns(usage));
        longest = longest.max(columns(about));
    }
    if column + longest + 4 > screen.width() {
        column = column.min(screen.width() / 5 * 2);
    }
    let gap = column + 4;
    let mut page = String::new();
    for (at, line) in intro.lines().enumerate() {
        let line = screen.wrap(line, 0);
        page.push_str(&if at == 0 { screen.title(&line) } else { line });
        page.push('\n');
    }
    for (title, rows) in sections {
        page.push('\n');
        if !title.is_empty() {
            page.push_str(&screen.title(title));
            page.push('\n');
        }
        for (usage, about) in rows {
            let (name, about) = (screen.name(usage), screen.wrap(about, gap));
            let row = match column.checked_sub(columns(usage)) {
                Some(rest) => format!("  {name}{:rest$}  {about}\n", ""),
                None => format!("  {name}\n{:gap$}{about}\n", ""),
            };
            page.push_str(&row);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections() -> Vec<HelpSection> {
        let row = |usage: &str, about: &str| (usage.to_owned(), about.to_owned());
        let commands = vec![
            row("list", "lists all tools, resources and prompts"),
            row("call TOOL [NAME=VALUE …]", "calls a tool"),
        ];
        vec![
            (String::new(), commands),
            ("Settings:".to_owned(), vec![row("--root ROOT", "Folder")]),
        ]
    }

    #[test]
    fn descriptions_of_all_sections_are_in_one_column() {
        #[cfg(feature = "workbench")]
        let pipe = Screen::new(None, false);
        #[cfg(not(feature = "workbench"))]
        let pipe = Screen;
        assert_eq!(
            laid_out("notes 1.0\nServes notes\n", &sections(), &pipe),
            "notes 1.0\nServes notes\n\n  list                      lists all tools, resources and prompts\n  \
             call TOOL [NAME=VALUE …]  calls a tool\n\nSettings:\n  --root ROOT               Folder\n"
        );
    }

    #[cfg(feature = "workbench")]
    #[test]
    fn a_description_goes_on_below_its_beginning() {
        let text = laid_out("notes 1.0\n", &sections(), &Screen::new(Some(40), false));
        let expected = "notes 1.0\n\n  list              lists all tools,\n                    \
                        resources and\n                    prompts\n  call TOOL [NAME=VALUE …]\n                    \
                        calls a tool\n\nSettings:\n  --root ROOT       Folder\n";
        assert_eq!(text, expected);
    }

    #[cfg(feature = "workbench")]
    #[test]
    fn colours_mark_titles_and_names_and_change_no_column() {
        let text = laid_out("notes 1.0\n", &sections(), &Screen::new(None, true));
        let plain = laid_out("notes 1.0\n", &sections(), &Screen::new(None, false));
        assert!(text.starts_with("\x1b[1mnotes 1.0\x1b[0m\n"), "{text:?}");
        assert!(
            text.contains("\n\x1b[1mSettings:\x1b[0m\n  \x1b[36m--root ROOT\x1b[0m  "),
            "{text:?}"
        );
        let without = ["\x1b[1m", "\x1b[36m", "\x1b[0m"].iter();
        assert_eq!(without.fold(text, |text, colour| text.replace(colour, "")), plain);
    }

    /// A run with such an option names the feature.
    #[test]
    fn the_help_lists_no_option_of_a_feature_that_the_build_lacks() {
        let options = SHARED.iter().chain(http::OPTIONS).map(|option| option.name);
        let options: Vec<_> = options.collect();
        assert_eq!(options.contains(&"--http"), cfg!(feature = "http"));
        assert_eq!(options.contains(&"--playground"), cfg!(feature = "playground"));
        assert_eq!(options.contains(&"--json"), cfg!(feature = "workbench"));
        for (_, names) in crate::cli::missing::MISSING {
            assert!(names.split(' ').all(|name| !options.contains(&name)), "{names:?}");
        }
    }
}
