//! Processes that live for a few writes to their store, one after the other. With two writes each a run ends: the claim, and one that makes
//! progress. With an event log it takes three.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::state::Durable;
use petalflow::thread::{Retention, Thread};
use petalflow_testing::{Fault, FaultKind, FaultyStore};

#[state]
struct Page {
    #[key(input)]
    number: u32,
    #[key(default)]
    text: String,
}

/// Two effects, each with a record.
#[node(Page)]
async fn look(number: &u32, cx: Context) -> petalflow::Result<PageText> {
    let found = async { Ok::<_, petalflow::BoxError>(format!("page {number}")) };
    let found: String = cx.once("find", found).await?;
    let read = async { Ok::<_, petalflow::BoxError>(format!("{found} was read")) };
    Ok(PageText(cx.once("read", read).await?))
}

#[node(Page)]
async fn edit(text: &str) -> PageText {
    PageText(format!("{text} and edited"))
}

flow!(ReadPage(Page) { look -> edit });

#[state]
struct Book {
    #[key(input)]
    pages: u32,
    #[key(append)]
    texts: Vec<String>,
}

#[node(Book)]
async fn list(pages: &u32) -> Each<u32> {
    Each((0..*pages).collect())
}

#[node(Book)]
async fn bind(texts: &[String]) -> BookTexts {
    BookTexts(vec![format!("{} texts", texts.len())])
}

#[node(Book)]
async fn visit(#[item] page: &u32, cx: Context) -> petalflow::Result<BookTexts> {
    let visited = async { Ok::<_, petalflow::BoxError>(format!("page {page}")) };
    Ok(BookTexts(vec![cx.once("visit", visited).await?]))
}

flow!(Bind(Book) { bind });

flow!(Visit(Book) { list -> each visit -> bind });

flow! {
    ReadBook(Book) {
        node page: ReadPage {
            in: |#[item] number: &u32| *number,
            out: |page: Page| BookTexts(vec![page.text]),
        };
        list -> each page -> bind;
    }
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct Title {
    pages: u32,
}

#[node(Book)]
async fn name(pages: &u32, cx: Context) -> petalflow::Result<BookTexts> {
    Ok(BookTexts(vec![cx.ask(Title { pages: *pages }).await?]))
}

flow!(NameBook(Book) { list -> each visit -> name -> bind });

#[node(Book)]
async fn turn(texts: &[String], pages: &u32) -> (BookTexts, bool) {
    let turned = BookTexts(vec![format!("page {}", texts.len())]);
    (turned, texts.len() < *pages as usize)
}

flow!(TurnPages(Book) { turn -> match { true => turn, false => END } });

/// Kills each process right after this many writes. Returns the texts and the number of processes, or none if the run never ends.
async fn killed<F: Flow<State = Book>>(
    thread: &impl Fn(&FaultyStore) -> Thread<F>,
    pages: u32,
    writes: u64,
) -> Option<(Vec<String>, usize)> {
    let store = InMemoryStore::new();
    for processes in 1..1_000 {
        let process = FaultyStore::new(&store);
        process.inject(Fault {
            kind: FaultKind::KilledAfter,
            nth: writes,
        });
        let thread = thread(&process);
        let run = async {
            let run = match thread.snapshot().await.unwrap() {
                Some(known) if known.is_finished() => return Some(known.state),
                Some(known) if !known.interrupts.is_empty() => {
                    thread.answer::<Title>("A book".into())
                }
                Some(_) => thread.resume(()),
                None => thread.run(pages),
            };
            run.await.unwrap().into_finished().ok()
        };
        let ended = tokio::select! {
            biased;
            () = process.died() => None,
            ended = run => ended,
        };
        process.detach();
        if let Some(ended) = ended {
            return Some((ended.texts, processes));
        }
    }
    None
}

/// The fewest writes of each process with which the run ends, as it does without a kill.
async fn fewest<F: Flow<State = Book>>(
    thread: impl Fn(&FaultyStore) -> Thread<F>,
    pages: u32,
) -> u64 {
    let whole = killed(&thread, pages, u64::MAX).await.unwrap().0;
    let mut fewest = None;
    for writes in 1..=6 {
        let killed = killed(&thread, pages, writes).await;
        match (fewest, killed) {
            (None, None) => {}
            (_, Some((texts, processes))) => {
                assert_eq!(texts, whole, "killed after every {writes} writes");
                println!("killed after every {writes} writes: {processes} processes");
                fewest = fewest.or(Some(writes));
            }
            (Some(fewest), None) => {
                panic!("it ends with {fewest} writes, and not with {writes}")
            }
        }
    }
    fewest.expect("it ends with six writes")
}

fn plain<F: Flow<State: State<Storage = Durable>>>(
    launch: Launch<F>,
) -> impl Fn(&FaultyStore) -> Thread<F>
where
    Launch<F>: Clone,
{
    move |store| launch.clone().store(store).thread("book")
}

#[tokio::test]
async fn f44_a_run_ends_if_each_process_lives_for_two_writes() {
    assert_eq!(fewest(plain(Bind::new()), 1).await, 2);
    assert_eq!(fewest(plain(Visit::new()), 8).await, 2);
    assert_eq!(fewest(plain(ReadBook::new()), 8).await, 2);
    assert_eq!(fewest(plain(NameBook::new()), 2).await, 2);
}

#[tokio::test]
async fn f44_a_run_with_a_limited_history_ends_if_each_process_lives_for_two_writes() {
    let limited = |store: &FaultyStore| {
        let threads = TurnPages::new().limit(200).store(store);
        threads
            .retention(Retention::max_checkpoints(8))
            .thread("book")
    };
    assert_eq!(fewest(limited, 150).await, 2);
}

#[tokio::test]
async fn f44_a_run_with_an_event_log_ends_if_each_process_lives_for_three_writes() {
    let logged = |store: &FaultyStore| {
        let threads = ReadBook::new().store(store);
        threads.event_log(1_000).thread("book")
    };
    assert_eq!(fewest(logged, 4).await, 3);
}
