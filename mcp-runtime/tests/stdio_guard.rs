//! Checks that after `StdioGuard::install` only the two streams of the guard reach the stdin and stdout of the process.
//!
//! This program starts itself again as a child process and holds the child's standard streams. There is no test harness, because a harness
//! would write to the stdout under test.

#[cfg(unix)]
fn main() {
    unix::main();
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File};
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::time::Duration;
    use std::{env, panic, thread};

    use mcp_runtime::__stdio::{StdioGuard, StdioInput, StdioOutput, restore};
    use rustix::fs::{OFlags, fcntl_getfl};
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};

    const ROLE: &str = "STDIO_GUARD_ROLE";
    const LINES: usize = 5_000;

    pub(super) fn main() {
        if let Ok(role) = env::var(ROLE) {
            return child(&role);
        }
        let cases: &[(&str, fn())] = &[
            ("only_output_reaches_the_wire", only_output_reaches_the_wire),
            ("stderr_in_the_same_pipe_neither_loses_nor_breaks_lines", stderr_in_the_same_pipe),
            ("flags_of_a_shared_description_are_left_alone", shared_flags),
            ("changed_flags_are_restored_by_drop", || restored_flags("echo")),
            ("changed_flags_are_restored_before_an_exit", || restored_flags("exit")),
            ("files_are_read_and_written", files),
            ("a_closed_stderr_is_replaced", closed_stderr),
            ("one_read_takes_all_there_is", one_read),
            ("a_slow_reader_loses_nothing", slow_reader),
            ("one_socket_may_be_both_streams", socket),
            ("a_slow_reader_of_a_socket_loses_nothing", slow_socket),
            ("a_client_that_went_away_is_an_error", client_gone),
            ("a_shutdown_ends_the_stream", shutdown),
            ("a_second_guard_is_refused", second_guard),
        ];
        let filter = env::args().nth(1).filter(|arg| !arg.starts_with('-')).unwrap_or_default();
        let mut failed = 0;
        for (name, case) in cases.iter().filter(|(name, _)| name.contains(&filter)) {
            let ok = panic::catch_unwind(case).is_ok();
            eprintln!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
            failed += usize::from(!ok);
        }
        assert_eq!(failed, 0, "failed cases");
    }

    /// Installs the guard and does what `role` demands, in the child process.
    fn child(role: &str) {
        let (guard, input, output) = StdioGuard::install().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            match role {
                "echo" => echo(input, output).await,
                "noise" => {
                    make_noise();
                    echo(input, output).await;
                }
                "exit" => {
                    echo(input, output).await;
                    restore();
                    std::process::exit(0);
                }
                "both" => write_both(output).await,
                "count" => count(input, output).await,
                "flood" => flood(output).await,
                "gone" => gone(input, output).await,
                "shutdown" => {
                    let mut output = output;
                    output.write_all(b"bye\n").await.unwrap();
                    output.shutdown().await.unwrap();
                    assert!(output.write_all(b"x").await.is_err());
                    // Waits until stdin is closed. The parent must see the end of stdout while this process still runs.
                    echo(input, output).await;
                }
                "second" => {
                    assert_eq!(
                        StdioGuard::install().unwrap_err().kind(),
                        io::ErrorKind::AlreadyExists
                    );
                    echo(input, output).await;
                }
                other => panic!("no role {other}"),
            }
        });
        drop(guard);
    }

    /// Answers every line with the same line in upper case.
    async fn echo(input: StdioInput, mut output: StdioOutput) {
        let mut lines = tokio::io::BufReader::new(input).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            output.write_all(format!("{}\n", line.to_uppercase()).as_bytes()).await.unwrap();
            output.flush().await.unwrap();
        }
    }

    /// Uses the standard streams as a careless program does.
    #[allow(clippy::print_stdout)]
    fn make_noise() {
        println!("noise by println");
        assert!(Command::new("echo").arg("noise by echo").status().unwrap().success());
        // `cat` ends at once, since there is nothing to read.
        assert!(Command::new("cat").status().unwrap().success());
        // Checks that a child process inherits no descriptor of this process.
        let script = "for fd in 3 4 5 6 7 8 9; do (echo noise by fd >&$fd) 2>/dev/null && exit 1; done; exit 0";
        assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
        assert_eq!(io::stdin().read(&mut [0]).unwrap(), 0);
    }

    async fn write_both(mut output: StdioOutput) {
        let stderr = thread::spawn(|| {
            for n in 0..LINES {
                let line = format!("err {n:05} {}\n", "e".repeat(n % 80));
                io::stderr().write_all(line.as_bytes()).unwrap();
            }
        });
        for n in 0..LINES {
            output
                .write_all(format!("out {n:05} {}\n", "o".repeat(n % 300)).as_bytes())
                .await
                .unwrap();
        }
        output.flush().await.unwrap();
        stderr.join().unwrap();
    }

    async fn count(mut input: StdioInput, mut output: StdioOutput) {
        let count = input.read(&mut vec![0; 64 * 1024]).await.unwrap();
        output.write_all(format!("{count}\n").as_bytes()).await.unwrap();
        output.flush().await.unwrap();
    }

    async fn flood(mut output: StdioOutput) {
        for n in 0..LINES {
            output.write_all(flood_line(n).as_bytes()).await.unwrap();
        }
        output.flush().await.unwrap();
    }

    fn flood_line(n: usize) -> String {
        format!("{n:05} {}\n", "x".repeat(n * 7 % 1999))
    }

    async fn gone(mut input: StdioInput, mut output: StdioOutput) {
        assert_eq!(input.read(&mut [0; 8]).await.unwrap(), 0);
        let error = output.write_all(b"x\n").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        eprintln!("gone");
    }

    fn command(role: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Like `command`, but a shell redirects its own streams and then becomes the child.
    fn command_in_shell(role: &str, redirection: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("exec \"$0\" {redirection}"))
            .arg(env::current_exe().unwrap());
        command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Sends `input` to the child. Returns what the child wrote to stdout and to stderr, and its exit status.
    fn run(mut child: Child, input: &[u8]) -> (String, String, ExitStatus) {
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status)
    }

    fn check(mut command: Command, input: &str, stdout: &str, stderr: &str) {
        let child = command.spawn().unwrap();
        let (out, err, status) = run(child, input.as_bytes());
        assert_eq!((&*out, &*err), (stdout, stderr));
        assert!(status.success(), "{status}");
    }

    fn only_output_reaches_the_wire() {
        check(command("noise"), "one\ntwo\n", "ONE\nTWO\n", "noise by println\nnoise by echo\n");
    }

    fn stderr_in_the_same_pipe() {
        let mut child = command_in_shell("both", "2>&1").spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut text = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            if text.len() % (40 * chunk.len()) < chunk.len() {
                // The pauses let the pipe fill up again and again.
                thread::sleep(Duration::from_millis(20));
            }
            match stdout.read(&mut chunk).unwrap() {
                0 => break,
                count => text.extend_from_slice(&chunk[..count]),
            }
        }
        let text = String::from_utf8(text).unwrap();
        let (mut out, mut err) = (0, 0);
        for line in text.lines() {
            if line.starts_with("out") {
                assert_eq!(line, format!("out {out:05} {}", "o".repeat(out % 300)));
                out += 1;
            } else {
                assert_eq!(line, format!("err {err:05} {}", "e".repeat(err % 80)));
                err += 1;
            }
        }
        assert_eq!((out, err), (LINES, LINES));
        assert!(child.wait().unwrap().success());
    }

    /// Starts `command` with a pipe as stdout, and keeps both ends of the pipe. Waits for one line, which shows that the child runs.
    fn with_shared_stdout(
        mut command: Command,
    ) -> (Child, io::PipeWriter, BufReader<io::PipeReader>) {
        let (reader, writer) = io::pipe().unwrap();
        let mut child = command.stdout(writer.try_clone().unwrap()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"ready\n").unwrap();
        let mut reader = BufReader::new(reader);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "READY\n");
        (child, writer, reader)
    }

    fn is_nonblocking(fd: impl std::os::fd::AsFd) -> bool {
        fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
    }

    fn shared_flags() {
        let (child, writer, _reader) = with_shared_stdout(command_in_shell("echo", "2>&1"));
        assert!(!is_nonblocking(&writer));
        assert!(run(child, b"").2.success());
    }

    fn restored_flags(role: &str) {
        let (child, writer, _reader) = with_shared_stdout(command(role));
        assert!(is_nonblocking(&writer), "a pipe of its own is polled");
        assert!(run(child, b"").2.success());
        assert!(!is_nonblocking(&writer));
    }

    fn files() {
        let path =
            |name: &str| env::temp_dir().join(format!("stdio-guard-{}-{name}", std::process::id()));
        let (input, output) = (path("in"), path("out"));
        let text = (0..LINES).map(|n| format!("line {n}\n")).collect::<String>();
        fs::write(&input, &text).unwrap();
        let mut command = command("echo");
        command.stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap());
        let status = command.status().unwrap();
        let written = fs::read_to_string(&output).unwrap();
        fs::remove_file(input).unwrap();
        fs::remove_file(output).unwrap();
        assert!(status.success());
        assert_eq!(written, text.to_uppercase());
    }

    fn closed_stderr() {
        check(command_in_shell("noise", "2>&-"), "one\n", "ONE\n", "");
    }

    fn one_read() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(&[b'x'; 50_000]).unwrap();
        let child = command("count").stdin(reader).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "50000\n");
        drop(writer);
    }

    fn slow_reader() {
        let mut child = command("flood").spawn().unwrap();
        thread::sleep(Duration::from_millis(300));
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(text == (0..LINES).map(flood_line).collect::<String>(), "{} bytes", text.len());
        assert!(child.wait().unwrap().success());
    }

    fn socket() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let theirs = OwnedFd::from(theirs);
        let mut command = command("noise");
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        let child = command.spawn().unwrap();
        ours.write_all(b"one\ntwo\n").unwrap();
        ours.shutdown(Shutdown::Write).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(output.stderr, b"noise by println\nnoise by echo\n");
        assert!(!is_nonblocking(&theirs));
        drop((theirs, command));
        let mut text = String::new();
        ours.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ONE\nTWO\n");
    }

    fn slow_socket() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut child = command("flood").stdout(OwnedFd::from(theirs)).spawn().unwrap();
        thread::sleep(Duration::from_millis(300));
        let mut text = String::new();
        ours.read_to_string(&mut text).unwrap();
        assert!(text == (0..LINES).map(flood_line).collect::<String>(), "{} bytes", text.len());
        assert!(child.wait().unwrap().success());
    }

    fn client_gone() {
        let mut command = command("gone");
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let (_, err, status) = run(child, b"");
        assert_eq!(err, "gone\n");
        assert!(status.success());
    }

    fn shutdown() {
        let mut child = command("shutdown").spawn().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "bye\n");
        assert_eq!(child.try_wait().unwrap(), None, "it still waits for input");
        assert!(run(child, b"").2.success());
    }

    fn second_guard() {
        check(command("second"), "a\n", "A\n", "");
    }
}
