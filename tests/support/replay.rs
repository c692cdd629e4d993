//! Replays a transcript against a server.

use std::{collections::VecDeque, future::Future, str, time::Duration};

use serde_json::Value;

use crate::{
    judge::{Judge, report},
    pattern::Difference,
    schema::Schema,
    transcript::{Does, Expected, Step, Transcript},
};

/// A connection to a server that carries lines.
pub trait Wire {
    /// Sends one line. The wire adds the line end.
    fn send(&mut self, line: &[u8]) -> impl Future<Output = ()>;

    /// The next line of the server without its end, or `None` when none comes in time.
    fn receive(&mut self, patience: Duration) -> impl Future<Output = Option<Vec<u8>>>;
}

/// Longest wait for an expected message.
const ANSWER: Duration = Duration::from_secs(10);
/// Time without a message that counts as silence. Under tokio's paused clock this wait costs no real time, and its result does not depend
/// on the machine.
const SILENCE: Duration = Duration::from_millis(100);

/// Replays `transcript` over `wire`.
///
/// # Errors
///
/// The line of the transcript that the server did not meet, and every difference.
pub async fn replay(transcript: &Transcript, wire: &mut impl Wire) -> Result<(), String> {
    let mut replay = Replay { wire, schema: Schema::of(&transcript.revision), judge: Judge::new() };
    let mut steps = transcript.steps.iter().peekable();
    while let Some(step) = steps.next() {
        let mut group = vec![step];
        while laned(step)
            && let Some(next) = steps.next_if(|next| laned(next))
        {
            group.push(next);
        }
        replay
            .group(&group)
            .await
            .map_err(|(line, error)| format!("{}:{line}: {error}", transcript.name))?;
    }
    replay.silence().await.map_err(|error| format!("{}: at the end: {error}", transcript.name))
}

fn laned(step: &Step) -> bool {
    matches!(&step.does, Does::Expect(Expected { lane: Some(_), .. }))
}

struct Replay<'a, W> {
    wire: &'a mut W,
    schema: &'static Schema,
    judge: Judge,
}

