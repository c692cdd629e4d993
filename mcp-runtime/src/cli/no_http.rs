//! Stand-in for `http` in a build without the feature: it has no option.

use lexopt::Parser;

use super::{exit::CommandError, option::CommandOption};
use crate::builder::Builder;

pub(super) const OPTIONS: &[CommandOption] = &[];

pub(super) fn find(_: &str) -> Option<&'static CommandOption> {
    None
}

#[derive(Default)]
pub(super) struct NoHttp(());

pub(super) use NoHttp as HttpOptions;

#[expect(clippy::unused_self, reason = "the variant of the feature has options")]
impl NoHttp {
    pub(super) fn take(&mut self, _: &CommandOption, _: &mut Parser) -> Result<(), CommandError> {
        Ok(())
    }

    pub(super) fn take_address(&mut self, _: &str) -> bool {
        false
    }

    pub(super) fn given_of(&self, _: &[&'static CommandOption]) -> Option<&'static str> {
        None
    }

    pub(super) fn chosen(self) -> Result<Option<NoHttpLaunch>, CommandError> {
        Ok(None)
    }
}

pub(super) enum NoHttpLaunch {}

impl NoHttpLaunch {
    pub(super) fn run(self, _: Builder) -> Result<(), CommandError> {
        match self {}
    }
}
