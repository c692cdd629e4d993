//! nginx with the committed `nginx.conf`.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use rcgen::{CertificateParams, KeyPair};
use support::{
    process::free_address,
    requirement::{Missing, needs},
};

use crate::{
    files::{Folder, HOST, committed, replace},
    front::{Changes, Program},
};

const FILE: &str = "nginx.conf";

/// Returns the committed file with these changes, with its ports on loopback, and with a certificate for [`HOST`] that nginx can read.
/// `site` is the folder of the certificate.
fn rendered(site: &Path, address: SocketAddr, server: SocketAddr, changes: Changes<'_>) -> String {
    let mut text = committed(FILE);
    for (words, new) in changes {
        text = replace(&text, words, new, 1);
    }
    let text = replace(&text, "server 127.0.0.1:8000;", &format!("server {server};"), 1);
    let text = replace(&text, "listen 443 ", &format!("listen {address} "), 1);
    // The tests run on machines without IPv6, too.
    let text = replace(&text, "listen [::]:443 ", &format!("listen {} ", free_address()), 1);
    let site = site.to_str().expect("a path in UTF-8");
    replace(&text, &format!("/etc/letsencrypt/live/{HOST}"), site, 2)
}

/// The main file of nginx, which includes the committed one as Debian's does. nginx runs as one process of the current user.
fn main_file(folder: &Folder) -> String {
    let at = |name: &str| folder.path(name).display().to_string();
    format!(
        "daemon off;\nmaster_process off;\npid {};\nerror_log stderr notice;\nevents {{}}\nhttp {{\naccess_log off;\n{}include {};\n}}\n",
        at("nginx.pid"),
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {};\n", at(name)))
            .concat(),
        at(FILE),
    )
}

/// Returns the command that starts nginx, and the certificate that its clients trust.
///
/// # Errors
///
/// [`Missing`] when nginx is not installed.
pub(crate) fn command(
    folder: &Folder,
    address: SocketAddr,
    server: SocketAddr,
    changes: Changes<'_>,
) -> Result<(Command, PathBuf), Missing> {
    let program = Program::Nginx.installed()?;
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new([HOST.to_owned()]).expect("a host name");
    let certificate = certificate.self_signed(&key).expect("a certificate").pem();
    let site = folder.path("site");
    fs::create_dir_all(&site).expect("the folder is writable");
    let trusted = folder.write("site/fullchain.pem", &certificate);
    folder.write("site/privkey.pem", &key.serialize_pem());
    folder.write(FILE, &rendered(&site, address, server, changes));
    let main = folder.write("main.conf", &main_file(folder));
    let mut command = Command::new(program);
    command.arg("-c").arg(main).arg("-p").arg(folder.path("."));
    Ok((command, trusted))
}

/// The comment above the lines `listen` says how.
#[support::test]
fn the_file_can_be_tried_without_a_certificate() {
    let program = needs(Program::Nginx.installed());
    let (folder, address) = (Folder::new(), free_address());
    let text = committed(FILE);
    let is_kept = |line: &&str| {
        !["listen ", "ssl_certificate"].iter().any(|start| line.trim_start().starts_with(start))
    };
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    assert_eq!(text.lines().count() - kept.len(), 4, "{text}");
    let name = format!("server_name {HOST};");
    let text = replace(&kept.join("\n"), &name, &format!("{name} listen {address};"), 1);
    folder.write(FILE, &text);
    let main = folder.write("main.conf", &main_file(&folder));
    let mut command = Command::new(program);
    let output = command.arg("-t").arg("-c").arg(main).arg("-p").arg(folder.path(".")).output();
    let output = output.expect("nginx starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[support::test]
fn nginx_accepts_the_file() {
    let (folder, address) = (Folder::new(), free_address());
    let (mut command, _) = needs(command(&folder, address, address, &[]));
    let output = command.arg("-t").output().expect("nginx starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // The file says which word newer versions warn about.
    let is_known = |line: &&str| line.contains("the \"listen ... http2\" directive is deprecated");
    let warnings: Vec<_> = said.lines().filter(|line| line.contains("[warn]")).collect();
    assert!(warnings.iter().all(is_known), "{said}");
}
