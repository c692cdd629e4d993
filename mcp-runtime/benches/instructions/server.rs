//! Process of the measured server.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{Failure, Load, Tokens, issuer::Issuer};

/// Time after which a step counts as hanging. Under valgrind everything takes fifty times as long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Server process, which is killed when this value is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Address at which the server listens, over HTTP.
    pub(crate) address: Option<SocketAddr>,
    /// Issuer of the tokens, if the server requires any.
    pub(crate) issuer: Option<Issuer>,
}

/// Measurements of a server that has ended.
pub(crate) struct Ended {
    /// Peak memory, in bytes.
    pub(crate) peak: Option<u64>,
}

impl Server {
    /// Starts the server, under valgrind if there is a `report` to write.
    pub(crate) fn start(rig: &Path, load: Load, report: Option<&Path>) -> Result<Self, Failure> {
        let mut command = match report {
            None => Command::new(rig),
            Some(report) => {
                let mut command = Command::new("valgrind");
                let mut file = std::ffi::OsString::from("--callgrind-out-file=");
                file.push(report);
                command.args(["-q", "--tool=callgrind"]).arg(file).arg(rig);
                command
            }
        };
        command.env_remove("TOOLS").env_remove("ISSUER").stderr(Stdio::null());
        let issuer = match load {
            Load::Stdio { .. } | Load::Http(_, Tokens::None) => None,
            Load::Http(..) => Some(Issuer::start()?),
        };
        if let Some(issuer) = &issuer {
            command.env("ISSUER", issuer.url());
        }
        let address = match load {
            Load::Stdio { .. } => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
                None
            }
            Load::Http(..) => {
                // The system chooses a free port, and the listener is dropped at once, so that the server can listen there.
                let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
                command.args(["--http", &address.to_string()]);
                command.stdin(Stdio::null()).stdout(Stdio::null());
                Some(address)
            }
        };
        let mut server = Self { child: command.spawn()?, address, issuer };
        if let Some(address) = address {
            server.wait_for(|_| TcpStream::connect(address).is_ok(), "it does not listen")?;
        }
        Ok(server)
    }

    /// Ends the server by closing its stdin, or with a signal over HTTP, and waits until it has ended.
    pub(crate) fn end(mut self) -> Result<Ended, Failure> {
        let peak = peak(self.child.id());
        drop(self.child.stdin.take());
        if self.address.is_some() {
            let id = self.child.id().to_string();
            Command::new("sh").args(["-c", "kill -TERM \"$1\"", "sh", &id]).status()?;
        }
        let mut status = None;
        self.wait_for(|child| ended(child, &mut status), "it does not end")?;
        match status {
            Some(status) if status.success() => Ok(Ended { peak }),
            _ => Err(format!("the server ended with {status:?}").into()),
        }
    }

    fn wait_for(
        &mut self,
        mut is: impl FnMut(&mut Child) -> bool,
        otherwise: &str,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        while !is(&mut self.child) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("the server is stuck: {otherwise}").into());
            }
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `end` the process has ended already, so errors are ignored.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ended(child: &mut Child, status: &mut Option<ExitStatus>) -> bool {
    *status = child.try_wait().ok().flatten();
    status.is_some()
}

fn peak(id: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

pub(crate) fn has_valgrind() -> bool {
    Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns the number of instructions that a whole process executed, from valgrind's report.
pub(crate) fn total(report: &str) -> Option<u64> {
    let total = |line: &str| {
        line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:"))?.trim().parse().ok()
    };
    report.lines().rev().find_map(total)
}
