//! Forms in which a session shows a secret: a row for each, with the text that is left of it.

use base64::{
    Engine as _,
    prelude::{
        BASE64_STANDARD as STANDARD, BASE64_STANDARD_NO_PAD as STANDARD_NO_PAD,
        BASE64_URL_SAFE as URL_SAFE, BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD,
    },
};
use serde_json::{Value, json};

use super::*;

/// A secret of `#[config]`, with characters that each encoding writes in another way.
const GIVEN: &str = "q7/Zr+Vx w\"9";

#[track_caller]
fn check_values<const ROWS: usize>(rows: [(Value, Value); ROWS]) {
    let redaction = Redaction::new([GIVEN.to_owned()]);
    let mut wrong = Vec::new();
    for (was, expected) in rows {
        let mut is = was.clone();
        redaction.apply(&mut is);
        if is != expected {
            wrong.push(format!("{was}\n  became      {is}\n  in place of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {ROWS} forms:\n{}", wrong.len(), wrong.join("\n"));
}

#[track_caller]
fn check<const ROWS: usize>(rows: [(&str, &str); ROWS]) {
    check_values(rows.map(|(was, expected)| (json!(was), json!(expected))));
}

#[test]
fn headers_in_a_text_lose_their_secrets() {
    check([
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic <removed>"),
        ("sent Basic dXNlcjpwYXNz to it", "sent Basic <removed> to it"),
        ("authorization=Basic dXNlcjpwYXNz", "authorization=Basic <removed>"),
        ("'Authorization': 'Basic dXNlcjpwYXNz'", "'Authorization': 'Basic <removed>'"),
        ("Authorization: token 0123abcd0123", "Authorization: token <removed>"),
        ("Authorization: Custom 0123abcd0123", "Authorization: Custom <removed>"),
        ("Authorization: 0123abcd0123", "Authorization: <removed>"),
        (
            "Authorization: Digest username=\"a\", response=\"6629fae4\"\nHost: a",
            "Authorization: Digest <removed>\nHost: a",
        ),
        (
            "Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=fe5f80",
            "Authorization: AWS4-HMAC-SHA256 <removed>",
        ),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: Basic <removed>"),
        ("Cookie: a=b; c=d\nHost: a", "Cookie: <removed>\nHost: a"),
        ("Set-Cookie: sid=31d4; Path=/; HttpOnly", "Set-Cookie: <removed>"),
        ("-H 'Cookie: a=b; c=d' -v", "-H 'Cookie: <removed>' -v"),
        ("X-Api-Key: 0123abcd", "X-Api-Key: <removed>"),
        ("x-auth-token: 0123abcd", "x-auth-token: <removed>"),
        ("X-Amz-Security-Token:0123abcd", "X-Amz-Security-Token:<removed>"),
    ]);
}

#[test]
fn values_after_names_in_a_text_are_removed() {
    check([
        ("password: x", "password: <removed>"),
        ("Password:x", "Password:<removed>"),
        ("password = x", "password = <removed>"),
        ("password=a#b%26c", "password=<removed>"),
        ("password=x", "password=<removed>"),
        ("password := \"x\"", "password := \"<removed>\""),
        ("var password string = \"x\"", "var password string = \"<removed>\""),
        ("let password: String = \"x\"", "let password: String = \"<removed>\""),
        ("PASSWORD ?= \"x\"", "PASSWORD ?= \"<removed>\""),
        ("$password .= \"x\"", "$password .= \"<removed>\""),
        ("set(\"DB_PASSWORD\", \"x\")", "set(\"DB_PASSWORD\", \"<removed>\")"),
        ("STORAGE_KEY=aGk3Nzg5MDEyMzQ1Ng==", "STORAGE_KEY=<removed>"),
        ("storage_key: 0a1b2c3d4e5f60718293", "storage_key: <removed>"),
        ("'password' => 'a b'", "'password' => '<removed>'"),
        ("{'password': 'x'}", "{'password': '<removed>'}"),
        ("db:\n  password: x7\n  port: 1", "db:\n  password: <removed>\n  port: 1"),
        ("DB_PWD=x", "DB_PWD=<removed>"),
        ("<add key=\"Password\" value=\"x\" />", "<add key=\"Password\" value=\"<removed>\" />"),
        ("kind: Secret\ndata:\n  a: eA==\n", "kind: Secret\ndata:\n<removed>"),
        ("export API_KEY='x y'", "export API_KEY='<removed>'"),
        ("Server=a;Uid=b;Pwd=x;", "Server=a;Uid=b;Pwd=<removed>;"),
        ("AccountName=a;AccountKey=ab+/==;", "AccountName=a;AccountKey=<removed>;"),
        ("<password>x y</password>", "<password><removed></password>"),
        ("otp: 123456", "otp: <removed>"),
        ("pin=1234", "pin=<removed>"),
        ("{\"rows\": 1, \"password\": \"hun", "{\"rows\": 1, \"password\": \"<removed>"),
        ("os.environ[\"API_KEY\"] = \"x\"", "os.environ[\"API_KEY\"] = \"<removed>\""),
        ("machine a login b password x", "machine a login b password <removed>"),
        ("CREATE USER a IDENTIFIED BY 'x'", "CREATE USER a IDENTIFIED BY '<removed>'"),
        ("ALTER ROLE a WITH PASSWORD 'x'", "ALTER ROLE a WITH PASSWORD '<removed>'"),
    ]);
}

#[test]
fn options_of_command_lines_lose_their_values() {
    check([
        ("tool --password x --rows 5", "tool --password <removed> --rows 5"),
        ("tool --password=x --rows 5", "tool --password=<removed> --rows 5"),
        ("tool --password \"a b\"", "tool --password \"<removed>\""),
        ("tool -password x", "tool -password <removed>"),
        ("tool --api-key x", "tool --api-key <removed>"),
        ("tool --password --rows 5", "tool --password --rows 5"),
        ("spawn(['--password', 'x'])", "spawn(['--password', '<removed>'])"),
        ("curl -u ada:x https://a.example", "curl -u <removed> https://a.example"),
        ("curl --user 'ada:x' https://a.example", "curl --user '<removed>' https://a.example"),
        ("mysql -h a -pX1 notes", "mysql -h a -p<removed> notes"),
        ("sshpass -p x ssh a", "sshpass -p <removed> ssh a"),
    ]);
}

#[test]
fn urls_lose_their_users_and_secret_parameters() {
    check([
        ("https://ada:x@a.example/b", "https://<removed>@a.example/b"),
        ("https://a.example/?sig=x&se=1", "https://a.example/?sig=<removed>&se=1"),
        ("https://a.example/cb?code=x&state=y", "https://a.example/cb?code=<removed>&state=y"),
        ("https://a.example/?key=x", "https://a.example/?key=<removed>"),
        ("https://a.example/?a=b&token=x", "https://a.example/?a=b&token=<removed>"),
        ("https://a.example/?signature=x&y", "https://a.example/?signature=<removed>&y"),
        ("/b?X-Amz-Signature=fe5f&c=d", "/b?X-Amz-Signature=<removed>&c=d"),
        ("/b?X-Amz-Credential=a%2Fb&c=d", "/b?X-Amz-Credential=<removed>&c=d"),
        ("/b?X-Goog-Signature=fe5f", "/b?X-Goog-Signature=<removed>"),
        ("https://a.example/#access_token=x&a=b", "https://a.example/#access_token=<removed>&a=b"),
        ("/to?next=%2Fcb%3Fcode%3Dx%26state%3Dy", "/to?next=%2Fcb%3Fcode%3D<removed>%26state%3Dy"),
        (
            "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx",
            "https://hooks.slack.com/services/<removed>",
        ),
    ]);
}

#[test]
fn private_keys_are_removed_as_a_whole() {
    let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\nBCIEIA==\n-----END PRIVATE KEY-----";
    let rsa = key.replace("PRIVATE", "RSA PRIVATE");
    let pgp = key.replace("PRIVATE KEY", "PGP PRIVATE KEY BLOCK");
    let (escaped, lines) = (key.replace('\n', "\\n"), key.replace('\n', "\r\n"));
    let (twice, cut) = (key.replace('\n', "\\\\n"), &key[..40]);
    check([
        (&format!("a\n{key}\nb"), "a\n<removed>\nb"),
        (&format!("a {rsa} b"), "a <removed> b"),
        (&format!("a {pgp} b"), "a <removed> b"),
        (&format!("a {escaped} b"), "a <removed> b"),
        (&format!("a {twice} b"), "a <removed> b"),
        (&format!("a {lines} b"), "a <removed> b"),
        (&format!("a {cut}"), "a <removed>"),
        ("a LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1DNENBUUF3 b", "a <removed> b"),
    ]);
}

#[test]
fn members_with_names_of_secrets_lose_their_values() {
    let names = [
        "pwd",
        "dbPwd",
        "otp",
        "totp",
        "pin",
        "pinCode",
        "cvv",
        "passcode",
        "pass",
        "accessKey",
        "access_key_id",
        "secretAccessKey",
        "encryptionKey",
        "signing_key",
        "masterKey",
        "authKey",
        "accountKey",
        "connectionString",
        "jwt",
        "sig",
        "recoveryCodes",
        "seedPhrase",
        "X-Api-Key",
    ];
    check_values(names.map(|name| (json!({ name: "x" }), json!({ name: REMOVED }))));
    check_values([
        (json!({ "otp": 123456, "pin": 1234 }), json!({ "otp": REMOVED, "pin": REMOVED })),
        (json!({ "pass": 10, "fail": 2 }), json!({ "pass": 10, "fail": 2 })),
    ]);
}

#[test]
fn pairs_lose_their_values() {
    let x = "x";
    let rows = [
        (json!(["--password", x, "-v"]), json!(["--password", REMOVED, "-v"])),
        (json!(["a", "--api-key", x]), json!(["a", "--api-key", REMOVED])),
        (json!(["a", "--password", "-v"]), json!(["a", "--password", "-v"])),
        (json!(["--password=x"]), json!(["--password=<removed>"])),
        (json!(["password", x]), json!(["password", REMOVED])),
        (json!(["Cookie", "a=b"]), json!(["Cookie", REMOVED])),
        (
            json!([["Authorization", x], ["a", "b"]]),
            json!([["Authorization", REMOVED], ["a", "b"]]),
        ),
        (json!(["Host", "a", "Authorization", x]), json!(["Host", "a", "Authorization", REMOVED])),
        (json!(["Authorization", "Bearer x"]), json!(["Authorization", REMOVED])),
        (
            json!([{ "name": "password", "value": x }]),
            json!([{ "name": "password", "value": REMOVED }]),
        ),
        (json!({ "key": "token", "value": x }), json!({ "key": "token", "value": REMOVED })),
        (
            json!({ "header": "Cookie", "value": x }),
            json!({ "header": "Cookie", "value": REMOVED }),
        ),
        (json!({ "name": "apiKey", "val": x }), json!({ "name": "apiKey", "val": REMOVED })),
        (json!({ "field": "pwd", "values": [x] }), json!({ "field": "pwd", "values": [REMOVED] })),
        (
            json!({ "kind": "Secret", "data": { "a": x }, "metadata": { "name": "b" } }),
            json!({ "kind": "Secret", "data": { "a": REMOVED }, "metadata": { "name": "b" } }),
        ),
        (json!({ "required": ["password", "city"] }), json!({ "required": ["password", "city"] })),
        (json!("args: [\"--password\",\"x\"]"), json!("args: [\"--password\",\"<removed>\"]")),
    ];
    // An array alone would be a batch of messages.
    check_values(rows.map(|(was, expected)| (json!({ "a": was }), json!({ "a": expected }))));
}

/// Returns JSON in a JSON string in a JSON string, and so on.
fn quoted(value: &Value, depth: usize) -> String {
    (0..depth).fold(value.to_string(), |text, _| Value::from(text).to_string())
}

#[test]
fn json_in_json_loses_its_secrets_at_each_depth() {
    let (was, is) = (json!({ "password": "x", "a": 1 }), json!({ "password": REMOVED, "a": 1 }));
    for depth in 0..4 {
        let (was, is) = (quoted(&was, depth), quoted(&is, depth));
        check([(&was, &is), (&format!("got {was} there"), &format!("got {is} there"))]);
        let (was, is) = (json!({ "body": was }).to_string(), json!({ "body": is }).to_string());
        check([(&was, &is)]);
    }
    check([(
        "cut \\\"a\\\":1,\\\"token\\\":\\\"x\\\",\\\"b",
        "cut \\\"a\\\":1,\\\"token\\\":\\\"<removed>\\\",\\\"b",
    )]);
}

#[test]
fn given_secrets_are_removed_in_each_encoding() {
    check([
        (GIVEN, REMOVED),
        ("a=q7%2FZr%2BVx%20w%229&b", "a=<removed>&b"),
        ("a=q7%2fZr%2bVx+w%229&b", "a=<removed>&b"),
        ("a=q7/Zr+Vx%20w%229&b", "a=<removed>&b"),
        ("a=q7%252FZr%252BVx%2520w%25229&b", "a=<removed>&b"),
        ("a=%71%37%2F%5A%72%2B%56%78%20%77%22%39&b", "a=<removed>&b"),
        (r#"say "q7/Zr+Vx w\"9""#, r#"say "<removed>""#),
        (r#"say \"q7\/Zr+Vx w\\\"9\""#, r#"say \"<removed>\""#),
        (r"say q7/Zr\u002bVx w\u00229", "say <removed>"),
        (r"say q7\u002FZr\u002BVx\u0020w\u00229", "say <removed>"),
        (r"say \\u0071\\u0037/Zr+Vx w\\u00229", "say <removed>"),
        ("say q7/Zr+Vx w&quot;9", "say <removed>"),
        ("say q7&#x2F;Zr&#43;Vx w&#34;9", "say <removed>"),
        ("hex 71372f5a722b567820772239.", "hex <removed>."),
        ("hex 71372F5A722B567820772239.", "hex <removed>."),
    ]);
    let user = "user";
    for prefix in ["", "a", "ab", "user:"] {
        for suffix in ["", "!", "!!", " and more"] {
            let bytes = format!("{prefix}{GIVEN}{suffix}");
            for (text, alphabet) in [
                (STANDARD.encode(&bytes), "standard"),
                (STANDARD_NO_PAD.encode(&bytes), "standard without padding"),
                (URL_SAFE.encode(&bytes), "for URLs"),
                (URL_SAFE_NO_PAD.encode(&bytes), "for URLs without padding"),
                (STANDARD.encode(&bytes).replace('/', "%2F").replace('+', "%2b"), "in a URL"),
            ] {
                let mut message = json!({ user: format!("got {text}.") });
                Redaction::new([GIVEN.to_owned()]).apply(&mut message);
                let left = message[user].as_str().expect("a text");
                let (before, after) = left.split_once(REMOVED).unwrap_or((left, left));
                let case = format!("{alphabet}, {prefix:?}, {suffix:?}: {left}");
                assert!(before.len() <= "got ".len() + prefix.len() * 4 / 3, "{case}");
                assert!(after.len() <= ".".len() + suffix.len().div_ceil(3) * 4 + 4, "{case}");
            }
        }
    }
}

#[test]
fn texts_without_a_secret_stay() {
    for text in [
        "The password: it must have eight characters.",
        "password: string, token: optional",
        "Args:\n  token: The token of the next page",
        "a Basic introduction, Basic authentication",
        "the cookie: a small file",
        "tokens: 1200, max_tokens: 5",
        "Token::new(), token == a, secret::Key",
        "task-management-system-overview-of-all",
        "{\"required\":[\"password\",\"city\"]}",
        "[\"password\",\"city\",\"size\"]",
        "https://a.example/code?page=2&state=open",
        "{\"pins\":[{\"pin\":true}]}",
        "\"a quoted sentence\"",
        "{\"authorization_servers\":[\"https://a.example\"]}",
        "`Authorization`, `Accept` and `Cookie` are headers",
        "it shows `<secret>` in place of it",
        "primary_key=note-2026-01-31-a, api_version=20260731",
        "storage_key: notes/2026/January/Summary.md",
        "{\"accessId\":\"8c1f0a52-4d6e-4b7f-9a3c-0123456789ab\"}",
        "let password: String = read()",
        "[1] see [the page](https://a.example)",
        "global-error-handler-middleware and glibc-2.31-13.fc40.x86_64.rpm",
        "Invalid login or password supplied",
        "Authorization: OAuth is required for all tools. See the page",
        "The password \"must\" have eight characters",
    ] {
        check([(text, text)]);
    }
}

/// Searches that begin anew at each name or URL took minutes for these texts.
#[test]
fn long_texts_are_searched_once() {
    for part in ["a://b:c", "http://a:b/", "page of token; a=b ", "curl -x a ", "mysql a "] {
        let mut message = json!({ "text": part.repeat(30_000 / part.len()) });
        assert_eq!(Redaction::new([]).apply(&mut message), [], "{part}");
    }
}
