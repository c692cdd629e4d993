use crate::model::Icon;

/// Identity of a server, as clients see it: name, version, description, icons and instructions.
///
/// [`server!`](crate::server!) creates it from the Cargo package. Change it with the methods of [`Builder`](crate::Builder), such as
/// [`title`](crate::Builder::title).
///
/// Specification: Base protocol, Lifecycle.
///
/// ```
/// let server = mcp_runtime::server!().name("notes").title("Notes").version("2.0.0");
/// ```
#[derive(Clone, Debug)]
pub struct Identity {
    pub(crate) package: &'static str,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) website: Option<String>,
    pub(crate) icons: Vec<Icon>,
    pub(crate) instructions: Option<String>,
}

impl Identity {
    /// Creates an identity from the metadata of a Cargo package. If `program` is set, it becomes the name instead of `package`, because a
    /// package may have several programs.
    pub fn new(
        package: &'static str,
        program: Option<&'static str>,
        version: &'static str,
        description: &'static str,
    ) -> Self {
        Self {
            package,
            name: program.unwrap_or(package).to_owned(),
            version: version.to_owned(),
            title: None,
            description: (!description.is_empty()).then(|| description.to_owned()),
            website: None,
            icons: Vec::new(),
            instructions: None,
        }
    }

    /// Returns a description of the problem if clients could not use the identity.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        self.name.trim().is_empty().then_some(
            "the name of the server is empty: set one with `.name(\"…\")`, or leave the call out",
        )
    }
}
