//! The manifest for Kubernetes, checked against the schemas of several versions, and with a server that has the arguments of the container.

use std::{path::Path, sync::OnceLock, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use support::{
    clock::eventually,
    python::Python,
    requirement::{Missing, needs, success_of},
};

use crate::{
    client::{Request, plain_call, run},
    files::{Folder, HOST, committed, path, replace, root, tools},
    limits::default_time,
    server::{Server, fixture},
};

const FILE: &str = "kubernetes.yaml";
const REQUIREMENTS: &str = include_str!("requirements.txt");

/// The oldest and the newest version of Kubernetes of which the pinned validator has the schemas.
const VERSIONS: [&str; 2] = ["1.25", "1.37"];

/// Header `Host` of a probe, which names the address of the pod.
const POD: &str = "10.244.1.7:8000";

#[derive(Debug, Deserialize)]
pub(crate) struct Validated {
    pub(crate) documents: Vec<Value>,
    pub(crate) problems: Vec<String>,
}

/// Validates a file against the schemas of all versions.
pub(crate) fn validated(file: &Path) -> Result<Validated, Missing> {
    against(file, &VERSIONS)
}

/// Parses a file without schemas.
pub(crate) fn parsed(file: &Path) -> Result<Validated, Missing> {
    against(file, &[])
}

fn against(file: &Path, versions: &[&str]) -> Result<Validated, Missing> {
    // The tests run at the same time, and share what the first one installs.
    static VALIDATOR: OnceLock<Result<Python, String>> = OnceLock::new();
    let install = || Python::installed(&tools(), "kubernetes-validate", REQUIREMENTS);
    let python = VALIDATOR.get_or_init(|| install().map_err(|missing| missing.to_string()));
    let python = python.as_ref().map_err(Missing::new)?;
    let script = root().join("tests/deploy/kubernetes.py");
    let said = success_of(python.run(script).arg(file).args(versions))?;
    Ok(serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}")))
}

impl Validated {
    #[track_caller]
    fn document(&self, kind: &str) -> &Value {
        let document = self.documents.iter().find(|document| document["kind"] == kind);
        document.unwrap_or_else(|| panic!("no {kind}"))
    }

    fn pod(&self) -> &Value {
        &self.document("Deployment")["spec"]["template"]["spec"]
    }

    fn container(&self) -> &Value {
        &self.pod()["containers"][0]
    }

    /// Returns the arguments of the container without the address, and the port of that address.
    fn options(&self) -> (Vec<&str>, u64) {
        let mut options: Vec<_> =
            self.container()["args"].as_array().expect("arguments").iter().collect();
        let address =
            options.remove(0).as_str().and_then(|text| text.strip_prefix("--http=0.0.0.0:"));
        let port = address.and_then(|port| port.parse().ok()).expect("all addresses come first");
        (options.into_iter().filter_map(Value::as_str).collect(), port)
    }

    /// Returns the time in `--drain=5s`.
    fn drain(&self) -> Duration {
        let (options, _) = self.options();
        let drain = options.iter().find_map(|option| option.strip_prefix("--drain="));
        let seconds = drain.and_then(|text| text.strip_suffix('s')?.parse().ok());
        Duration::from_secs(seconds.expect("a drain in seconds"))
    }
}

#[support::test]
fn the_manifest_fits_the_schemas_of_kubernetes() {
    let folder = Folder::new();
    let planted =
        folder.write(FILE, &replace(&committed(FILE), "  startupProbe:", "  startProbe:", 1));
    let planted = needs(validated(&planted));
    assert_eq!(planted.problems.len(), VERSIONS.len(), "{planted:?}");
    let problems = needs(validated(&path(FILE))).problems;
    assert!(problems.is_empty(), "{problems:?}");
}

#[support::test]
fn the_server_answers_the_probes_and_the_hosts_of_the_manifest() {
    let manifest = needs(validated(&path(FILE)));
    run(async {
        let server = Server::start_with(fixture(), &manifest.options().0, &[]);
        let probe = |name: &str| {
            let probe = &manifest.container()[name]["httpGet"];
            assert_eq!(probe["port"], "http", "{name}");
            Request::new("GET", probe["path"].as_str().expect("a path")).host(POD)
        };
        for name in ["startupProbe", "readinessProbe", "livenessProbe"] {
            assert_eq!(probe(name).ask(server.address()).await.status(), 200, "{name}");
        }
        let service = manifest.document("Service")["metadata"]["name"].as_str().expect("a name");
        for host in [HOST, service] {
            let echo = plain_call(1, "echo", json!({ "text": "x" })).host(host);
            assert_eq!(echo.ask(server.address()).await.text(), "x", "{host}");
        }
        // While the pod drains, it is alive, and not ready.
        server.terminate();
        eventually("the pod is not ready", async || {
            let ready = probe("readinessProbe").ask(server.address()).await;
            (ready.status() == 503).then_some(())
        })
        .await;
        assert_eq!(probe("livenessProbe").ask(server.address()).await.status(), 200);
    });
}

#[support::test]
fn the_names_and_ports_of_the_manifest_agree() {
    let manifest = needs(validated(&path(FILE)));
    let deployment = &manifest.document("Deployment")["spec"];
    let service = &manifest.document("Service")["spec"];
    let labels = &deployment["template"]["metadata"]["labels"];
    assert_eq!(&deployment["selector"]["matchLabels"], labels);
    assert_eq!(&service["selector"], labels);
    let (_, port) = manifest.options();
    assert_eq!(manifest.container()["ports"], json!([{ "name": "http", "containerPort": port }]));
    assert_eq!(service["ports"][0]["targetPort"], "http");
    // The user of the image.
    assert!(committed("Dockerfile").contains("`nonroot` is user 65532"));
    assert_eq!(manifest.pod()["securityContext"]["runAsUser"], 65532);
}

#[support::test]
fn kubernetes_waits_longer_than_the_server_needs_to_stop() {
    let manifest = needs(validated(&path(FILE)));
    let most = manifest.pod()["terminationGracePeriodSeconds"].as_u64().expect("seconds");
    let needed = manifest.drain() + default_time("grace");
    assert!(!manifest.drain().is_zero());
    // The rest of the time is for `on_shutdown`.
    assert!(needed + Duration::from_secs(10) <= Duration::from_secs(most));
    // `preStop` would delay the signal in addition.
    assert!(manifest.container()["lifecycle"].is_null());
}