impl<W: Wire> Replay<'_, W> {
    /// Carries out one step, or a group of neighbouring `server` lines with lanes.
    async fn group(&mut self, steps: &[&Step]) -> Result<(), (usize, String)> {
        let mut lanes: Vec<(&str, VecDeque<(usize, &Expected)>)> = Vec::new();
        for step in steps {
            let at = |error| (step.line, error);
            match &step.does {
                Does::Send(message) => {
                    let line = message.line(&self.judge.captures).map_err(at)?;
                    self.judge.note(&line);
                    self.wire.send(&line).await;
                }
                Does::Silence => self.silence().await.map_err(at)?,
                Does::Revision(revision) => self.schema = Schema::of(revision),
                Does::Expect(expected) => {
                    let name = expected.lane.as_deref().unwrap_or_default();
                    let lane = lanes.iter().position(|lane| lane.0 == name).unwrap_or(lanes.len());
                    if lane == lanes.len() {
                        lanes.push((name, VecDeque::new()));
                    }
                    lanes[lane].1.push_back((step.line, expected));
                }
            }
        }
        while let Some(&(first, _)) = lanes.iter().find_map(|lane| lane.1.front()) {
            let received = self.receive().await.map_err(|error| (first, error))?;
            self.meet(&mut lanes, &received)?;
        }
        Ok(())
    }

    /// Removes the first expectation that `received` matches from its lane.
    fn meet(
        &mut self,
        lanes: &mut [(&str, VecDeque<(usize, &Expected)>)],
        received: &Value,
    ) -> Result<(), (usize, String)> {
        let mut closest: Option<(usize, Vec<Difference>)> = None;
        for (_, lane) in lanes {
            let Some(&(line, expected)) = lane.front() else { continue };
            let differences = self.judge.compare(&expected.pattern, received);
            if differences.is_empty() {
                lane.pop_front();
                let schema = expected.schema.then_some(self.schema);
                return self.judge.conforms(schema, received).map_err(|error| (line, error));
            }
            if closest.as_ref().is_none_or(|(_, fewest)| differences.len() < fewest.len()) {
                closest = Some((line, differences));
            }
        }
        let (line, differences) = closest.unwrap_or_default();
        Err((line, report("the server's message", &differences, received)))
    }

    async fn receive(&mut self) -> Result<Value, String> {
        let line = self.wire.receive(ANSWER).await;
        let line = line.ok_or_else(|| format!("nothing came within {ANSWER:?}"))?;
        let text = str::from_utf8(&line).map_err(|error| format!("not UTF-8: {error}"))?;
        if text.contains('\n') {
            return Err(format!("a newline inside a line: {text:?}"));
        }
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}: {text}"))
    }

    async fn silence(&mut self) -> Result<(), String> {
        match self.wire.receive(SILENCE).await {
            None => Ok(()),
            Some(line) => Err(format!("unexpected: {}", String::from_utf8_lossy(&line))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    /// A server that answers each received line with fixed lines.
    struct Script<'a>(VecDeque<&'a [&'a str]>, VecDeque<&'a str>);

    impl Wire for Script<'_> {
        async fn send(&mut self, _line: &[u8]) {
            self.1.extend(self.0.pop_front().unwrap_or_default());
        }

        async fn receive(&mut self, _patience: Duration) -> Option<Vec<u8>> {
            self.1.pop_front().map(|line| line.as_bytes().to_vec())
        }
    }

    fn run(text: &str, answers: &[&[&str]]) -> Result<(), String> {
        let transcript = Transcript::parse("t", "2025-11-25", text)?;
        let mut wire = Script(answers.iter().copied().collect(), VecDeque::new());
        let replay = pin!(replay(&transcript, &mut wire));
        match replay.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => panic!("a script is always ready"),
        }
    }

    #[track_caller]
    fn check(text: &str, answers: &[&[&str]], complaint: Option<&str>) {
        match (run(text, answers), complaint) {
            (Ok(()), None) => {}
            (Ok(()), Some(part)) => panic!("passes, but should not: {part}"),
            (Err(error), None) => panic!("{error}"),
            (Err(error), Some(part)) => assert!(error.contains(part), "{error}"),
        }
    }

    const PING: &str = r#"{"client": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
        {"server": {"jsonrpc": "2.0", "id": 1, "result": {}}}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[test]
    fn an_answer_as_expected_passes() {
        check(PING, &[&[PONG]], None);
    }

    #[test]
    fn a_difference_is_reported_with_its_line_and_path() {
        let other = r#"{"jsonrpc":"2.0","id":"1","result":{}}"#;
        check(
            PING,
            &[&[other]],
            Some(
                "2025-11-25/t:2: the server's message differs\n  $.id: expected 1, got \"1\"\n  received: {",
            ),
        );
        check(PING, &[&[]], Some("t:2: nothing came"));
        check(PING, &[&["{"]], Some("t:2: not JSON"));
    }

    #[test]
    fn silence_is_demanded_where_it_stands_and_at_the_end() {
        check(PING, &[&[PONG, PONG]], Some("at the end: unexpected"));
        let silent = r#"{"client": {"jsonrpc": "2.0", "method": "notifications/initialized"}}
            {"silence": true}
            {"client": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
            {"server": {"jsonrpc": "2.0", "id": 1, "result": {}}}"#;
        check(silent, &[&[], &[PONG]], None);
        check(silent, &[&[PONG], &[]], Some("t:2: unexpected"));
    }

    const TWO: &str = r#"{"client": {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}}
        {"client": {"jsonrpc": "2.0", "id": 2, "method": "ping"}}
        {"server": {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}, "lane": 1}
        {"server": {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, "lane": 1}
        {"server": {"jsonrpc": "2.0", "id": 2, "result": {}}, "lane": 2}"#;
    const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    const CALLED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    const PONG2: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;

    #[test]
    fn lanes_overtake_each_other_but_keep_their_order() {
        check(TWO, &[&[], &[PROGRESS, CALLED, PONG2]], None);
        check(TWO, &[&[], &[PONG2, PROGRESS, CALLED]], None);
        check(TWO, &[&[], &[PROGRESS, PONG2, CALLED]], None);
        check(TWO, &[&[], &[CALLED, PROGRESS, PONG2]], Some("differs"));
        check(TWO, &[&[], &[PROGRESS, CALLED]], Some("t:5: nothing came"));
    }

    #[test]
    fn captures_go_from_server_to_client() {
        let text = r#"{"client": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}
            {"server": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "nextCursor": {"$as": "c"}}}}
            {"client": {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": {"$use": "c"}}}}
            {"server": {"jsonrpc": "2.0", "id": 2, "result": {"tools": [], "nextCursor": {"$as": "c"}}}}"#;
        let first = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"x"}}"#;
        let same = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"x"}}"#;
        let other = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"y"}}"#;
        check(text, &[&[first], &[same]], None);
        check(text, &[&[first], &[other]], Some("`c` was \"x\" before"));
    }

    #[test]
    fn the_schema_judges_what_the_pattern_lets_pass() {
        let loose = |revision: &str, tail: &str| {
            format!(
                r#"{{"revision": "{revision}"}}
                {{"client": {{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}}}
                {{"server": {{"jsonrpc": "2.0", "id": 1, "result": {{"$any": true}}}}{tail}}}"#
            )
        };
        let listed: &[&str] = &[r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#];
        check(&loose("2025-11-25", ""), &[listed], None);
        check(
            &loose("2025-11-25", ""),
            &[&[PONG]],
            Some("t:3: against the schema: ListToolsResult"),
        );
        check(&loose("2025-11-25", r#", "schema": false"#), &[&[PONG]], None);
        check(&loose("2026-07-28", ""), &[listed], Some("resultType"));
    }
}
