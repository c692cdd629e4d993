//! Data that the attributes take from the author's source: locations of functions, and texts of doc comments.

use std::fmt;

/// Location of an annotated function in the author's source.
#[derive(Clone, Copy, Debug)]
pub struct SourceLocation {
    pub(crate) package: &'static str,
    pub(crate) module: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) function: &'static str,
}

impl SourceLocation {
    pub const fn new(
        package: &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
        function: &'static str,
    ) -> Self {
        Self { package, module, file, line, function }
    }

    /// Returns the name of the crate: the first segment of the module path.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}:{}", self.function, self.file, self.line)
    }
}

/// Returns the text of doc comments without surrounding whitespace: the space after `///`, and blank lines.
///
/// The space at the start of inner lines stays, because this function runs in const evaluation, which cannot build a new text.
pub const fn trim_doc(text: &'static str) -> &'static str {
    text.trim_ascii()
}
