//! Settings of a server, as a bundle and an entry of the registry describe them to clients.

/// Value that the user of a server chooses.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name of the option of the command line, without the dashes.
    pub option: String,
    /// Name of the environment variable.
    pub variable: String,
    /// Description of the value, in a line.
    pub description: String,
    /// Type of the value.
    pub kind: SettingKind,
    /// All possible values, or an empty list if there are too many.
    pub choices: Vec<String>,
    /// Whether there may be several values, with commas between them in the variable.
    pub is_list: bool,
    /// Whether the server needs a value to start.
    pub is_required: bool,
    /// Whether clients hide and protect the value.
    pub is_secret: bool,
    /// Value of the server if the user chooses none, as a text.
    pub default: Option<String>,
}

/// Type of the value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number {
        /// Smallest value. `None` for `f32` and `f64`.
        least: Option<i64>,
        /// Largest value. `None` if the type is a fraction.
        most: Option<i64>,
    },
    /// Path of a file or of a directory.
    Path,
    /// Path of a file.
    File,
    /// Path of a directory.
    Directory,
}

/// Largest integer that a JavaScript client keeps exactly.
const MOST_EXACT: i64 = (1 << 53) - 1;

impl SettingKind {
    /// Returns the kind of a number with this Rust type. `None` if the type is no number. For integers of 64 bits, the bounds are those
    /// of the numbers that clients in JavaScript keep exactly.
    ///
    /// ```
    /// use mcp_runtime_workbench::SettingKind;
    ///
    /// let number = SettingKind::of_number("u8");
    /// assert_eq!(number, Some(SettingKind::Number { least: Some(0), most: Some(255) }));
    /// assert_eq!(SettingKind::of_number("String"), None);
    /// ```
    pub fn of_number(rust_type: &str) -> Option<Self> {
        let (least, most) = match rust_type {
            "u8" => (Some(0), Some(u8::MAX.into())),
            "u16" => (Some(0), Some(u16::MAX.into())),
            "u32" => (Some(0), Some(u32::MAX.into())),
            "u64" | "usize" => (Some(0), Some(MOST_EXACT)),
            "i8" => (Some(i8::MIN.into()), Some(i8::MAX.into())),
            "i16" => (Some(i16::MIN.into()), Some(i16::MAX.into())),
            "i32" => (Some(i32::MIN.into()), Some(i32::MAX.into())),
            "i64" | "isize" => (Some(-MOST_EXACT), Some(MOST_EXACT)),
            "f32" | "f64" => (None, None),
            _ => return None,
        };
        Some(Self::Number { least, most })
    }

    /// Whether the value is a path.
    pub(crate) fn is_path(self) -> bool {
        matches!(self, Self::Path | Self::File | Self::Directory)
    }
}

impl Setting {
    /// Returns a name of the setting for people: the words of the option.
    pub(crate) fn title(&self) -> String {
        let mut letters =
            self.option.chars().map(|letter| if letter == '-' { ' ' } else { letter });
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// Whether the default is an integer that the bounds of the number exclude, so that a client would change its last digits.
    pub(crate) fn has_inexact_default(&self) -> bool {
        let SettingKind::Number { least, most } = self.kind else { return false };
        let default = self.default().and_then(|text| text.parse::<i128>().ok());
        let is_excluded = |number: i128| {
            least.is_some_and(|least| number < least.into())
                || most.is_some_and(|most| number > most.into())
        };
        default.is_some_and(is_excluded)
    }

    /// Returns the description with the possible values.
    pub(crate) fn description_of_value(&self) -> String {
        match &self.choices[..] {
            [] => self.description.clone(),
            choices => format!("{}: {}", self.description, choices.join(", ")),
        }
    }

    /// Returns the description. For a list, it also explains how to write several values in one text.
    pub(crate) fn description_of_text(&self) -> String {
        match self.is_list {
            true => {
                let description = self.description_of_value();
                format!("{description} (several values have commas between them)")
            }
            false => self.description_of_value(),
        }
    }

    /// Returns the default. A secret has none.
    pub(crate) fn default(&self) -> Option<&str> {
        self.default.as_deref().filter(|_| !self.is_secret)
    }
}

/// Whether a member is left out of a file.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_false(is_set: &bool) -> bool {
    !is_set
}

/// Returns an optional setting, for tests.
#[cfg(test)]
pub(crate) fn example(option: &str, kind: SettingKind) -> Setting {
    Setting {
        option: option.to_owned(),
        variable: format!("NOTES_{}", option.to_uppercase().replace('-', "_")),
        description: format!("The {option}"),
        kind,
        choices: Vec::new(),
        is_list: false,
        is_required: false,
        is_secret: false,
        default: None,
    }
}
