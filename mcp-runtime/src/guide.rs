// The index ends with definitions of links to files, which GitHub uses. The first definition of a link counts, so the definitions in
// `guide-modules.md` come first and lead to the modules.
#![doc = include_str!("../docs/guide-modules.md")]
#![doc = include_str!("../docs/guide/README.md")]
// The label with the features would be on each page, although readers of the guide do not need them.
#![cfg_attr(docsrs, doc(auto_cfg = false))]

// The pages are Markdown files in `docs/guide/`. They are part of the documentation with all features only, so that their links to items
// behind features work.

pub mod first_server {
    #![doc = include_str!("../docs/guide/01-first-server.md")]
}

pub mod arguments {
    #![doc = include_str!("../docs/guide/02-arguments.md")]
}

pub mod results {
    #![doc = include_str!("../docs/guide/03-results.md")]
}

pub mod state {
    #![doc = include_str!("../docs/guide/04-state.md")]
}

pub mod resources {
    #![doc = include_str!("../docs/guide/05-resources.md")]
}

pub mod prompts {
    #![doc = include_str!("../docs/guide/06-prompts.md")]
}

pub mod configuration {
    #![doc = include_str!("../docs/guide/07-configuration.md")]
}

pub mod progress {
    #![doc = include_str!("../docs/guide/08-progress.md")]
}

pub mod asking {
    #![doc = include_str!("../docs/guide/09-asking.md")]
}

pub mod tasks {
    #![doc = include_str!("../docs/guide/10-tasks.md")]
}

pub mod testing {
    #![doc = include_str!("../docs/guide/11-testing.md")]
}

pub mod contract {
    #![doc = include_str!("../docs/guide/12-contract.md")]
}

pub mod http {
    #![doc = include_str!("../docs/guide/13-http.md")]
}

pub mod authorization {
    #![doc = include_str!("../docs/guide/14-authorization.md")]
}

pub mod groups {
    #![doc = include_str!("../docs/guide/15-groups.md")]
}

pub mod dynamic {
    #![doc = include_str!("../docs/guide/16-dynamic.md")]
}

pub mod limits {
    #![doc = include_str!("../docs/guide/17-limits.md")]
}

pub mod migration {
    #![doc = include_str!("../docs/guide/18-migration.md")]
}

pub mod revisions {
    #![doc = include_str!("../docs/guide/19-revisions.md")]
}

pub mod troubleshooting {
    #![doc = include_str!("../docs/guide/20-troubleshooting.md")]
}

pub mod several_nodes {
    #![doc = include_str!("../docs/guide/21-several-nodes.md")]
}
