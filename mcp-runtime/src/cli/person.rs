//! Asks the person at the terminal the questions of a call, one after the other.

use std::io::Write as _;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};

use super::{
    lists::{elements, member},
    show::{self, choices},
};
use crate::transport::stdio::StdioInput;

/// Person at the terminal. Questions are written to stderr. Answers are read from the original stdin of the process.
pub(super) struct Person(Lines<BufReader<StdioInput>>);

impl Person {
    pub(super) fn new(input: StdioInput) -> Self {
        Self(BufReader::new(input).lines())
    }

    /// Asks the person to fill in a form or to visit a URL. `is_repeated` means that the person has agreed to visit the same page before.
    /// The end of the input counts as a decline.
    pub(super) async fn answer(&mut self, params: &Value, is_repeated: bool) -> Value {
        say(&format!("{}\n", member(params, "message")));
        let content = match params["url"].as_str() {
            Some(url) => {
                say(&format!("  {url}\n"));
                let prompt = match is_repeated {
                    false => "Open this page in a browser, then continue? [y/N] ",
                    true => "The server still needs this page. Finish there, then continue? [y/N] ",
                };
                let goes = self.line(prompt).await;
                goes.and_then(|line| yes_or_no(&line)).filter(|is_yes| *is_yes).map(|_| None)
            }
            None => self.fill_in(&params["requestedSchema"]).await.map(Some),
        };
        match content {
            Some(None) => json!({ "action": "accept" }),
            Some(Some(content)) => json!({ "action": "accept", "content": content }),
            None => json!({ "action": "decline" }),
        }
    }

    /// Asks for all fields, required ones first. Returns `None` if the person declines.
    async fn fill_in(&mut self, schema: &Value) -> Option<Map<String, Value>> {
        say("  (Ctrl-D declines)\n");
        let required: Vec<&str> =
            elements(&schema["required"]).iter().filter_map(Value::as_str).collect();
        let all = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|property| property.0.as_str());
        let optional = all.filter(|name| !required.contains(name));
        let names = required
            .iter()
            .map(|required| (*required, true))
            .chain(optional.map(|optional| (optional, false)));
        let mut content = Map::new();
        for (name, is_required) in names.collect::<Vec<_>>() {
            let property = &schema["properties"][name];
            let prompt = prompt(name, property, is_required);
            loop {
                let text = self.line(&prompt).await?;
                match read(text.trim(), property, is_required) {
                    Ok(Some(value)) => content.insert(name.to_owned(), value),
                    Ok(None) => None,
                    Err(why) => {
                        say(&format!("    {why}\n"));
                        continue;
                    }
                };
                break;
            }
        }
        Some(content)
    }

    async fn line(&mut self, prompt: &str) -> Option<String> {
        say(prompt);
        let line = self.0.next_line().await.ok().flatten();
        if line.is_none() {
            say("\n");
        }
        line
    }
}

/// Writes to stderr. Errors are ignored, because a question that the person cannot see remains unanswered in any case.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Returns the prompt for a field: its title, description, accepted values and default.
fn prompt(name: &str, property: &Value, is_required: bool) -> String {
    let (title, description) = (member(property, "title"), member(property, "description"));
    let title = if title.is_empty() { name } else { title };
    let mut prompt = format!("  {title}");
    if !description.is_empty() {
        prompt.push_str(&format!(": {description}"));
    }
    let choices: Vec<String> = choices(property)
        .into_iter()
        .map(|(value, title)| if value == title { value } else { format!("{value} = {title}") })
        .collect();
    let kind = match property["type"].as_str() {
        Some("array") => format!("any of {}, separated by commas", choices.join(", ")),
        _ if !choices.is_empty() => choices.join(", "),
        Some("boolean") => String::new(),
        Some("string") => member(property, "format").to_owned(),
        _ => show::kind_of(property),
    };
    if !kind.is_empty() {
        prompt.push_str(&format!(" ({kind})"));
    }
    let default = &property["default"];
    let nothing = match (property["type"].as_str(), default) {
        (Some("boolean"), Value::Bool(true)) => "Y/n".to_owned(),
        (Some("boolean"), Value::Null) if !is_required => "y/n, optional".to_owned(),
        (Some("boolean"), _) => "y/N".to_owned(),
        (_, Value::Null) if is_required => String::new(),
        (_, Value::Null) => "optional".to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    };
    if nothing.is_empty() { prompt + ": " } else { format!("{prompt} [{nothing}]: ") }
}

/// Converts the typed text to the type of the field. Returns `None` to leave the field out. Checks bounds, so that the person corrects this
/// field only. The server checks patterns and formats, and asks for all fields again.
fn read(text: &str, property: &Value, is_required: bool) -> Result<Option<Value>, String> {
    let kind = property["type"].as_str();
    if text.is_empty() {
        return match (kind, &property["default"]) {
            (Some("boolean"), Value::Null) if is_required => Ok(Some(json!(false))),
            (_, Value::Null) if is_required => {
                Err("this field is required; Ctrl-D declines".to_owned())
            }
            _ => Ok(None),
        };
    }
    let choices = choices(property);
    let choice = |text: &str| {
        let text = text.trim();
        let fits = |pair: &&(String, String)| pair.0 == text || pair.1.eq_ignore_ascii_case(text);
        let found = choices.iter().find(fits).map(|choice| json!(choice.0));
        let all = || choices.iter().map(|choice| choice.0.as_str()).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| format!("`{text}` is not one of {}", all()))
    };
    let value = match kind {
        Some("array") => text.split(',').map(choice).collect::<Result<Vec<_>, _>>()?.into(),
        _ if !choices.is_empty() => choice(text)?,
        Some("boolean") => yes_or_no(text).ok_or("answer y or n")?.into(),
        Some("integer" | "number") => {
            let number = text.parse::<serde_json::Number>();
            let number = number.map_err(|_| format!("`{text}` is not a number"))?;
            check_bounds(number.as_f64(), &property["minimum"], &property["maximum"])?;
            number.into()
        }
        _ => {
            let length = text.chars().count();
            check_bounds(Some(length as f64), &property["minLength"], &property["maxLength"])
                .map_err(|why| format!("{why} characters"))?;
            text.into()
        }
    };
    Ok(Some(value))
}

/// Checks that `size` is within the bounds.
///
/// # Errors
/// Returns the text for the person, which names the bounds.
fn check_bounds(size: Option<f64>, least: &Value, most: &Value) -> Result<(), String> {
    let is_inside = |bound: &Value, fits: fn(&f64, &f64) -> bool| {
        size.zip(bound.as_f64()).is_none_or(|(size, bound)| fits(&size, &bound))
    };
    if is_inside(least, f64::ge) && is_inside(most, f64::le) {
        return Ok(());
    }
    Err(match (least, most) {
        (Value::Null, most) => format!("give at most {most}"),
        (least, Value::Null) => format!("give at least {least}"),
        (least, most) => format!("give {least} to {most}"),
    })
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}
