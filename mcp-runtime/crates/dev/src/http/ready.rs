//! Reports of servers that listen, and the file that a server leaves to the next server. A variable tells a server the port and the secret of
//! its report. Other users of the machine can connect to this port, but cannot read the variables of a process.

use std::{
    env, fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

/// Variable of a server that `dev` has started. Its value has the id of the process of `dev`, the secret and the address of the report, and
/// the key and the path of the kept file.
pub(crate) const READY: &str = "MCP_RUNTIME_DEV_READY";

/// Maximum number of bytes of a report.
const REPORT: u64 = 4096;

/// Time in which a connection has to send its report.
const SENDING: Duration = Duration::from_secs(10);

/// Number of connections that are read at a time. Further ones wait.
const CONNECTIONS: usize = 64;

/// Addresses of a server that listens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ServerAddress {
    /// Id of the process of the server.
    pub process: u32,
    /// URL of its endpoint.
    pub url: String,
    /// URL of its playground, if it has one.
    pub playground: Option<String>,
}

impl ServerAddress {
    fn socket(&self) -> Option<SocketAddr> {
        self.url.strip_prefix("http://")?.split('/').next()?.parse().ok()
    }
}

/// Line that a server sends.
#[derive(Deserialize, Serialize)]
struct Report {
    secret: String,
    server: ServerAddress,
}

/// Process of `dev` that has started this server and waits until it listens.
#[derive(PartialEq)]
pub struct Supervisor {
    secret: String,
    address: String,
    kept: Option<KeptFile>,
}

impl Supervisor {
    /// Finds the supervisor of this process. A program that a server starts inherits the variable and is not meant.
    #[must_use]
    pub fn find() -> Option<Self> {
        #[cfg(unix)]
        let parent = Some(std::os::unix::process::parent_id());
        // The standard library does not know the parent there.
        #[cfg(not(unix))]
        let parent = None;
        Self::read(&env::var(READY).ok()?, parent)
    }

    fn read(variable: &str, parent: Option<u32>) -> Option<Self> {
        // The path may contain spaces.
        let mut words = variable.splitn(5, ' ');
        let process: u32 = words.next()?.parse().ok()?;
        let (secret, address) = (words.next()?.to_owned(), words.next()?.to_owned());
        let kept = words.next().zip(words.next());
        let kept = kept.and_then(|(key, path)| Some(KeptFile::new(path.into(), key_of(key)?)));
        let supervisor = Self { secret, address, kept };
        parent.is_none_or(|parent| parent == process).then_some(supervisor)
    }

    /// Returns the file with the lines of earlier servers, to which this server appends lines for the next server. `None` if the path of the
    /// file is not Unicode.
    #[must_use]
    pub fn kept(&self) -> Option<KeptFile> {
        self.kept.clone()
    }

    /// Reports that this server listens. The supervisor closes the returned connection when the server has to end.
    ///
    /// # Errors
    /// Fails if the supervisor has ended.
    pub fn report(self, server: ServerAddress) -> io::Result<std::net::TcpStream> {
        let mut stream = std::net::TcpStream::connect(self.address)?;
        let report = Report { secret: self.secret, server };
        stream.write_all((serde_json::to_string(&report)? + "\n").as_bytes())?;
        Ok(stream)
    }
}

impl fmt::Debug for Supervisor {
    /// The secret is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Supervisor");
        shown.field("address", &self.address).field("kept", &self.kept).finish_non_exhaustive()
    }
}

/// Port at which a server that starts reports.
pub(crate) struct Reports {
    listener: TcpListener,
    address: SocketAddr,
    secret: String,
}

impl Reports {
    /// Opens a port of this machine.
    ///
    /// # Errors
    /// Fails if the system has no free port or no random numbers.
    pub(crate) async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let secret = hex(&random::<16>()?);
        Ok(Self { listener, address, secret })
    }

    /// Returns the value of the variable of the server.
    pub(crate) fn variable(&self, kept: &KeptFile) -> String {
        let variable = format!("{} {} {}", std::process::id(), self.secret, self.address);
        match kept.path().to_str() {
            Some(path) => format!("{variable} {} {path}", hex(&kept.key)),
            // The server keeps nothing.
            None => variable,
        }
    }

    /// Waits for the report of a process. Each connection is read on its own, so that none can hold up the others.
    pub(crate) async fn report_of(
        &self,
        process: Option<u32>,
    ) -> (ServerAddress, SocketAddr, TcpStream) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                    Ok((stream, _)) => drop(connections.spawn(timeout(SENDING, read(stream)))),
                    // There are too many open files, for example.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                },
                Some(read) = connections.join_next() => {
                    let Ok(Ok(Some((report, stream)))) = read else { continue };
                    // On Windows, a program that the server starts has the secret too, and is not meant.
                    if report.secret != self.secret || Some(report.server.process) != process {
                        continue;
                    }
                    if let Some(address) = report.server.socket() {
                        return (report.server, address, stream);
                    }
                }
            }
        }
    }
}

async fn read(stream: TcpStream) -> Option<(Report, TcpStream)> {
    let mut reader = BufReader::new(stream.take(REPORT));
    let mut line = String::new();
    reader.read_line(&mut line).await.ok()?;
    let report = serde_json::from_str(&line).ok()?;
    Some((report, reader.into_inner().into_inner()))
}

