//! List of all structs with `#[config]` in a binary, and the selection of those that a server uses.
//!
//! Only the entries of the list refer to the code that reads structs and options. If a binary has no such struct, the linker leaves this code
//! out.

use std::fmt;

#[cfg(feature = "stdio")]
use super::options::{FieldOptions, NoOptions, OwnOptions};
#[cfg(feature = "workbench")]
use super::plan::ConfigFieldView;
use super::{definition::ConfigDef, plan::ConfigPlan, reader::GivenValues};
use crate::call::context::States;

/// Entry of the list: a struct with `#[config]`, and the code for structs of this kind.
pub struct ConfigRegistration {
    def: ConfigDef,
    operations: &'static ConfigOperations,
}

impl ConfigRegistration {
    pub const fn new(def: ConfigDef) -> Self {
        Self { def, operations: &OPERATIONS }
    }

    pub(crate) fn def(&self) -> &ConfigDef {
        &self.def
    }
}

impl fmt::Debug for ConfigRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.def.fmt(f)
    }
}

/// Structs that a server knows. The flag is true if a function of the server takes the struct.
type KnownConfigs = Vec<(&'static ConfigDef, bool)>;

/// Functions for structs with `#[config]`. All entries refer to the same static value.
struct ConfigOperations {
    plan: fn(&str, KnownConfigs, Option<&GivenValues>) -> ConfigPlan,
    read: fn(ConfigPlan, &mut States) -> Result<(), String>,
    problems: fn(&ConfigPlan) -> Vec<String>,
    #[cfg(feature = "stdio")]
    options: fn(&ConfigPlan) -> Box<dyn OwnOptions>,
}

static OPERATIONS: ConfigOperations = ConfigOperations {
    plan: |server, structs, given| ConfigPlan::new(server, structs.into_iter(), given.cloned()),
    read: ConfigPlan::read,
    problems: ConfigPlan::problems,
    #[cfg(feature = "stdio")]
    options: |plan| Box::new(FieldOptions::new(plan.fields())),
};

/// Structs with `#[config]` that a server knows.
#[derive(Default)]
pub(crate) struct DeclaredConfig(Option<(ConfigPlan, &'static ConfigOperations)>);

impl DeclaredConfig {
    /// Creates the plan of a server. `structs` yields its entries of the list. The flag is true if a function of the server
    /// takes the struct.
    pub(crate) fn new(
        server: &str,
        structs: impl Iterator<Item = (&'static ConfigRegistration, bool)>,
        given: Option<&GivenValues>,
    ) -> Self {
        let (mut known, mut operations) = (KnownConfigs::new(), None);
        for (entry, is_needed) in structs {
            known.push((&entry.def, is_needed));
            operations = Some(entry.operations);
        }
        Self(operations.map(|operations| ((operations.plan)(server, known, given), operations)))
    }

    /// Reads all structs into the state of a server.
    ///
    /// # Errors
    /// Fails with all problems at once. A missing value is no problem if the server does not need its struct.
    pub(crate) fn read(self, states: &mut States) -> Result<(), String> {
        self.0.map_or(Ok(()), |(plan, operations)| (operations.read)(plan, states))
    }

    /// Returns the problems in the names of the options.
    pub(crate) fn problems(&self) -> Vec<String> {
        let known = self.0.as_ref();
        known.map(|(plan, operations)| (operations.problems)(plan)).unwrap_or_default()
    }

    /// Returns the options of the command line that the structs declare.
    #[cfg(feature = "stdio")]
    pub(crate) fn options(&self) -> Box<dyn OwnOptions> {
        match &self.0 {
            Some((plan, operations)) => (operations.options)(plan),
            None => Box::new(NoOptions),
        }
    }

    /// Returns the fields of all structs, in the order of the source.
    #[cfg(feature = "workbench")]
    pub(crate) fn fields(&self) -> Vec<ConfigFieldView> {
        self.0.as_ref().map(|(plan, _)| plan.fields()).unwrap_or_default()
    }

    /// Checks the values that are given. Missing values are no problem.
    ///
    /// # Errors
    /// Fails with all problems at once.
    #[cfg(feature = "workbench")]
    pub(crate) fn check_given(self) -> Result<(), String> {
        self.0.map_or(Ok(()), |(plan, _)| plan.check_given())
    }
}

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
mod collected {
    use super::ConfigRegistration;

    #[linkme::distributed_slice]
    pub static MCP_RUNTIME_CONFIGS_0: [ConfigRegistration];

    pub(super) fn all() -> impl Iterator<Item = &'static ConfigRegistration> {
        MCP_RUNTIME_CONFIGS_0.iter()
    }
}

#[cfg(any(target_family = "wasm", feature = "inventory"))]
mod collected {
    use super::ConfigRegistration;

    inventory::collect!(ConfigRegistration);

    pub(super) fn all() -> impl Iterator<Item = &'static ConfigRegistration> {
        inventory::iter::<ConfigRegistration>()
    }
}

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use collected::MCP_RUNTIME_CONFIGS_0;

/// Returns the entries of all structs with `#[config]`, in an unspecified order.
pub(crate) fn registered() -> impl Iterator<Item = &'static ConfigRegistration> {
    collected::all()
}

/// Adds a struct to the distributed slice.
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __register_config {
    ($config:expr) => {
        #[$crate::__private::linkme::distributed_slice($crate::__private::MCP_RUNTIME_CONFIGS_0)]
        #[linkme(crate = $crate::__private::linkme)]
        static __CONFIG: $crate::__private::ConfigRegistration =
            $crate::__private::ConfigRegistration::new($config);
    };
}

/// Submits a struct to `inventory`.
#[cfg(any(target_family = "wasm", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __register_config {
    ($config:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::ConfigRegistration::new($config) }
    };
}
