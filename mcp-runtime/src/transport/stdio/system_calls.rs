//! Calls of the system that the standard library does not provide, for Unix: on file descriptors, and before the end of the process.
//!
//! This module calls `libc` directly, on which tokio depends anyway. A crate with safe wrappers for all of Unix takes longer to compile
//! than any other crate that the stdio transport needs (`docs/decisions/0099-a-first-server-builds-only-what-it-runs.md`).

use std::{
    io,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd},
    sync::OnceLock,
};

/// Standard stream of the process, by its number.
#[derive(Clone, Copy)]
pub(super) enum StandardStream {
    Input = 0,
    Output = 1,
    Error = 2,
}

impl StandardStream {
    fn number(self) -> RawFd {
        self as RawFd
    }

    /// Whether the process has a descriptor with this number.
    pub(super) fn is_open(self) -> bool {
        // SAFETY: F_GETFD reads a flag of the descriptor and no memory. It fails for a number that is not open.
        unsafe { libc::fcntl(self.number(), libc::F_GETFD) != -1 }
    }

    /// Duplicates the stream; see [`duplicate`]. Fails if the stream is closed.
    pub(super) fn duplicate(self) -> io::Result<OwnedFd> {
        duplicate_number(self.number())
    }

    /// Makes the stream refer to the same file as `other`. Child processes inherit the stream.
    pub(super) fn redirect_to(self, other: impl AsFd) -> io::Result<()> {
        let other = other.as_fd().as_raw_fd();
        // SAFETY: dup2 touches no memory. The standard streams belong to the process as a whole: no `OwnedFd` closes them, and all code has
        // to expect that they may be redirected.
        retry(|| unsafe { libc::dup2(other, self.number()) }).map(drop)
    }
}

/// Duplicates a descriptor to a number above those of the standard streams. Child processes do not inherit the new descriptor.
pub(super) fn duplicate(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    duplicate_number(fd.as_raw_fd())
}

fn duplicate_number(number: RawFd) -> io::Result<OwnedFd> {
    let lowest: libc::c_int = StandardStream::Error.number() + 1;
    // SAFETY: F_DUPFD_CLOEXEC touches no memory and changes no other descriptor. It fails for a number that is not open.
    let new = retry(|| unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, lowest) })?;
    // SAFETY: the system has just opened this descriptor, so the new `OwnedFd` is its only owner.
    Ok(unsafe { OwnedFd::from_raw_fd(new) })
}

/// Whether reads and writes return `WouldBlock` instead of waiting.
pub(super) fn is_nonblocking(fd: impl AsFd) -> io::Result<bool> {
    Ok(status_flags(fd.as_fd())? & libc::O_NONBLOCK != 0)
}

