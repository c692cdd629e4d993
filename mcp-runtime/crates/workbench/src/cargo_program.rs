//! Program that a client starts with cargo, so that the author can change the program while the client runs.

use std::{
    env::consts::EXE_SUFFIX,
    fmt,
    path::{Path, PathBuf},
};

use crate::entry::{Launch, Variable};

/// Program under development: what `cargo run` needs to build and to start it from any folder.
#[derive(Clone, Debug)]
pub struct CargoProgram {
    /// Path of cargo.
    cargo: String,
    /// Path of the manifest of the package.
    manifest: String,
    /// Option that selects the program among those of the package, and its value.
    target: [String; 2],
}

impl CargoProgram {
    /// Finds out how cargo has started the program of this process. `program` is its path, and `variable` returns the variables that cargo
    /// sets.
    ///
    /// # Errors
    /// Fails if cargo has not started the program, or if a path is not Unicode.
    pub fn of_environment(
        program: &Path,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<Self, CargoProgramError> {
        let folder = variable("CARGO_MANIFEST_DIR").ok_or(CargoProgramError::NotStarted)?;
        let name = text(program.file_name().unwrap_or_default().into())?;
        let name = name.strip_suffix(EXE_SUFFIX).unwrap_or(&name).to_owned();
        let is_example = program.parent().is_some_and(|folder| folder.ends_with("examples"));
        let option = if is_example { "--example" } else { "--bin" };
        Ok(Self {
            cargo: text(cargo(&variable))?,
            manifest: text(folder.join("Cargo.toml"))?,
            target: [option.to_owned(), name],
        })
    }

    /// Returns how a client starts the command `dev` of the program. `options` are those of the server, and `args` its other arguments.
    pub fn dev(&self, options: Vec<String>, args: &[String], env: Vec<Variable>) -> Launch {
        let mut all: Vec<_> = ["run", "-q", "--manifest-path", &self.manifest]
            .into_iter()
            .chain(self.target.iter().map(String::as_str))
            .chain(["--features", "mcp-runtime/workbench", "--"])
            .map(str::to_owned)
            .collect();
        all.extend(options);
        all.push("dev".to_owned());
        if !args.is_empty() {
            all.push("--".to_owned());
            all.extend_from_slice(args);
        }
        Launch::Process { command: self.cargo.clone(), args: all, env }
    }
}

/// Reason why it is unknown how cargo builds a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CargoProgramError {
    /// Cargo has not started the program.
    NotStarted,
    /// This path is not Unicode, so that no configuration file can name it.
    NotUnicode(PathBuf),
}

impl fmt::Display for CargoProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted => f.write_str("cargo has not started it"),
            Self::NotUnicode(path) => write!(f, "the path {} is not Unicode", path.display()),
        }
    }
}

impl std::error::Error for CargoProgramError {}

fn text(path: PathBuf) -> Result<String, CargoProgramError> {
    let text = path.into_os_string().into_string();
    text.map_err(|path| CargoProgramError::NotUnicode(path.into()))
}

/// Returns the path of cargo. The one of rustup comes first, because it also finds the compiler where the client has another `PATH`.
fn cargo(variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let folder = variable("CARGO_HOME").or_else(|| Some(variable(home)?.join(".cargo")));
    let of_rustup = folder.map(|folder| folder.join("bin").join(format!("cargo{EXE_SUFFIX}")));
    let of_rustup = of_rustup.filter(|path| path.is_file());
    of_rustup.or_else(|| variable("CARGO")).unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(program: &str, variables: &[(&str, &str)]) -> Option<(String, Vec<String>)> {
        let variable = |name: &str| {
            let (_, value) = variables.iter().find(|(other, _)| *other == name)?;
            Some(PathBuf::from(value))
        };
        let program = CargoProgram::of_environment(Path::new(program), variable).ok()?;
        let options = vec!["--root".to_owned(), "/data".to_owned()];
        match program.dev(options, &["--more".to_owned()], Vec::new()) {
            Launch::Process { command, args, .. } => Some((command, args)),
            Launch::Http { .. } => None,
        }
    }

    #[test]
    fn the_entry_runs_cargo_with_the_manifest_and_the_target() {
        let variables = [("CARGO_MANIFEST_DIR", "/src/notes"), ("CARGO", "/toolchain/bin/cargo")];
        let program = format!("/src/notes/target/debug/notes{EXE_SUFFIX}");
        let (command, args) = launched(&program, &variables).expect("cargo");
        assert_eq!(command, "/toolchain/bin/cargo");
        let manifest = Path::new("/src/notes").join("Cargo.toml").display().to_string();
        let expected = format!(
            "run -q --manifest-path {manifest} --bin notes --features mcp-runtime/workbench -- --root /data dev -- --more"
        );
        assert_eq!(args.join(" "), expected);
        let (_, args) =
            launched("/src/notes/target/debug/examples/mine", &variables).expect("cargo");
        assert_eq!(args[4..6], ["--example", "mine"]);
        assert!(launched(&program, &[]).is_none());
    }
}
