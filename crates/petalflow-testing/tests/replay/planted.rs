//! Fifty threads of flows, each replayed with programs that differ in one thing.

use super::*;

/// The rows of a replay in which these nodes run.
async fn found<F: Flow<State: State<Storage = Durable>>>(
    file: &ThreadFile,
    launch: Launch<F>,
    runs: &[&str],
) -> Vec<String> {
    let replay = Replay::of_file(file.clone()).flow(launch);
    let replay = runs.iter().fold(replay, |replay, node| replay.run(*node));
    rows(&replay.report().await)
}

/// Whether the rows are these. The rest of a row that ends with `..` may be anything.
fn assert_rows(rows: &[String], expected: &[String], what: &str) {
    let is = |row: &String, expected: &String| match expected.strip_suffix("..") {
        Some(start) => row.starts_with(start),
        None => row == expected,
    };
    let same = rows.len() == expected.len()
        && rows
            .iter()
            .zip(expected)
            .all(|(row, expected)| is(row, expected));
    assert!(same, "{what}: {rows:#?} and not {expected:#?}");
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// A loop: a node is new, a route leads elsewhere, a key is new, a key has another type, a node writes something else.
async fn essay(goal: u32) {
    let file = flows::essay(goal).await;
    let loops = goal.div_ceil(10).max(1);
    let what = format!("essay {goal}");
    let rows = found(&file, changed::node_added::WriteEssay::new(), &[]).await;
    let added = [
        "program check node : - => node check",
        "1.1 write next : judge => check",
    ];
    assert_rows(&rows, &texts(&added), &what);

    let rows = found(&file, changed::route_changed::WriteEssay::new(), &[]).await;
    let mut expected = texts(&[
        "program judge edge [false]: write => END",
        "program judge edge [true]: END => write",
    ]);
    if loops > 1 {
        expected.push("1.2 judge next : write => the end".into());
    }
    expected.push(format!("1.{} judge next : the end => write", 2 * loops));
    assert_rows(&rows, &expected, &what);

    let rows = found(&file, changed::key_added::WriteEssay::new(), &[]).await;
    assert_rows(
        &rows,
        &texts(&["program - key tone: - => String replace"]),
        &what,
    );
    let rows = found(
        &file,
        changed::type_changed::WriteEssay::new(),
        &["write", "judge"],
    )
    .await;
    let typed = "program - key words: u32 replace => u64 replace";
    assert_rows(&rows, &texts(&[typed]), &what);

    let rows = found(&file, changed::nodes_changed::WriteEssay::new(), &["write"]).await;
    let output = |at: u32| {
        let (superstep, words) = (2 * at - 1, 10 * at);
        format!("1.{superstep} write output words: {words} => {}", words + 1)
    };
    let expected: Vec<String> = (1..=loops).map(output).collect();
    assert_rows(&rows, &expected, &what);
}

/// Items and a join: a node has another name.
async fn survey(pages: u32) {
    let file = flows::survey(pages).await;
    let rows = found(&file, changed::node_renamed::Read::new(), &[]).await;
    let expected = texts(&[
        "program report node : node report => -",
        "program summary node : - => node summary",
        "1.3 report resume checkpoint 2: resumes => ..",
    ]);
    assert_rows(&rows, &expected, &format!("survey {pages}"));
}

/// A question: an effect that was not recorded.
async fn refund(euros: u32) {
    let file = flows::refund(euros).await;
    let rows = found(&file, changed::effect_added::PayRefund::new(), &["pay"]).await;
    let expected = "1.2 pay effect mail: - => an effect that was not recorded; it was not run";
    assert_rows(&rows, &texts(&[expected]), &format!("refund {euros}"));
}

/// A sub-flow, in two turns: a node before it is gone.
async fn trip(days: u32) {
    let file = flows::trip(days).await;
    let rows = found(&file, changed::node_removed::PlanTrip::new(), &[]).await;
    let expected = texts(&[
        "program look node : node look => -",
        "1.1 look resume checkpoint 0: resumes => ..",
    ]);
    assert_rows(&rows, &expected, &format!("trip {days}"));
}

/// Sub-flows of items, nested: a node of the innermost one writes something else.
async fn book(chapters: u32) {
    let goals: Vec<u32> = (1..=chapters).map(|chapter| chapter * 10).collect();
    let file = subflows::book(goals, 1).await;
    let nothing = found(
        &file,
        subflows::then::WriteBook::new(),
        &["chapter/draft/write"],
    )
    .await;
    assert_rows(&nothing, &[], &format!("book {chapters}"));
    let today = subflows::other_output::WriteBook::new();
    let rows = found(&file, today, &["chapter/draft/write"]).await;
    let of_chapter = |chapter: u32| {
        (1..=chapter).map(|draft| {
            let (superstep, words) = (2 * draft - 1, 10 * draft);
            format!("1.{superstep} write output notes/0: \"{words} words\" => \"{words} words!\"")
        })
    };
    let mut expected: Vec<String> = (1..=chapters).flat_map(of_chapter).collect();
    // `chapter[10]` comes before `chapter[2]`.
    expected.sort_unstable();
    let mut rows = rows;
    rows.sort_unstable();
    assert_rows(&rows, &expected, &format!("book {chapters}"));
}

#[tokio::test]
async fn f44_each_planted_change_of_fifty_threads_is_found_and_nothing_else() {
    for n in 1..=10 {
        essay(n * 7).await;
        survey(n).await;
        refund(n * 11).await;
        trip(n % 4 + n).await;
        book(n % 5 + 1).await;
    }
}
