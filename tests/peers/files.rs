use std::fs;

use serde_json::{Value, json};

use crate::{inspector, python, python::text, server::Server};

fn files() -> Server {
    let server = Server::new("files");
    fs::write(server.file("src/one.txt"), "one\ntwo\nthree\n").expect("the folder is writable");
    server
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"do": "call", "name": tool, "arguments": arguments})
}

#[support::test]
fn a_tree_is_listed_read_and_searched() {
    let steps = [
        call("list_directory", json!({})),
        call("list_directory", json!({"path": "tree"})),
        call("read_file", json!({"path": "tree/src/one.txt"})),
        call("read_file", json!({"path": "tree/src/one.txt", "start": 2, "lines": 1})),
        call("search_files", json!({"path": "tree/**/*.txt", "text": "thr"})),
        call("search_files", json!({"path": "one"})),
    ];
    python::check(&files(), &steps, |outcomes| {
        let texts: Vec<_> = outcomes.iter().filter_map(text).collect();
        let expected = [
            "tree/",
            "src/",
            "one\ntwo\nthree\n",
            "two\n",
            "tree/src/one.txt:3: three",
            "tree/src/one.txt",
        ];
        texts == expected
    });
}

#[support::test]
fn a_tree_is_changed() {
    let steps = [
        call("create_directory", json!({"path": "tree/doc"})),
        call("write_file", json!({"path": "tree/doc/a.md", "content": "x\ny\n"})),
        call("edit_file", json!({"path": "tree/doc/a.md", "old_text": "y", "new_text": "z"})),
        call("edit_file", json!({"path": "tree/doc/a.md", "old_text": "y", "new_text": "z"})),
        call("move_file", json!({"source": "tree/doc/a.md", "target": "tree/src/one.txt"})),
        call("move_file", json!({"source": "tree/doc/a.md", "target": "tree/doc/b.md"})),
        call("read_file", json!({"path": "tree/doc/b.md"})),
        // Moves the file back, because these steps run again in the other era.
        call("move_file", json!({"source": "tree/doc/b.md", "target": "tree/doc/a.md"})),
    ];
    python::check(&files(), &steps, |outcomes| {
        let diff = "--- tree/doc/a.md\n+++ tree/doc/a.md\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
        text(&outcomes[2]) == Some(diff)
            && python::failure(&outcomes[3]).is_some_and(|text| text.contains("read the file"))
            && python::failure(&outcomes[4]).is_some_and(|text| text.contains("another name"))
            && text(&outcomes[6]) == Some("x\nz\n")
    });
}

#[cfg(unix)]
#[support::test]
fn no_path_or_link_leads_out_of_the_served_folder() {
    let server = files();
    fs::write(server.folder.join("secret"), "secret").expect("the folder is writable");
    std::os::unix::fs::symlink("../secret", server.file("link")).expect("links can be made");
    std::os::unix::fs::symlink("..", server.file("up")).expect("links can be made");
    let steps = [
        call("read_file", json!({"path": "tree/../secret"})),
        call("read_file", json!({"path": "tree/link"})),
        call("read_file", json!({"path": "tree/up/secret"})),
        call("write_file", json!({"path": "tree/up/new", "content": ""})),
        call("write_file", json!({"path": "tree/link", "content": ""})),
        call("create_directory", json!({"path": "tree/up/new"})),
        call("move_file", json!({"source": "tree/src", "target": "tree/up/src"})),
        call("move_file", json!({"source": "tree/up/secret", "target": "tree/mine"})),
        call("list_directory", json!({"path": "tree/up"})),
    ];
    python::check(&server, &steps, |outcomes| {
        outcomes.iter().all(|outcome| python::failure(outcome).is_some())
    });
    let reads = ["files://tree/link", "files://tree/up/secret", "files://tree/../secret"]
        .map(|uri| json!({"do": "read", "uri": uri}));
    python::check(&server, &reads, |outcomes| {
        outcomes.iter().all(|outcome| outcome["error"]["code"].is_i64())
    });
    let search = [call("search_files", json!({"text": "secret"}))];
    python::check(&server, &search, |outcomes| text(&outcomes[0]) == Some("nothing found"));
    assert_eq!(fs::read_to_string(server.folder.join("secret")).ok().as_deref(), Some("secret"));
    assert!(!server.folder.join("new").exists() && server.file("src").exists());
}

#[support::test]
fn a_large_file_is_read_in_parts() {
    let server = files();
    fs::write(server.file("large"), "line\n".repeat(500_000)).expect("the folder is writable");
    let steps = [
        call("read_file", json!({"path": "tree/large"})),
        call("read_file", json!({"path": "tree/large", "start": 400_000, "lines": 1})),
        json!({"do": "read", "uri": "files://tree/large"}),
    ];
    python::check(&server, &steps, |outcomes| {
        python::failure(&outcomes[0]).is_some_and(|text| text.contains("`lines`"))
            && text(&outcomes[1]) == Some("line\n")
            && outcomes[2]["error"].is_object()
    });
}

#[support::test]
fn a_path_is_completed_and_read() {
    let server = files();
    fs::write(server.file("picture"), [0xff, 0x00]).expect("the folder is writable");
    let template = "files://{+path}";
    let steps = [
        json!({"do": "complete", "template": template, "argument": "path", "value": "tree/s"}),
        json!({"do": "complete", "template": template, "argument": "path", "value": "tree/src/"}),
        json!({"do": "read", "uri": "files://tree/src/one.txt"}),
        json!({"do": "read", "uri": "files://tree/picture"}),
    ];
    python::check(&server, &steps, |outcomes| {
        outcomes[0]["result"]["values"] == json!(["tree/src/"])
            && outcomes[1]["result"]["values"] == json!(["tree/src/one.txt"])
            && outcomes[2]["result"]["contents"][0]["text"] == json!("one\ntwo\nthree\n")
            && outcomes[3]["result"]["contents"][0]["blob"] == json!("/wA=")
    });
}

#[support::test]
fn a_search_is_cancelled() {
    let server = files();
    let large = server.file("0/0");
    fs::write(&large, "nothing to find here\n".repeat(40_000)).expect("the folder is writable");
    for file in 1..2000 {
        let link = server.file(&format!("{}/{file}", file % 20));
        fs::hard_link(&large, link).expect("links can be made");
    }
    let steps = [
        json!({"do": "cancel", "name": "search_files", "arguments": {"text": "something"}}),
        call("list_directory", json!({})),
    ];
    python::check(&server, &steps, |outcomes| {
        outcomes[0]["result"] == json!({"cancelled": true, "answer": null})
            && text(&outcomes[1]) == Some("tree/")
    });
}

#[support::test]
fn the_inspector_accepts_the_schemas() {
    inspector::list(&files());
}

#[support::test]
fn the_inspector_calls_and_reads() {
    let server = files();
    let call = inspector::call("read_file", r#"{"path": "tree/src/one.txt", "lines": 1}"#);
    inspector::check(&server, &call, 0, |answer| {
        answer.result["content"][0]["text"] == json!("one\n")
    });
    let read = ["--method", "resources/read", "--uri", "files://tree/src/one.txt"];
    inspector::check(&server, &read, 0, |answer| {
        answer.result["contents"][0]["mimeType"] == json!("text/plain")
    });
}
