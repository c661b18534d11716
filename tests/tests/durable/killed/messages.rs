//! Messages that several processes send to a thread while another one runs it. All of them are killed again and again.

use petalflow::thread::StoredThreads;

use super::*;

const SENDERS: usize = 2;
const LETTERS: usize = 30;
/// The one that runs the thread, and the senders.
const PROCESSES: usize = 1 + SENDERS;

/// No other process wants the thread.
const CLAIM_LASTS: Duration = Duration::from_millis(100);

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Post {
    #[key(append, inbox)]
    letters: Vec<String>,
    #[key(sum)]
    rounds: u64,
    #[key(append)]
    seen: Vec<u64>,
}

#[node(Post)]
async fn walk(letters: &[String], rounds: &u64) -> (PostSeen, PostRounds, bool) {
    tokio::task::yield_now().await;
    let seen = u64::try_from(letters.len()).expect("they are few");
    (PostSeen(vec![seen]), PostRounds(1), rounds % 4 < 3)
}

flow!(Walk(Post) {
    START -> walk;
    walk -> match { true => walk, false => END };
});

fn thread(store: &(impl Store + Clone), round: usize) -> Thread<Walk> {
    let threads = Walk::new().store(store).on_busy(OnBusy::Queue);
    let threads = threads.durability(durability(round));
    threads.thread(format!("post-{round}"))
}

async fn work(store: impl Store + Clone, _: OnBusy, folder: &Path, number: usize) {
    let (round, process) = (number / PROCESSES, number % PROCESSES);
    let thread = thread(&store, round);
    match process {
        0 => run(&thread).await,
        sender => {
            let sent = folder.join(format!("sent-{round}-{sender}"));
            send(&thread, sender, &sent).await;
        }
    }
}

/// Runs and resumes turns until all letters have arrived.
async fn run(thread: &Thread<Walk>) {
    loop {
        let stored = thread.snapshot().await.expect("it can be read");
        let stored = stored.expect("it exists");
        let run = if !stored.is_finished() {
            thread.resume(())
        } else if stored.state.letters.len() < SENDERS * LETTERS {
            thread.run(())
        } else {
            return;
        };
        run.await
            .expect("a turn does not fail")
            .into_finished()
            .expect("nothing waits");
    }
}

/// Sends all letters. What was acknowledged is in a file, a byte for each: a process sends the last two again.
async fn send(thread: &Thread<Walk>, sender: usize, acknowledged: &Path) {
    let sent = std::fs::read(acknowledged).unwrap_or_default().len();
    let mut last = 0;
    for letter in sent.saturating_sub(2)..LETTERS {
        let text = PostLetters(vec![format!("{sender} {letter}")]);
        let number = thread.send_once(format!("{sender}-{letter}"), text).await;
        let number = number.expect("it is stored");
        assert!(number > last, "letter {letter} has number {number}");
        last = number;
        if letter >= sent {
            let file = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(acknowledged);
            let written = file.and_then(|mut file| file.write_all(b"."));
            written.expect("it can be written");
        }
    }
}

fn kill<St: Store + Clone, M: Future<Output = St>>(
    child: &str,
    folder: &Path,
    place: &str,
    open: impl Fn(String) -> M,
) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    let mut kills = Kills::begin();
    for round in 0.. {
        if round >= 4 && kills.are_enough() {
            break;
        }
        runtime.block_on(async {
            let store = open(place.to_string()).await;
            let begun = thread(&store, round).run(()).await.expect("it runs");
            begun.into_finished().expect("nothing waits");
        });
        kills.count += kill_until_all_end(PROCESSES, |process| {
            start(child, folder, place, round * PROCESSES + process)
        });
        runtime.block_on(async {
            let store = open(place.to_string()).await;
            check(&store, round).await;
        });
    }
    kills.check();
}

/// Each letter has arrived once, those of each sender in their order, and none arrives later.
async fn check(store: &(impl Store + Clone), round: usize) {
    let thread = thread(store, round);
    let stored = thread.snapshot().await.unwrap().unwrap();
    assert!(stored.is_finished());
    let letters = stored.state.letters;
    let mut of_senders = letters.clone();
    // Stable: the order of each sender remains.
    of_senders.sort_by_key(|letter| letter.split_once(' ').unwrap().0.to_string());
    let expected = (1..=SENDERS).flat_map(|it| (0..LETTERS).map(move |n| format!("{it} {n}")));
    assert_eq!(of_senders, expected.collect::<Vec<_>>(), "{letters:?}");
    assert!(stored.state.seen.is_sorted(), "{:?}", stored.state.seen);
    let problems = StoredThreads::new(store).verify(thread.id()).await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let later = thread.run(()).await.unwrap().into_finished().unwrap();
    assert_eq!(later.letters, letters);
}

for_each_store!(f43_messages_arrive_once_and_in_order_although_processes_are_killed);
