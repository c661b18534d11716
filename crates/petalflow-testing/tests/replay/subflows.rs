//! Supersteps of sub-flows are compared as those of the thread's own flow are: of items, nested, and of flows that keep their state.

use petalflow::thread::ThreadFile;

use super::*;

/// The innermost flow.
#[state]
pub(super) struct Draft {
    #[key(input)]
    pub(super) goal: u32,
    #[key(default)]
    pub(super) words: u32,
    #[key(append)]
    pub(super) notes: Vec<String>,
}

#[node(Draft)]
pub(super) async fn write(words: &u32) -> (DraftWords, DraftNotes) {
    let words = words + 10;
    (
        DraftWords(words),
        DraftNotes(vec![format!("{words} words")]),
    )
}

#[node(Draft)]
pub(super) async fn judge(goal: &u32, words: &u32) -> bool {
    words >= goal
}

flow!(pub(super) WriteDraft(Draft) { START -> write -> judge -> match { true => END, false => write } });

/// A flow between the two others.
#[state]
pub(super) struct Chapter {
    #[key(input)]
    pub(super) goal: u32,
    #[key(default)]
    pub(super) text: String,
}

#[node(Chapter)]
pub(super) async fn edit(text: &str) -> ChapterText {
    ChapterText(format!("edited: {text}"))
}

/// A chapter of each item, and a preface that keeps its state from turn to turn.
#[state]
pub(super) struct Book {
    #[key(input)]
    pub(super) chapters: Vec<u32>,
    #[key(append)]
    pub(super) texts: Vec<String>,
    #[key(default)]
    pub(super) preface: String,
}

#[node(Book)]
pub(super) async fn plan(chapters: &[u32]) -> Each<u32> {
    Each(chapters.to_vec())
}

#[node(Book)]
pub(super) async fn bind() {}

/// A book whose innermost flow is another one.
macro_rules! book {
    ($draft:ident) => {
        flow!(pub(in super::super) WriteChapter(Chapter) {
            node draft: $draft {
                in: |goal: &u32| *goal,
                out: |draft: Draft| ChapterText(draft.notes.join(", ")),
            };
            START -> draft -> edit -> END;
        });

        flow!(pub(in super::super) WriteBook(Book) {
            node chapter: WriteChapter {
                in: |#[item] goal: &u32| *goal,
                out: |chapter: Chapter| BookTexts(vec![chapter.text.clone()]),
            };
            node preface: $draft {
                in: || 10_u32,
                out: |draft: Draft| BookPreface(draft.notes.join(", ")),
                keep: thread,
            };
            START -> plan -> each chapter -> bind -> preface -> END;
        });
    };
}

pub(super) mod then {
    use super::*;
    book!(WriteDraft);
}

/// The innermost flow has other routes.
pub(super) mod other_routes {
    use super::*;

    flow!(pub(super) WriteDraft(Draft) { START -> write -> judge -> match { true => write, false => END } });
    book!(WriteDraft);
}

/// A node of the innermost flow writes something else.
pub(super) mod other_output {
    use super::*;

    #[node(Draft)]
    async fn write(words: &u32) -> (DraftWords, DraftNotes) {
        let words = words + 10;
        (
            DraftWords(words),
            DraftNotes(vec![format!("{words} words!")]),
        )
    }

    flow!(pub(super) WriteDraft(Draft) { START -> write -> judge -> match { true => END, false => write } });
    book!(WriteDraft);
}

/// A node of the innermost flow is gone.
pub(super) mod removed {
    use super::*;

    #[node(Draft)]
    async fn compose(words: &u32) -> (DraftWords, DraftNotes) {
        let words = words + 10;
        (
            DraftWords(words),
            DraftNotes(vec![format!("{words} words")]),
        )
    }

    flow!(pub(super) WriteDraft(Draft) { START -> compose -> judge -> match { true => END, false => compose } });
    book!(WriteDraft);
}

pub(super) async fn book(goals: Vec<u32>, turns: usize) -> ThreadFile {
    let threads = threads(then::WriteBook::new());
    let thread = threads.thread("book");
    for _ in 0..turns {
        let ended = thread.run(goals.clone()).await.unwrap();
        ended.into_finished().unwrap();
    }
    exported(&threads, "book").await
}

/// The rows, each with its sub-flow.
fn rows_of(report: &ReplayReport) -> Vec<String> {
    let flows = report.replayed.differences.iter().map(|row| &row.flow);
    let rows = rows(report).into_iter().zip(flows);
    rows.map(|(row, flow)| format!("<{flow}> {row}")).collect()
}

#[tokio::test]
async fn f44_each_superstep_of_a_subflow_is_compared() {
    let file = book(vec![10, 20], 2).await;
    let (recorded, run) = both(&file, then::WriteBook::new).await;
    assert!(recorded.is_same(), "{recorded}");
    assert!(run.is_same(), "{run}");
    // Of each turn: 4 of the book, 2 and 2 of the chapters, 2 and 4 of their drafts, 2 of the preface.
    assert_eq!(
        recorded.replayed.supersteps,
        2 * (4 + 2 + 2 + 2 + 4 + 2),
        "{recorded}"
    );
    assert_eq!(
        (recorded.replayed.ran, run.replayed.supersteps),
        (0, 2 * 16)
    );
    assert!(run.replayed.ran >= 2 * 17, "{run}");
}

#[tokio::test]
async fn f44_changes_inside_of_subflows_are_found() {
    let file = book(vec![20], 1).await;
    let replay = || Replay::of_file(file.clone());
    let routes = replay().flow(other_routes::WriteBook::new());
    let expected = [
        "<chapter/draft> program judge edge [false]: write => END",
        "<chapter/draft> program judge edge [true]: END => write",
        "<preface> program judge edge [false]: write => END",
        "<preface> program judge edge [true]: END => write",
        "<chapter[0]/draft> 1.2 judge next : write => the end",
        "<chapter[0]/draft> 1.4 judge next : the end => write",
        "<preface> 1.2 judge next : the end => write",
    ];
    assert_eq!(rows_of(&routes.report().await), expected);

    let output = || replay().flow(other_output::WriteBook::new());
    let recorded = output().report().await;
    assert!(recorded.is_same(), "{recorded}");
    let named = output().run("chapter/draft/write").report().await;
    let expected = [
        "<chapter[0]/draft> 1.1 write output notes/0: \"10 words\" => \"10 words!\"",
        "<chapter[0]/draft> 1.3 write output notes/0: \"20 words\" => \"20 words!\"",
    ];
    assert_eq!(rows_of(&named), expected);
    assert_eq!(named.replayed.ran, 2);
    assert!(
        named.to_string().contains("1 of chapter[0]/draft"),
        "{named}"
    );

    let gone = rows_of(&replay().flow(removed::WriteBook::new()).report().await);
    let expected = [
        "<chapter/draft> program compose node : - => node compose",
        "<chapter/draft> program write node : node write => -",
        "<preface> program compose node : - => node compose",
        "<preface> program write node : node write => -",
    ];
    assert_eq!(gone[..4], expected);
    for (row, flow) in gone[4..].iter().zip(["chapter[0]/draft", "preface"]) {
        let refused = format!("<{flow}> 1.1 write resume checkpoint 0: resumes => ");
        assert!(row.starts_with(&refused), "{gone:#?}");
    }
    assert_eq!(gone.len(), 6, "{gone:#?}");
}
