//! Caddy with the committed `Caddyfile`.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::{Command, Stdio},
};

use support::{
    process::free_address,
    requirement::{Missing, needs, output_of},
};

use crate::{
    files::{Folder, committed, replace},
    front::{Changes, Program},
};

const FILE: &str = "Caddyfile";

/// First version that knows the option `request_buffers`. The file says what older versions need.
const KNOWS_REQUEST_BUFFERS: [u32; 3] = [2, 6, 3];

/// Returns the version in the output of `caddy version`, such as `2.6.2` or `v2.11.4 h1:…`.
fn parse_version(output: &str) -> Option<[u32; 3]> {
    let number = output.split_whitespace().next()?.trim_start_matches('v');
    let mut parts = number.split(['.', '-']).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

/// Returns the committed file as the header of the option tells users of the installed version to write it.
fn for_version(program: &str) -> String {
    let output = output_of(Command::new(program).arg("version")).expect("Caddy is here");
    // Debian prints only the number, and a development version prints something else.
    match parse_version(&output) {
        Some(version) if version < KNOWS_REQUEST_BUFFERS => {
            assert!(committed(FILE).contains("write `buffer_requests` instead"));
            replace(&committed(FILE), "request_buffers 16MiB", "buffer_requests", 1)
        }
        _ => committed(FILE),
    }
}

/// Returns the file with these changes. Caddy listens on loopback, and makes its certificates with an authority of its own, because
/// a public one cannot reach this machine.
fn rendered(
    mut text: String,
    folder: &Folder,
    address: SocketAddr,
    server: SocketAddr,
    changes: Changes<'_>,
) -> String {
    for (words, new) in changes {
        text = replace(&text, words, new, 1);
    }
    let text =
        replace(&text, "reverse_proxy 127.0.0.1:8000", &format!("reverse_proxy {server}"), 1);
    let settings = [
        "grace_period 10s",
        "admin off",
        "local_certs",
        "skip_install_trust",
        "auto_https disable_redirects",
        "default_bind 127.0.0.1",
        &format!("https_port {}", address.port()),
        &format!("storage file_system {}", folder.path("storage").display()),
    ];
    replace(&text, "grace_period 10s", &settings.join("\n\t"), 1)
}

/// Returns the command that starts Caddy, and the certificate that its clients trust, which Caddy writes when it starts.
///
/// # Errors
///
/// [`Missing`] when Caddy is not installed.
pub(crate) fn command(
    folder: &Folder,
    address: SocketAddr,
    server: SocketAddr,
    changes: Changes<'_>,
) -> Result<(Command, PathBuf), Missing> {
    let program = Program::Caddy.installed()?;
    let file =
        folder.write(FILE, &rendered(for_version(&program), folder, address, server, changes));
    let mut command = Command::new(program);
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
    // Caddy keeps a copy of its last configuration in the home folder.
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env(variable, folder.path("home"));
    }
    Ok((command, folder.path("storage/pki/authorities/local/root.crt")))
}

/// Caddy warns about a file whose formatting is not its own.
#[support::test]
fn caddy_accepts_the_file_without_a_warning() {
    let program = needs(Program::Caddy.installed());
    let folder = Folder::new();
    let file = folder.write(FILE, &for_version(&program));
    let mut adapt = Command::new(program);
    adapt.args(["adapt", "--validate", "--adapter", "caddyfile", "--config"]).arg(file);
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        adapt.env(variable, folder.path("home"));
    }
    let output = adapt.stdin(Stdio::null()).output().expect("Caddy starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("not formatted"), "{said}");
    // The same with the changes of the tests.
    let address = free_address();
    let (_, trusted) = command(&folder, address, address, &[]).expect("Caddy is here");
    assert!(!trusted.exists(), "only a start writes it");
}

#[support::test]
fn versions_are_compared_as_numbers() {
    for (output, knows) in [
        ("2.6.2", Some(false)),
        ("v2.6.4 h1:2hwYqiRwk1tf3VruhMpLcYTg+11fCdr8S3jhNAdnPy8=", Some(true)),
        ("v2.11.4-beta.1", Some(true)),
        ("(devel)", None),
    ] {
        let found = parse_version(output).map(|version| version >= KNOWS_REQUEST_BUFFERS);
        assert_eq!(found, knows, "{output}");
    }
}
