//! The files of `examples/cluster`: its script with real programs, and the files for Docker Compose and Kubernetes.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::{
    clock::{LIMIT, eventually},
    examples::example,
    process::{Running, free_ports},
    requirement::{Missing, needs, output_of},
};

use crate::{
    client::{Session, message, plain_call, run},
    files::{Folder, replace, root},
    front::Program,
    kubernetes::{parsed, validated},
};

fn path(name: &str) -> PathBuf {
    root().join("examples/cluster").join(name)
}

/// The running script, which ends its programs when the value is dropped.
struct Cluster {
    script: Running,
    /// Address of nginx.
    address: SocketAddr,
    /// Process ids of the nodes.
    nodes: Vec<u32>,
}

impl Cluster {
    /// Runs the script.
    ///
    /// # Errors
    /// Fails if a program that the script needs is missing.
    fn start() -> Result<Self, Missing> {
        Program::Nginx.installed()?;
        for program in ["redis-server", "bash"] {
            output_of(Command::new(program).arg("--version"))?;
        }
        let port = free_ports(5);
        let mut command = Command::new("bash");
        command
            .arg(path("run.sh"))
            .env("PORT", port.to_string())
            .env("CLUSTER_BIN", example("cluster"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut script = Running::start(&mut command);
        let mut line = String::new();
        let mut stdout = BufReader::new(script.stdout().expect("stdout is piped"));
        stdout.read_line(&mut line).expect("the script prints a line");
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(line.contains("is ready"), "{line:?}");
        let nodes = words.iter().filter_map(|word| word.parse().ok()).collect();
        Ok(Self { script, address: ([127, 0, 0, 1], port).into(), nodes })
    }

    /// Ends the script as a service manager does.
    fn stop(&mut self) {
        signal(self.script.pid(), Signal::TERM);
        self.script.wait(LIMIT).expect("the script ends");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.script.wait(Duration::ZERO).is_none() {
            self.stop();
        }
    }
}

fn signal(process: u32, signal: Signal) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).expect("an id of a process");
    kill_process(pid, signal).expect("the process gets the signal");
}

fn is_running(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[support::test]
fn a_session_behind_nginx_is_served_by_all_nodes_of_the_script() {
    let mut cluster = needs(Cluster::start());
    let (address, nodes) = (cluster.address, cluster.nodes.clone());
    assert_eq!(nodes.len(), 3, "{nodes:?}");
    run(async {
        let session = Session::begin(address, "2025-11-25").await;
        let node = async || -> u32 {
            let reply = session.call(1, "node", json!({})).ask(address).await;
            reply.text().parse().unwrap_or_else(|_| panic!("{reply:?}"))
        };
        let mut seen = BTreeSet::new();
        for _ in 0..9 {
            seen.insert(node().await);
        }
        assert_eq!(seen, BTreeSet::from_iter(nodes.iter().copied()));

        let mut stream = session.get().open(address).await.check_events();
        let subscribe = message(2, "resources/subscribe", json!({ "uri": "list://items" }));
        assert_eq!(session.post(&subscribe).ask(address).await.status(), 200);
        for item in ["milk", "bread", "tea"] {
            let added = plain_call(3, "add", json!({ "item": item })).ask(address).await;
            assert!(added.text().starts_with("Added by process "), "{added:?}");
            let update = stream.message().await.expect("an update");
            assert_eq!(update["params"]["uri"], "list://items", "{update}");
        }
        let read = message(4, "resources/read", json!({ "uri": "list://items" }));
        let items = session.post(&read).ask(address).await.json();
        assert_eq!(items["result"]["contents"][0]["text"], "milk\nbread\ntea", "{items}");
        drop(stream);

        // The other nodes go on with the session of a node that was killed.
        signal(nodes[0], Signal::KILL);
        eventually("the end of the node", async || (!is_running(nodes[0])).then_some(())).await;
        let mut seen = BTreeSet::new();
        while seen.len() < 2 {
            seen.insert(node().await);
        }
        assert_eq!(seen, BTreeSet::from_iter(nodes[1..].iter().copied()));
    });
    cluster.stop();
    assert!(nodes.iter().all(|node| !is_running(*node)), "a node is left over");
}

#[support::test]
fn the_manifest_of_several_nodes_fits_the_schemas_and_agrees_with_itself() {
    let manifest = needs(validated(&path("kubernetes.yaml")));
    assert!(manifest.problems.is_empty(), "{:?}", manifest.problems);
    let find = |kind: &str, name: &str| {
        let found = manifest
            .documents
            .iter()
            .find(|document| document["kind"] == kind && document["metadata"]["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name}"))
    };
    let secret = &find("Secret", "mcp-redis")["stringData"];
    let port = &find("Service", "mcp-redis")["spec"]["ports"][0]["port"];
    let password = secret["password"].as_str().expect("a password");
    assert_eq!(secret["url"], format!("redis://:{password}@mcp-redis:{port}"));
    let nodes = &find("Deployment", "mcp-server")["spec"];
    let container = &nodes["template"]["spec"]["containers"][0];
    let url = json!({ "secretKeyRef": { "name": "mcp-redis", "key": "url" } });
    assert_eq!(container["env"], json!([{ "name": "MCP_REDIS_URL", "valueFrom": url }]));
    for (kind, name) in [("Deployment", "mcp-server"), ("StatefulSet", "mcp-redis")] {
        let pods = &find(kind, name)["spec"];
        let labels = &pods["template"]["metadata"]["labels"];
        assert_eq!(&pods["selector"]["matchLabels"], labels, "{name}");
        assert_eq!(&find("Service", name)["spec"]["selector"], labels);
    }
    let disruptions = &find("PodDisruptionBudget", "mcp-server")["spec"]["selector"];
    assert_eq!(disruptions["matchLabels"], nodes["selector"]["matchLabels"]);
}

#[support::test]
fn nginx_accepts_the_settings_of_the_compose_file() {
    let nginx = needs(Program::Nginx.installed());
    let compose = needs(parsed(&path("compose.yaml"))).documents.remove(0);
    let services = &compose["services"];
    assert_eq!(services["node"]["deploy"]["replicas"], 3);
    assert_eq!(services["node"]["environment"]["MCP_REDIS_URL"], "redis://redis:6379");
    let settings = compose["configs"]["nginx"]["content"].as_str().expect("settings");
    // Outside of the network of Docker there is no host of this name.
    let settings = replace(settings, "server node:8000 ", "server 127.0.0.1:8000 ", 1);
    let settings = settings.replace("$$", "$");
    let folder = Folder::new();
    let at = folder.path("nginx.pid").display().to_string();
    let main = format!("pid {at};\nevents {{}}\nhttp {{\naccess_log off;\n{settings}}}\n");
    let check = |text: &str| {
        let file = folder.write("main.conf", text);
        let mut command = Command::new(&nginx);
        let output = command.arg("-t").arg("-e").arg("stderr").arg("-c").arg(file).output();
        let output = output.expect("nginx starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(!check(&replace(&main, "keepalive 32;", "keepalive;", 1)).0, "a mistake is seen");
    let (is_valid, said) = check(&main);
    assert!(is_valid, "{said}");
    // The settings of the script differ in addresses only.
    let script = fs::read_to_string(path("nginx.conf")).expect("the file");
    for line in settings.lines().map(str::trim) {
        let is_own =
            line.starts_with('#') || line.starts_with("server") || line.starts_with("listen");
        assert!(is_own || script.contains(line), "{line}");
    }
}
