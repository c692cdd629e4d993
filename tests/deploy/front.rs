//! A proxy in front of a server, and the TLS connections of its clients.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use support::{
    clock::eventually,
    examples::example,
    process::{Running, free_address},
    requirement::{Missing, needs},
};
use tokio::{
    io::{copy, split},
    net::{TcpListener, TcpSocket, TcpStream},
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

use crate::{
    caddy,
    client::run,
    files::{Folder, HOST},
    nginx,
};

/// A program that terminates TLS in front of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Program {
    Nginx,
    Caddy,
}

pub(crate) const BOTH: [Program; 2] = [Program::Nginx, Program::Caddy];

/// Runs a test behind nginx, and then behind Caddy. If a program is missing, the test runs behind the other one, and then ends as ignored.
pub(crate) fn behind_both(test: impl AsyncFn(Program)) {
    // The first call builds the examples, which may take longer than a test may.
    example("quickstart");
    let programs = BOTH.map(|program| program.installed().map(|_| run(test(program))));
    programs.into_iter().for_each(needs);
}

/// Words of the committed file that a test replaces in addition to ports and paths.
pub(crate) type Changes<'a> = &'a [(&'a str, &'a str)];

/// A running proxy with its committed file. It ends when the value is dropped.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    /// Certificate of the proxy, or of the authority that has signed the certificate.
    pub(crate) trusted: PathBuf,
    // The process ends before its folder is removed.
    _process: Running,
    _folder: Folder,
}

impl Program {
    /// Returns the command of the program.
    ///
    /// # Errors
    ///
    /// [`Missing`] when it is not installed.
    pub(crate) fn installed(self) -> Result<String, Missing> {
        match self {
            Self::Nginx => installed("nginx", "-v", "nginx"),
            Self::Caddy => installed("caddy", "version", "caddy"),
        }
    }
}

impl Front {
    /// Starts the program in front of the server at this address. `changes` are words of the committed file, each with the word that replaces
    /// it.
    ///
    /// # Errors
    ///
    /// [`Missing`] when the program is not installed.
    pub(crate) async fn start(
        program: Program,
        server: SocketAddr,
        changes: Changes<'_>,
    ) -> Result<Self, Missing> {
        let (address, folder) = (free_address(), Folder::new());
        let (mut command, trusted) = match program {
            Program::Nginx => nginx::command(&folder, address, server, changes)?,
            Program::Caddy => caddy::command(&folder, address, server, changes)?,
        };
        let log = folder.write("log", "");
        let output =
            || fs::File::options().append(true).open(&log).expect("the folder is writable");
        let mut process =
            Running::start(command.stdin(Stdio::null()).stdout(output()).stderr(output()));
        eventually("the proxy answers over TLS", async || {
            if let Some(status) = process.wait(Duration::ZERO) {
                panic!("{program:?}: {status}: {}", fs::read_to_string(&log).unwrap_or_default());
            }
            let stream = TcpStream::connect(address).await.ok()?;
            connector(&trusted)?.connect(name(), stream).await.ok()
        })
        .await;
        Ok(Self { address, trusted, _process: process, _folder: folder })
    }

    /// Returns an address that takes plain connections, and passes them to the proxy over TLS. The client has verified the certificate.
    pub(crate) async fn secured(&self) -> SocketAddr {
        self.secured_for(Ipv4Addr::LOCALHOST).await
    }

    /// Like [`secured`](Self::secured), with the address from which the connections to the proxy come. On Linux every address of
    /// 127.0.0.0/8 belongs to the loopback interface.
    pub(crate) async fn secured_for(&self, client: Ipv4Addr) -> SocketAddr {
        let connector = connector(&self.trusted).expect("the certificate was read at the start");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (here, proxy) = (listener.local_addr().expect("it has an address"), self.address);
        tokio::spawn(async move {
            while let Ok((mut plain, _)) = listener.accept().await {
                let connector = connector.clone();
                tokio::spawn(async move {
                    let socket = TcpSocket::new_v4()?;
                    socket.bind((client, 0).into())?;
                    let stream = socket.connect(proxy).await?;
                    // Small messages are not delayed.
                    stream.set_nodelay(true)?;
                    plain.set_nodelay(true)?;
                    let secure = connector.connect(name(), stream).await?;
                    let ((mut from, mut to), (mut received, mut sent)) =
                        (plain.split(), split(secure));
                    // A client that leaves closes both directions at once.
                    tokio::select! {
                        copied = copy(&mut from, &mut sent) => copied,
                        copied = copy(&mut received, &mut to) => copied,
                    }
                });
            }
        });
        here
    }
}

fn name() -> ServerName<'static> {
    ServerName::try_from(HOST).expect("a host name")
}

/// Returns a TLS client that trusts this certificate alone, or `None` if there is no such file yet. The client speaks HTTP/1.1.
fn connector(trusted: &Path) -> Option<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted).ok()?).ok()?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Some(TlsConnector::from(Arc::new(config)))
}

/// Checks that a program of this name can be started with this argument, and returns its name or path. `package` is the package of Debian.
///
/// # Errors
///
/// [`Missing`] when it is not installed.
pub(crate) fn installed(name: &str, version: &str, package: &str) -> Result<String, Missing> {
    // Debian installs servers into a folder that is in the `PATH` of root only.
    for program in [name.to_owned(), format!("/usr/sbin/{name}")] {
        let run = Command::new(&program)
            .arg(version)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .status();
        if run.is_ok_and(|status| status.success()) {
            return Ok(program);
        }
    }
    Err(Missing::new(format!("{name} (in Debian: apt-get install {package})")))
}
