//! The size of the file of a chat, beside the bytes of its messages.

use std::path::Path;

use petalflow::prelude::*;
use petalflow_sqlite::{SqliteStore, Synchronous};
use tempfile::TempDir;

use crate::wait_until_closed;

/// The bytes of a message.
const MESSAGE: usize = 200;

#[state]
#[derive(Debug)]
struct Chat {
    #[key(input)]
    wanted: usize,
    #[key(append)]
    messages: Vec<String>,
}

/// A message that cannot be made shorter.
fn message(index: usize) -> ChatMessages {
    let mut number = index as u64 + 1;
    let text = std::iter::repeat_with(|| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b'!' + (number >> 33).to_le_bytes()[0] % 90)
    });
    ChatMessages(vec![text.take(MESSAGE).collect()])
}

#[node(Chat)]
async fn ask(messages: &[String]) -> ChatMessages {
    message(messages.len())
}

#[node(Chat)]
async fn answer(messages: &[String], wanted: &usize) -> (ChatMessages, bool) {
    (message(messages.len()), messages.len() + 1 < *wanted)
}

flow! {
    Talk(Chat) {
        START -> ask -> answer;
        answer -> match { true => ask, false => END };
    }
}

#[state]
#[derive(Debug)]
struct Turns {
    #[key(input, append)]
    messages: Vec<String>,
}

#[node(Turns)]
async fn reply(messages: &[String]) -> TurnsMessages {
    TurnsMessages(message(messages.len()).0)
}

flow!(TalkInTurns(Turns) { reply });

/// The size of the database with its log and the index of the log.
fn size(path: &Path) -> u64 {
    let files = ["db", "db-wal", "db-shm"].map(|extension| path.with_extension(extension));
    let sizes = files
        .iter()
        .map(|file| file.metadata().map_or(0, |file| file.len()));
    sizes.sum()
}

#[tokio::test]
async fn a_chat_takes_little_more_than_its_messages() {
    for (messages, ways) in [
        (1_000, &[false, true][..]),
        (2_000, &[false]),
        (5_000, &[false]),
    ] {
        for in_turns in ways.iter().copied() {
            let folder = TempDir::new().expect("a folder can be made");
            let path = folder.path().join("chat.db");
            let options = SqliteStore::options(&path).synchronous(Synchronous::Normal);
            let store = options.open().await.expect("it opens");
            if in_turns {
                let thread = TalkInTurns::new()
                    .store(&store)
                    .thread("0198f6a2-7c1d-7f00");
                for turn in 0..messages / 2 {
                    let chat = thread.run(message(2 * turn).0).await.expect("it runs");
                    let _ = chat.into_finished().expect("it ends");
                }
                let snapshot = thread.snapshot().await.expect("it can be read");
                let snapshot = snapshot.expect("it has begun");
                assert_eq!(snapshot.state.messages.len(), messages);
            } else {
                let thread = Talk::new()
                    .limit(u64::MAX)
                    .store(&store)
                    .thread("0198f6a2-7c1d-7f00");
                let chat = thread.run(messages).await.expect("it runs");
                let chat = chat.into_finished().expect("it ends");
                assert_eq!(chat.messages.len(), messages);
            }
            let open = size(&path);
            drop(store);
            wait_until_closed(&path);
            let (own, closed) = ((messages * MESSAGE) as u64, size(&path));
            // Three pages are empty: the table that counts what is beside checkpoints, and the search attributes with their
            // index. Three have one entry: the index of threads. One has the text of its layout.
            assert!(
                (closed - 7 * 1_024) * 4 <= own * 5,
                "{messages} messages of {own} bytes, in turns {in_turns}: a file of {closed} bytes"
            );
            // Below 1 MB on a quiet machine. The writer moves the log into the database while it is idle, so the log gets a
            // little longer where other programs take the processors.
            assert!(
                open <= closed + 1_250_000,
                "{messages} messages, in turns {in_turns}: {open} bytes while open, {closed} closed"
            );
        }
    }
}