/// Sets whether reads and writes return `WouldBlock` instead of waiting, for all descriptors of the same open file description.
pub(super) fn set_nonblocking(fd: impl AsFd, nonblocking: bool) -> io::Result<()> {
    let flags = status_flags(fd.as_fd())?;
    let flags = if nonblocking { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
    // SAFETY: F_SETFL touches no memory. The descriptor is open as long as it is borrowed.
    retry(|| unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

fn status_flags(fd: BorrowedFd<'_>) -> io::Result<libc::c_int> {
    // SAFETY: F_GETFL touches no memory. The descriptor is open as long as it is borrowed.
    retry(|| unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })
}

/// Event that [`wait`] waits for.
#[derive(Clone, Copy)]
pub(super) enum Readiness {
    /// A read would not block.
    Read,
    /// A write would not block.
    Write,
    /// The other end of a pipe or a socket is closed. Available input is ignored.
    Hangup,
}

/// Blocks the thread until the descriptor is ready or has an error.
pub(super) fn wait(fd: impl AsFd, readiness: Readiness) -> io::Result<()> {
    const FOREVER: libc::c_int = -1;
    poll(fd, readiness, FOREVER).map(drop)
}

/// Waits at most `timeout` milliseconds. Returns whether the descriptor is ready or has an error.
fn poll(fd: impl AsFd, readiness: Readiness, timeout: libc::c_int) -> io::Result<bool> {
    let events = match readiness {
        Readiness::Read => libc::POLLIN,
        Readiness::Write => libc::POLLOUT,
        // `poll` reports a hangup even if no events are requested.
        Readiness::Hangup => 0,
    };
    let mut polled = libc::pollfd { fd: fd.as_fd().as_raw_fd(), events, revents: 0 };
    // SAFETY: the pointer is to one `pollfd`, which matches the length of 1, and no other code uses it during the call.
    retry(|| unsafe { libc::poll(&raw mut polled, 1, timeout) }).map(|ready| ready > 0)
}

/// Returns the number of bytes that can be read from a pipe.
pub(super) fn unread_bytes(pipe: impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: FIONREAD writes one `c_int`, to which the pointer points, and no other code uses it during the call.
    retry(|| unsafe { libc::ioctl(pipe.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Runs a function when the process exits, after `main` or in [`std::process::exit`].
pub(super) fn at_exit(run: extern "C" fn()) {
    // SAFETY: atexit only stores the pointer of the function, which is valid for as long as the process. If there is no memory for it, the
    // function does not run.
    unsafe { libc::atexit(run) };
}

/// Runs a function before SIGABRT ends the process, unless the program already handles or ignores this signal. Further calls do nothing.
///
/// The function runs in a signal handler, so it must not take a lock or allocate memory.
pub(super) fn before_abort(run: fn()) {
    if BEFORE_ABORT.set(run).is_err() || !abort_is_default() {
        return;
    }
    // SAFETY: `sigaction` is a C struct, for which zeros are valid: no flags, and an empty set of signals.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = aborting as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESETHAND;
    // SAFETY: `aborting` has the signature of a handler without SA_SIGINFO, and the system copies `action`.
    unsafe { libc::sigaction(libc::SIGABRT, &raw const action, std::ptr::null_mut()) };
}

static BEFORE_ABORT: OnceLock<fn()> = OnceLock::new();

extern "C" fn aborting(_: libc::c_int) {
    if let Some(run) = BEFORE_ABORT.get() {
        run();
    }
    // If the program has installed a handler later, that handler has called this one, and decides itself.
    if abort_is_default() {
        // SAFETY: raise touches no memory. The signal is blocked while its handler runs, so it ends the process after that.
        unsafe { libc::raise(libc::SIGABRT) };
    }
}

/// Whether SIGABRT ends the process without a handler.
fn abort_is_default() -> bool {
    // SAFETY: `sigaction` is a C struct, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action, the call only writes the present one to the pointer.
    let known = unsafe { libc::sigaction(libc::SIGABRT, std::ptr::null(), &raw mut action) } == 0;
    known && action.sa_sigaction == libc::SIG_DFL
}

/// Repeats a system call that a signal has interrupted. A system call returns -1 if it fails.
fn retry(mut call: impl FnMut() -> libc::c_int) -> io::Result<libc::c_int> {
    loop {
        let result = call();
        if result != -1 {
            return Ok(result);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, os::unix::net::UnixStream};

    use super::*;

    #[test]
    fn a_duplicate_has_a_number_above_the_standard_streams() {
        let (stream, _other) = UnixStream::pair().unwrap();
        assert!(duplicate(stream.as_fd()).unwrap().as_raw_fd() > 2);
        assert!(StandardStream::Error.is_open());
        assert!(StandardStream::Error.duplicate().unwrap().as_raw_fd() > 2);
    }

    #[test]
    fn nonblocking_holds_for_every_descriptor_of_the_file() {
        let (stream, _other) = UnixStream::pair().unwrap();
        let duplicate = duplicate(stream.as_fd()).unwrap();
        assert!(!is_nonblocking(&duplicate).unwrap());
        set_nonblocking(&stream, true).unwrap();
        assert!(is_nonblocking(&duplicate).unwrap());
        set_nonblocking(&duplicate, false).unwrap();
        assert!(!is_nonblocking(&stream).unwrap());
    }

    #[test]
    fn input_is_no_hangup() {
        let (stream, mut other) = UnixStream::pair().unwrap();
        let is_ready = |readiness| poll(&stream, readiness, 0).unwrap();
        assert!(is_ready(Readiness::Write));
        assert!(!is_ready(Readiness::Read));
        other.write_all(b"x").unwrap();
        assert!(is_ready(Readiness::Read));
        assert!(!is_ready(Readiness::Hangup));
        drop(other);
        assert!(is_ready(Readiness::Hangup));
        wait(&stream, Readiness::Hangup).unwrap();
    }
}
