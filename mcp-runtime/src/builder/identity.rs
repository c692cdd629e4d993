use crate::model::Icon;

/// What a server says of itself. `server!()` fills it from the Cargo package.
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
    /// A package with several programs is known by the program's name.
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

    /// What no client could make anything of.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.name
            .trim()
            .is_empty()
            .then_some("the server has no name: say `.name(\"…\")` with one, or leave it out")
    }
}
