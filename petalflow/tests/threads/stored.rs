//! Threads that are read without the types of their program.

use std::collections::BTreeMap;

use petalflow::checkpoint::{InMemoryStore, ThreadQuery};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{HistoryQuery, StoredThreads};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Line {
    speaker: String,
    words: u32,
}

fn longest(value: &mut String, write: String) {
    if write.len() > value.len() {
        *value = write;
    }
}

#[state]
#[derive(Debug)]
struct Talk {
    #[key(input)]
    topic: String,
    #[key(append)]
    lines: Vec<Line>,
    #[key(prepend)]
    newest_first: Vec<u32>,
    #[key(sum)]
    words: i64,
    #[key(max)]
    most: u32,
    #[key(merge)]
    by_speaker: BTreeMap<String, u32>,
    #[key(reduce = longest)]
    title: String,
    #[key(id = "mood-2")]
    mood: Option<f64>,
    #[key(default)]
    round: u32,
}

#[derive(Serialize, Deserialize, Ask)]
#[ask(answer = bool)]
struct GoOn {
    after: u32,
}

#[node(Talk)]
async fn speak(
    round: &u32,
    topic: &str,
) -> (
    TalkWords,
    TalkMost,
    TalkNewestFirst,
    TalkBySpeaker,
    TalkTitle,
    TalkMood,
    TalkLines,
    TalkRound,
) {
    let line = Line {
        speaker: format!("s{}", round % 2),
        words: round * 3,
    };
    let length = topic.len().min(*round as usize + 1);
    (
        TalkWords(line.words.into()),
        TalkMost(line.words),
        TalkNewestFirst(vec![*round]),
        TalkBySpeaker(BTreeMap::from([(line.speaker.clone(), line.words)])),
        TalkTitle(topic[..length].to_string()),
        TalkMood(Some(f64::from(*round) / 2.0)),
        TalkLines(vec![line]),
        TalkRound(round + 1),
    )
}

#[derive(Route)]
enum Next {
    More,
    Ask,
}

#[node(Talk)]
async fn decide(round: &u32) -> Next {
    if *round < 6 { Next::More } else { Next::Ask }
}

#[node(Talk)]
async fn ask(round: &u32, cx: Context) -> petalflow::Result<()> {
    if cx.ask(GoOn { after: *round }).await? {
        return Ok(());
    }
    Err("nobody wants to go on".into())
}

flow! {
    Talks(Talk) {
        START -> speak -> decide -> match { More => speak, Ask => ask };
    }
}

/// The typed state as JSON, with the stored names.
fn expected(state: &Talk) -> Value {
    json!({
        "topic": state.topic,
        "lines": state.lines,
        "newest_first": state.newest_first,
        "words": state.words,
        "most": state.most,
        "by_speaker": state.by_speaker,
        "mood-2": state.mood,
        "round": state.round,
    })
}

#[tokio::test]
async fn every_checkpoint_has_the_values_that_the_program_reads() {
    let store = InMemoryStore::new();
    let thread = Talks::new().store(&store).event_log(100).thread("ann");
    let paused = thread.run("petals".to_string()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let stored = StoredThreads::new(&store);
    let typed = thread.snapshots(HistoryQuery::all()).await.unwrap();
    assert!(typed.len() > 10);
    for typed in &typed {
        let number = typed.info.checkpoint;
        let read = stored.snapshot("ann", Some(number)).await.unwrap().unwrap();
        let mut keys = read.keys.clone();
        let title = keys.remove("title").unwrap_or_default();
        let mut expected = expected(&typed.state);
        // A key without a value is not stored.
        let expected = expected.as_object_mut().unwrap();
        expected.retain(|name, _| keys.contains_key(name));
        assert_eq!(Value::Object(keys), json!(expected), "checkpoint {number}");
        let is_folded = title.is_string() || title.is_null();
        assert!(is_folded || title["writes"].is_array(), "{title}");
        assert_eq!(read.info, typed.info);
        assert_eq!(read.tasks, typed.tasks);
        assert_eq!(json!(read.interrupts), json!(typed.interrupts));
    }
    let newest = stored.snapshot("ann", None).await.unwrap().unwrap();
    assert_eq!(newest.keys.len(), 9);
    assert_eq!(newest.flow, "Talks");
    assert_eq!(newest.interrupts[0].node, "ask");
    let history = thread.history(HistoryQuery::all()).await.unwrap();
    let read = stored.history("ann", HistoryQuery::all()).await.unwrap();
    assert_eq!(read, history);
    let mut events = stored.follow("ann", 0);
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(first.kind, "run_started");
}

#[tokio::test]
async fn what_failed_and_what_does_not_exist_is_said() {
    let store = InMemoryStore::new();
    let thread = Talks::new().store(&store).thread("ann");
    let paused = thread.run("petals".to_string()).await.unwrap();
    let question = paused.interrupts()[0].id;
    let no = petalflow::interrupt::Answer::new::<GoOn>(question, &false).unwrap();
    thread.resume(no).await.unwrap_err();
    let stored = StoredThreads::new(&store);
    let failed = stored.snapshot("ann", None).await.unwrap().unwrap();
    let error = failed.tasks[0].error.as_ref().unwrap().to_string();
    assert!(error.contains("nobody wants to go on"), "{error}");
    assert!(stored.snapshot("ben", None).await.unwrap().is_none());
    let unknown = stored.snapshot("ann", Some(999)).await.unwrap_err();
    assert!(unknown.to_string().contains("999"), "{unknown}");
    let listed = stored.list(ThreadQuery::default()).await.unwrap();
    assert_eq!((listed.len(), &*listed[0].flow), (1, "Talks"));
}
