//! The flows of the cases.

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::{BoxError, NodeError};

#[state]
pub(crate) struct Job {
    #[key(input)]
    pages: Vec<u32>,
    #[key(append, inbox)]
    notes: Vec<String>,
    #[key(sum)]
    total: u64,
    #[key(append)]
    failures: Vec<NodeError>,
    title: String,
}

pub(crate) fn note(text: impl Into<String>) -> JobNotes {
    JobNotes(vec![text.into()])
}

#[node(Job)]
async fn plan(pages: &[u32]) -> (JobTitle, JobNotes) {
    let title = format!("{} pages", pages.len());
    (JobTitle(title), note("plan"))
}

#[node(Job)]
async fn read(pages: &[u32], cx: Context) -> (JobNotes, JobTotal) {
    let total = pages.iter().map(|page| u64::from(*page)).sum();
    (
        note(format!("read in superstep {}", cx.superstep())),
        JobTotal(total),
    )
}

#[node(Job)]
async fn count(notes: &[String]) -> JobNotes {
    note(format!("count {}", notes.len()))
}

#[node(Job)]
async fn finish(notes: &[String], cx: Context) -> JobNotes {
    let left = cx.remaining_supersteps();
    note(format!("finish after {} with {left} left", notes.len()))
}

#[node(Job)]
async fn spread(pages: &[u32]) -> Each<u32> {
    pages.iter().copied().collect()
}

#[node(Job)]
async fn fetch(#[item] page: &u32, cx: Context) -> (JobNotes, JobTotal) {
    tokio::task::yield_now().await;
    let at = cx.index().unwrap_or_default();
    (
        note(format!("page {page} at {at}")),
        JobTotal(u64::from(*page)),
    )
}

#[node(Job)]
async fn fetch_odd(#[item] page: &u32) -> petalflow::Result<JobTotal> {
    if page.is_multiple_of(2) {
        return Err(format!("page {page} is even").into());
    }
    Ok(JobTotal(u64::from(*page)))
}

#[node(Job)]
async fn collect(#[item] failure: &NodeError) -> JobFailures {
    JobFailures(vec![failure.clone()])
}

#[node(Job)]
async fn add(total: &u64) -> (JobTotal, bool) {
    (JobTotal(1), *total < 4)
}

#[derive(Route)]
enum Kind {
    Short(u32),
    Long,
}

#[node(Job)]
async fn choose(pages: &[u32]) -> (JobNotes, Kind) {
    let kind = match pages {
        [page] => Kind::Short(*page),
        _ => Kind::Long,
    };
    (note("choose"), kind)
}

#[node(Job)]
async fn short(#[item] page: &u32) -> JobNotes {
    note(format!("short {page}"))
}

#[node(Job, retry = 3)]
async fn unreliable(cx: Context) -> petalflow::Result<JobNotes> {
    if cx.attempt() < 3 {
        return Err(format!("attempt {} fails", cx.attempt()).into());
    }
    Ok(note(format!("attempt {}", cx.attempt())))
}

#[node(Job)]
async fn broken() -> petalflow::Result<()> {
    Err("it is broken".into())
}

#[node(Job)]
async fn repaired_later(title: &str) -> petalflow::Result<JobNotes> {
    // What runs beside it ends before it, so that its result is stored.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    if title == "repaired" {
        Ok(note("repaired"))
    } else {
        Err("not repaired yet".into())
    }
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
pub(crate) struct MayGoOn {
    pub(crate) pages: usize,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
pub(crate) struct WhichTitle {}

#[node(Job)]
async fn ask(pages: &[u32], cx: Context) -> petalflow::Result<JobNotes> {
    let pages = pages.len();
    let may = cx.ask(MayGoOn { pages }).await?;
    Ok(note(format!("may go on: {may}")))
}

#[node(Job)]
async fn ask_title(cx: Context) -> petalflow::Result<JobTitle> {
    Ok(JobTitle(cx.ask(WhichTitle {}).await?))
}

#[node(Job)]
async fn pay(cx: Context) -> petalflow::Result<(JobNotes, JobTotal)> {
    let first: u64 = cx.once("first", async { Ok::<u64, BoxError>(3) }).await?;
    let second: u64 = cx
        .once("second", async { Ok::<u64, BoxError>(first + 4) })
        .await?;
    Ok((note(format!("paid {first} and {second}")), JobTotal(second)))
}

#[node(Job)]
async fn use_client(client: Managed<String>) -> JobNotes {
    note(client.to_string())
}

#[state]
pub(crate) struct Part {
    #[key(input)]
    page: u32,
    #[key(sum)]
    visits: u64,
    #[key(append)]
    lines: Vec<String>,
}

#[node(Part)]
async fn visit() -> PartVisits {
    PartVisits(1)
}

#[node(Part)]
async fn describe(page: &u32, visits: &u64, cx: Context) -> petalflow::Result<PartLines> {
    let line = cx.once("line", async {
        Ok::<_, BoxError>(format!("page {page}, visit {visits}"))
    });
    Ok(PartLines(vec![line.await?]))
}

#[node(Part)]
async fn ask_inside(cx: Context) -> petalflow::Result<PartLines> {
    let may = cx.ask(MayGoOn { pages: 1 }).await?;
    Ok(PartLines(vec![format!("inside: {may}")]))
}

flow!(pub(crate) VisitPart(Part) { visit -> describe });
flow!(pub(crate) AskPart(Part) { visit -> ask_inside });

flow!(pub(crate) Chain(Job) { plan -> read -> count -> finish });
flow!(pub(crate) Fork(Job) { plan -> read & count; read & count -> finish });
flow!(pub(crate) Spread(Job) { spread -> each fetch -> finish; defer finish; });
flow!(pub(crate) SpreadOdd(Job) { spread -> each fetch_odd -> finish; catch fetch_odd -> collect; collect -> finish; defer finish; });
flow!(pub(crate) Loop(Job) { add -> match { true => add, false => finish } });
flow!(pub(crate) Choose(Job) { choose -> match { Short => short, Long => count }; short -> finish; count -> finish });
flow!(pub(crate) Retrying(Job) { plan -> unreliable -> finish });
flow!(pub(crate) Caught(Job) { plan -> broken -> finish; catch broken -> collect; });
flow!(pub(crate) Repair(Job) { plan -> count & repaired_later; count & repaired_later -> finish });
flow!(pub(crate) Asking(Job) { plan -> ask -> finish });
flow!(pub(crate) AskingTwice(Job) { plan -> ask & ask_title & count; ask & ask_title & count -> finish });
flow!(pub(crate) Approving(Job) { plan -> read -> count -> finish; interrupt before read; interrupt after count; });
flow!(pub(crate) Paying(Job) { plan -> pay & count; pay & count -> finish });
flow!(pub(crate) Managing(Job) { use_client -> finish });
flow! {
    pub(crate) Parts(Job) {
        spread -> each part;
        node part: VisitPart {
            in: |#[item] page: &u32| *page,
            out: |part: Part| JobNotes(part.lines),
        };
    }
}
flow! {
    pub(crate) KeptParts(Job) {
        plan -> part -> finish;
        node part: VisitPart {
            keep: thread,
            in: |pages: &[u32]| pages.len() as u32,
            out: |part: Part| (JobNotes(part.lines), JobTotal(part.visits)),
        };
    }
}
flow! {
    pub(crate) AskingParts(Job) {
        plan -> part & count;
        part & count -> finish;
        node part: AskPart {
            in: |pages: &[u32]| pages.len() as u32,
            out: |part: Part| JobNotes(part.lines),
        };
    }
}
