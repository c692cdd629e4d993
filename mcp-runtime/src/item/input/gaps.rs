//! Reasons why the compiler could not make the schema of a tool's arguments.

use super::{InputSchema, Param, Property};
use crate::schema::constant::short;

impl InputSchema {
    /// Returns a sentence for each parameter whose schema is not fully known at compile time.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let gaps: Vec<String> =
            self.properties.iter().filter(|it| !it.is_constant()).map(Property::gap).collect();
        match gaps.is_empty() {
            true => vec!["it is too much for the compiler".to_owned()],
            false => gaps,
        }
    }
}

impl Property {
    fn gap(&self) -> String {
        let name = self.arg.name;
        match self.param {
            Param::Unknown(of) => {
                let of = short(of());
                format!("the compiler does not know the type of `{name}`: `{of}`")
            }
            Param::Argument(node) => node.gap(name).unwrap_or_else(|| {
                format!("the compiler does not know what is said of `{name}` beside its type")
            }),
            Param::Spread(node) => node
                .gap("")
                .unwrap_or_else(|| format!("the compiler does not know how `{name}` is spread")),
            Param::Server => String::new(),
        }
    }
}