/// File to which the servers of one `dev` append lines. It is in the folder of the copies, and is removed with this folder when `dev` ends.
/// `dev` does not read the lines.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptFile {
    path: PathBuf,
    key: [u8; 32],
}

impl KeptFile {
    /// Names the file. The first line creates it.
    #[must_use]
    pub fn new(path: PathBuf, key: [u8; 32]) -> Self {
        Self { path, key }
    }

    /// Names the file, and creates its key.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub(crate) fn with_random_key(path: PathBuf) -> io::Result<Self> {
        Ok(Self::new(path, random()?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the random key that `dev` gives to all of its servers. The file does not contain it, so that a server can encrypt parts of its lines
    /// for the next server.
    #[must_use]
    pub fn key(&self) -> [u8; 32] {
        self.key
    }

    /// Reads all lines. A file that does not exist yet has none. A server that was killed may have left a part of a line.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn lines(&self) -> io::Result<Vec<String>> {
        match fs::read(&self.path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Adds a line at the end, after the lines of a server that still runs beside this one. Other users of the machine cannot read it.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn append(&self, line: &str) -> io::Result<()> {
        // The last line in the file may have no end.
        self.open()?.write_all(format!("\n{line}\n").as_bytes())
    }

    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.path)
    }
}

impl fmt::Debug for KeptFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeptFile").field(&self.path).finish()
    }
}

/// Returns random bytes.
///
/// # Errors
/// Fails if the system has no random numbers.
fn random<const LENGTH: usize>() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the key with this text. `None` if the text is something else.
fn key_of(hex: &str) -> Option<[u8; 32]> {
    let bytes = (0..hex.len()).step_by(2);
    let bytes = bytes.map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok());
    bytes.collect::<Option<Vec<_>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    fn server(process: u32, port: u16) -> ServerAddress {
        ServerAddress { process, url: format!("http://127.0.0.1:{port}/mcp"), playground: None }
    }

    #[tokio::test]
    async fn only_the_server_that_knows_the_secret_is_believed() {
        let reports = Reports::open().await.unwrap();
        // These connections come first: two without an end, and two that know the process only.
        let mut open = Vec::new();
        let endless = vec![b'{'; 64 * 1024];
        let foreign = |secret: &str| {
            let report = Report { secret: secret.to_owned(), server: server(7, 1) };
            (serde_json::to_string(&report).unwrap() + "\n").into_bytes()
        };
        for bytes in [Vec::new(), endless, foreign(""), foreign("0")] {
            let mut stream = TcpStream::connect(reports.address).await.unwrap();
            // The port may have closed the connection already.
            let _ = stream.write_all(&bytes).await;
            open.push(stream);
        }
        let variable = reports.variable(&KeptFile::new("/a b/kept".into(), [9; 32]));
        let report = move |process, port| {
            let supervisor = Supervisor::read(&variable, Some(std::process::id()));
            supervisor.unwrap().report(server(process, port)).unwrap()
        };
        let sent = tokio::task::spawn_blocking(move || [report(8, 2), report(7, 3)]);
        let (found, address, _stream) = reports.report_of(Some(7)).await;
        assert_eq!((found, address.port()), (server(7, 3), 3));
        drop((sent.await.unwrap(), open));
    }

    #[test]
    fn a_program_that_a_server_starts_has_no_supervisor() {
        let variable = format!("12 secret 127.0.0.1:1 {} /a b/kept", "09".repeat(32));
        assert_eq!(Supervisor::read(&variable, Some(13)), None);
        assert_eq!(Supervisor::read("127.0.0.1:1", Some(12)), None);
        let kept = Some(KeptFile::new("/a b/kept".into(), [9; 32]));
        let found = Supervisor { secret: "secret".into(), address: "127.0.0.1:1".into(), kept };
        assert!(!format!("{found:?}").contains("secret"));
        assert_eq!(Supervisor::read(&variable, Some(12)), Some(found));
        for wrong in ["", "0", "09", "zz"] {
            let variable = format!("12 secret 127.0.0.1:1 {wrong} /a b/kept");
            assert_eq!(Supervisor::read(&variable, Some(12)).unwrap().kept, None);
        }
    }

    #[test]
    fn lines_of_two_servers_follow_each_other_in_a_private_file() {
        let path = std::env::temp_dir().join(format!("mcp-runtime-kept-{}", std::process::id()));
        let [first, second] = [1, 2].map(|_| KeptFile::new(path.clone(), [9; 32]));
        assert_eq!(first.lines().unwrap(), Vec::<String>::new());
        for (file, line) in [(&first, "a"), (&second, "b"), (&first, "c")] {
            file.append(line).unwrap();
        }
        assert_eq!(second.lines().unwrap(), ["a", "b", "c"]);
        // A server that was killed has left the first byte of `é`.
        first.open().unwrap().write_all(b"torn \xc3").unwrap();
        second.append("d").unwrap();
        assert_eq!(first.lines().unwrap(), ["a", "b", "c", "torn \u{fffd}", "d"]);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_file(path).unwrap();
    }
}
