//! `check`: what clients would refuse or miss, found before their users do.

use std::{path::PathBuf, sync::Arc};

use super::{Printed, Stop, show::Everything};
use crate::{
    builder::{Builder, Identity},
    catalog::Snapshot,
    testing::Client,
};

/// What was written behind `check`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Every finding is a failure.
    strict: bool,
    /// The manifest to compare with.
    against: Option<PathBuf>,
}

impl Options {
    pub(super) fn read(given: &[String]) -> Result<Self, Stop> {
        let mut options = Self::default();
        let mut parser = lexopt::Parser::from_args(given);
        while let Some(argument) = parser.next().map_err(|error| Stop::usage(error.to_string()))? {
            match argument {
                lexopt::Arg::Long("strict") => options.strict = true,
                lexopt::Arg::Long("against") => {
                    let file = parser
                        .value()
                        .map_err(|_| Stop::usage("`--against` needs a file; see `help`"))?;
                    options.against = Some(file.into());
                }
                other => {
                    let other = super::named(&other);
                    return Err(Stop::usage(format!(
                        "`check` takes `--strict` and `--against FILE`, not `{other}`; see `help`"
                    )));
                }
            }
        }
        Ok(options)
    }
}

/// What the server publishes, and the entries it comes from, which know their lines.
pub(super) struct Published {
    pub(super) identity: Identity,
    pub(super) everything: Everything,
    #[allow(dead_code, reason = "the rules need it")]
    pub(super) snapshot: Arc<Snapshot>,
}

impl Published {
    async fn of(builder: Builder) -> Result<Self, Stop> {
        let identity = builder.identity.clone();
        let mut client = Client::unprepared(builder).map_err(Stop::failure)?;
        client.wait_without_end();
        let everything = Everything::ask(&mut client).await.map_err(Stop::failure)?;
        let snapshot = client.snapshot();
        client.close().await;
        Ok(Self { identity, everything, snapshot })
    }
}

pub(super) async fn run(builder: Builder, options: &Options) -> Result<Printed, Stop> {
    if let Some(file) = &options.against {
        return super::against::run(builder, file, options.strict);
    }
    let published = Published::of(builder).await?;
    let manifest = super::show::schema(&published.identity, &published.everything);
    let mut text = format!("{} bytes of manifest\n", manifest.len());
    if options.strict {
        text.push_str("nothing found\n");
    }
    Ok(text.into())
}
