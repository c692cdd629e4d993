//! Structs with `#[config]`.

use std::{net::IpAddr, num::NonZeroU16, path::PathBuf};

use mcp_runtime::prelude::*;

type Folder = PathBuf;
type Maybe<T> = Option<T>;

const CONFIG: u8 = 3;

/** Settings
 * in a block comment */
#[config(env = "SETTINGS")]
#[derive(Clone)]
pub(crate) struct Settings {
    pub r#type: String,
    folder: Folder,
    maybe: Maybe<NonZeroU16>,
    #[config(default)]
    count: u32,
    #[config(default = CONFIG)]
    level: u8,
    #[config(default = [127, 0, 0, 1].into())]
    address: IpAddr,
    #[config(default = vec![1, 2], name = "numbers")]
    list: Vec<u64>,
    #[config(default = true)]
    colour: bool,
    #[config(secret = false)]
    open: String,
    #[cfg(unix)]
    socket: Option<PathBuf>,
    #[cfg(windows)]
    pipe: String,
    #[doc = include_str!("documented.md")]
    documented: f64,
}

/// Returns the number of settings.
#[tool(group = "config")]
fn settings(settings: &Settings, copy: State<Settings>) -> usize {
    let _ = (&settings.r#type, &settings.folder, settings.maybe, settings.colour);
    let _ = (&settings.open, settings.documented, &settings.address, settings.level);
    #[cfg(unix)]
    let _ = &settings.socket;
    settings.list.len() + copy.count as usize
}

fn inner() -> mcp_runtime::Builder {
    #[config]
    struct Inner {
        inner_name: String,
    }

    server!(group = "config")
        .setup(async |settings: State<Settings>, _: Handle| Ok::<_, Error>(settings.list.clone()))
        .setup(async |inner: State<Inner>, list: State<Vec<u64>>| {
            Ok::<_, Error>((inner.inner_name.clone(), list.len()))
        })
}

#[support::test]
fn structs_with_config_compile() {
    let _ = inner();
}
