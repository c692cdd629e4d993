//! Several nodes of a server that share a Redis, behind nginx with the settings of `examples/cluster`.

use std::{
    env, fs,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    clock::eventually_blocking,
    process::{HttpServer, Running, free_address, send_signal},
    redis::RedisServer,
    requirement::Missing,
    slow::SlowProxy,
};

/// Settings of nginx, with the ports 8000 to 8003.
const SETTINGS: &str = include_str!("../../examples/cluster/nginx.conf");

/// Number of nodes.
pub const NODES: usize = 3;

/// Running nodes, Redis and nginx.
pub struct ServerCluster {
    /// Address of nginx, which sends each request to the next node.
    pub address: SocketAddr,
    /// Store of the nodes.
    pub redis: RedisServer,
    /// URL by which the nodes reach Redis.
    store: String,
    /// Time in milliseconds that the fixture gives Redis for an answer.
    deadline: u32,
    binary: PathBuf,
    nodes: [Option<HttpServer>; NODES],
    addresses: [SocketAddr; NODES],
    nginx: Running,
    folder: PathBuf,
}

impl ServerCluster {
    /// Starts three processes of a program that reads `MCP_REDIS_URL`, and waits until nginx accepts connections.
    ///
    /// The fixture reads `FIXTURE_REDIS` in its place, and gives Redis 20 seconds for an answer. With the usual 250 ms, requests fail on a
    /// busy machine.
    ///
    /// # Errors
    ///
    /// Fails if Redis or nginx is not installed.
    pub fn start(binary: &Path) -> Result<Self, Missing> {
        Self::start_with(binary, &[], 20_000, None)
    }

    /// Like [`start`](Self::start), with options for Redis. The fixture gives Redis two seconds for an answer, so that the nodes soon notice
    /// when the test stops Redis.
    ///
    /// # Errors
    ///
    /// Fails if Redis or nginx is not installed.
    pub fn start_for_outage(binary: &Path, options: &[&str]) -> Result<Self, Missing> {
        Self::start_with(binary, options, 2000, None)
    }

    /// Like [`start`](Self::start), with a delay in each direction between the nodes and Redis.
    ///
    /// # Errors
    ///
    /// Fails if Redis or nginx is not installed.
    pub fn start_slow(binary: &Path, delay: Duration) -> Result<Self, Missing> {
        Self::start_with(binary, &[], 20_000, Some(delay))
    }

    fn start_with(
        binary: &Path,
        options: &[&str],
        deadline: u32,
        delay: Option<Duration>,
    ) -> Result<Self, Missing> {
        let nginx = nginx()?;
        let redis = RedisServer::start(options)?;
        let store = match delay {
            None => redis.url(),
            Some(delay) => {
                let proxy = SlowProxy::start(([127, 0, 0, 1], redis.port()).into(), delay);
                format!("redis://{}", proxy.address)
            }
        };
        let (address, addresses) = (free_address(), [(); NODES].map(|()| free_address()));
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mcp-cluster-{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        // Otherwise a worker process would outlive the process that the test ends.
        let mut settings = format!("master_process off;\n{SETTINGS}");
        for (port, own) in (8000..).zip([address].iter().chain(&addresses)) {
            let written = format!("127.0.0.1:{port}");
            assert!(settings.contains(&written), "{written} in {settings}");
            settings = settings.replace(&written, &own.to_string());
        }
        let file = folder.join("nginx.conf");
        fs::write(&file, settings).expect("the folder is writable");
        let log = fs::File::create(folder.join("nginx.log")).expect("the folder is writable");
        let mut command = Command::new(nginx);
        command.arg("-p").arg(&folder).arg("-c").arg(file).args(["-e", "stderr"]);
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let nginx = Running::start(output);
        let mut cluster = Self {
            address,
            redis,
            store,
            deadline,
            binary: binary.to_owned(),
            nodes: [const { None }; NODES],
            addresses,
            nginx,
            folder,
        };
        for node in 0..NODES {
            cluster.start_node(node);
        }
        cluster.wait_for_nginx();
        Ok(cluster)
    }

    fn wait_for_nginx(&self) {
        eventually_blocking("nginx listens", || TcpStream::connect(self.address).ok());
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns the address of a node, for a client that passes by nginx.
    pub fn node(&self, node: usize) -> SocketAddr {
        self.addresses[node]
    }

    /// Returns the process id of a node.
    ///
    /// # Panics
    ///
    /// When the node does not run.
    pub fn pid(&self, node: usize) -> u32 {
        self.nodes[node].as_ref().expect("the node runs").pid()
    }

    /// Returns the log of nginx.
    pub fn nginx_log(&self) -> String {
        fs::read_to_string(self.folder.join("nginx.log")).expect("nginx has a log")
    }

    /// Stops nginx from doing anything.
    pub fn pause_nginx(&self) {
        send_signal(self.nginx.pid(), Signal::STOP);
    }

    /// Lets nginx go on.
    pub fn resume_nginx(&self) {
        send_signal(self.nginx.pid(), Signal::CONT);
    }

    /// Returns the process ids of the running nodes.
    pub fn pids(&self) -> Vec<u32> {
        self.nodes.iter().flatten().map(HttpServer::pid).collect()
    }

    /// Starts a node that does not run, at its address.
    pub fn start_node(&mut self, node: usize) {
        let url = || PathBuf::from(&self.store);
        let variables = [
            ("MCP_REDIS_URL", url()),
            ("FIXTURE_REDIS", url()),
            ("FIXTURE_REDIS_DEADLINE", PathBuf::from(self.deadline.to_string())),
        ];
        let options = ["--trust-proxy", "127.0.0.1", "--legacy-sse"];
        let server = HttpServer::start_at(self.addresses[node], &self.binary, &options, &variables);
        self.nodes[node] = Some(server);
    }

    /// Takes the process of a node, to end it.
    ///
    /// # Panics
    ///
    /// When the node does not run.
    pub fn take(&mut self, node: usize) -> HttpServer {
        self.nodes[node].take().expect("the node runs")
    }
}

impl Drop for ServerCluster {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the name or the path of nginx.
fn nginx() -> Result<&'static str, Missing> {
    // Debian installs nginx into a folder that is in the `PATH` of root only.
    let starts = |program: &&str| {
        let mut command = Command::new(program);
        let run = command.arg("-v").stderr(Stdio::null()).stdout(Stdio::null()).status();
        run.is_ok_and(|status| status.success())
    };
    let found = ["nginx", "/usr/sbin/nginx"].into_iter().find(starts);
    found.ok_or_else(|| Missing::new("nginx (in Debian: apt-get install nginx)"))
}
