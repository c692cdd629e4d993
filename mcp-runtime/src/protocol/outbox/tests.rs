use super::*;

fn drain(outbox: &Outbox) -> String {
    let mut all = Vec::new();
    let mut part = Vec::new();
    while outbox.take(&mut part) {
        all.append(&mut part);
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn repeated_events_are_merged_only_under_a_slow_reader() {
    let outbox = Outbox::default();
    outbox.push_event(None, b"a".to_vec());
    outbox.push_event(None, b"a".to_vec());
    assert_eq!(drain(&outbox), "a\na\n");
    outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
    for _ in 0..1000 {
        outbox.push_event(None, b"a".to_vec());
        outbox.push_event(None, b"b".to_vec());
    }
    assert!(drain(&outbox).ends_with("x\na\nb\n"));
}

#[test]
fn news_of_tasks_are_merged_and_bounded_under_a_slow_reader() {
    let outbox = Outbox::default();
    outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
    let task: Arc<str> = "a".into();
    outbox.push_event(None, b"changed".to_vec());
    for n in 0..1000 {
        outbox.push_news(None, &task, format!("a {n}").into_bytes());
    }
    assert!(drain(&outbox).ends_with("x\nchanged\na 999\n"));
    outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
    outbox.push_event(None, b"changed".to_vec());
    for n in 0..1000 {
        let mut news = format!("{n} ").into_bytes();
        news.resize(10_000, b'y');
        outbox.push_news(None, &n.to_string().into(), news);
    }
    let left = drain(&outbox);
    assert!(left.len() < Outbox::SLOW + Outbox::FULL + 10_000, "{}", left.len());
    assert!(left.contains("\nchanged\n") && left.contains("\n999 y"));
}

#[test]
fn logs_are_dropped_when_the_client_does_not_read() {
    let outbox = Outbox::default();
    for _ in 0..10_000 {
        outbox.push_log(|out| out.extend_from_slice(&[b'x'; 1000]));
    }
    assert!(outbox.len() < Outbox::FULL + 2000);
}
