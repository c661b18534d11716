//! Schedules: threads that begin at planned times.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, Missed, Schedule, Server, ServerBuilder};
use serde_json::{Value, json};

use crate::kit::{call, get, wait_until_settled};

#[state]
struct Report {
    #[key(input)]
    team: String,
    text: String,
}

#[node(Report)]
async fn write(team: &str) -> ReportText {
    ReportText(format!("What {team} has done."))
}

flow!(Reports(Report) { write });

fn builder(store: &InMemoryStore, schedules: impl IntoIterator<Item = Schedule>) -> ServerBuilder {
    let builder = Server::builder(store)
        .flow(Reports::new())
        .threads(TriggerAuth::None);
    schedules.into_iter().fold(builder, ServerBuilder::schedule)
}

fn built(store: &InMemoryStore, schedule: Schedule) -> Server {
    builder(store, [schedule]).build().expect("it is right")
}

/// A schedule with a thread in each second.
fn secondly() -> Schedule {
    let schedule = Schedule::new("tick", "Reports", "* * * * * *");
    schedule.input(json!({ "team": "sales" }))
}

fn yearly() -> Schedule {
    let schedule = Schedule::new("yearly", "Reports", "0 9 1 1 *").zone("Europe/Berlin");
    schedule.input(json!({ "team": "sales" }))
}

/// Runs the schedules of these servers for a time.
async fn run(servers: &[Server], time: Duration) {
    let running = servers.iter().map(|server| {
        let server = server.clone();
        tokio::spawn(async move { server.run_schedules().await })
    });
    let running: Vec<_> = running.collect();
    tokio::time::sleep(time).await;
    for server in servers {
        server.drain(Duration::from_secs(5)).await;
    }
    for running in running {
        running.await.expect("it ends with the server");
    }
}

/// The planned times of the threads that have begun, in seconds since the first one.
async fn begun(router: &Router) -> Vec<i64> {
    let list = get(router, "/threads?label=petalflow.schedule:tick").await;
    let list = list.json();
    let threads = list["threads"].as_array().expect("threads").iter();
    let times = threads.map(|thread| {
        let id = thread["id"].as_str().expect("an id");
        let time = id.strip_prefix("Reports:tick@").expect("a planned time");
        time.parse::<jiff::Timestamp>().expect("a time").as_second()
    });
    let times: Vec<i64> = times.collect();
    times.iter().map(|time| time - times[0]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_with_one_store_begin_each_planned_time_once() {
    let store = InMemoryStore::new();
    let servers = [built(&store, secondly()), built(&store, secondly())];
    run(&servers, Duration::from_millis(2_600)).await;
    let router = built(&store, yearly()).router();
    let times = begun(&router).await;
    assert!((2..=3).contains(&times.len()), "{times:?}");
    assert_eq!(times, (0..).take(times.len()).collect::<Vec<_>>());

    let list = get(&router, "/threads?flow=Reports").await.json();
    let first = list["threads"][0]["id"]
        .as_str()
        .expect("a thread")
        .to_owned();
    let thread = wait_until_settled(&router, &first).await;
    assert_eq!(thread["state"]["text"], "What sales has done.");
}

#[tokio::test(flavor = "multi_thread")]
async fn times_at_which_no_server_ran_are_caught_up() {
    for (missed, is_complete) in [(Missed::All, true), (Missed::Latest, false)] {
        let store = InMemoryStore::new();
        let schedule = || secondly().missed(missed);
        run(&[built(&store, schedule())], Duration::from_millis(1_500)).await;
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        run(&[built(&store, schedule())], Duration::from_millis(300)).await;
        let times = begun(&built(&store, yearly()).router()).await;
        let last = *times.last().expect("threads");
        assert!(last >= 3, "{missed:?} {times:?}");
        let complete: Vec<i64> = (0..=last).collect();
        assert_eq!(times == complete, is_complete, "{missed:?} {times:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_schedule_begins_nothing_in_any_process_until_it_is_continued() {
    let store = InMemoryStore::new();
    let schedule = || secondly().missed(Missed::All);
    let other = built(&store, yearly()).router();
    let server = built(&store, schedule());
    let router = server.router();
    let paused = call(&router, "POST", "/schedules/tick/pause", json!({})).await;
    assert_eq!(paused.json()["paused"], true);
    run(&[server], Duration::from_millis(1_500)).await;
    assert!(begun(&other).await.is_empty());

    let server = built(&store, schedule());
    let router = server.router();
    assert_eq!(get(&router, "/schedules/tick").await.json()["paused"], true);
    let now = call(&router, "POST", "/schedules/tick/run", json!({})).await;
    wait_until_settled(&router, &now.thread()).await;
    assert_eq!(
        begun(&other).await.len(),
        1,
        "`run` works while it is paused"
    );

    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let continued = call(&router, "POST", "/schedules/tick/unpause", json!({})).await;
    assert_eq!(continued.json()["paused"], false);
    run(&[server], Duration::from_millis(1_200)).await;
    let times = begun(&other).await;
    assert!(
        (2..=3).contains(&times.len()),
        "nothing is caught up: {times:?}"
    );
}

#[tokio::test]
async fn schedules_are_listed_with_their_next_times() {
    let router = built(&InMemoryStore::new(), yearly()).router();
    let list = get(&router, "/schedules").await.json();
    let schedule = &list["schedules"][0];
    let fields = ["name", "flow", "cron", "zone", "missed", "text"];
    let texts = fields.map(|field| schedule[field].as_str().expect("a text"));
    assert_eq!(
        texts,
        [
            "yearly",
            "Reports",
            "0 9 1 1 *",
            "Europe/Berlin",
            "skip",
            "At 09:00, on day 1, in January."
        ]
    );
    assert_eq!(schedule["input"], json!({ "team": "sales" }));
    let next = schedule["next"].as_array().expect("times");
    assert_eq!(next.len(), 5);
    let ends_right = |time: &Value| {
        time.as_str()
            .is_some_and(|it| it.ends_with("-01-01T08:00:00Z"))
    };
    assert!(next.iter().all(ends_right), "{next:?}");
    assert_eq!(get(&router, "/schedules/yearly").await.json(), *schedule);
    let unknown = get(&router, "/schedules/monthly").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(unknown.error(), "there is no schedule `monthly`");
    // The record of the schedule is no thread of a flow.
    assert_eq!(get(&router, "/threads").await.json()["threads"], json!([]));
}

#[tokio::test]
async fn callers_who_see_their_own_threads_only_see_no_schedules() {
    let server =
        builder(&InMemoryStore::new(), [yearly()]).access(|_| Access::label("user", "ann"));
    let router = server.build().expect("it is right").router();
    assert_eq!(
        get(&router, "/schedules").await.status,
        StatusCode::FORBIDDEN
    );
    let run = call(&router, "POST", "/schedules/yearly/run", json!({})).await;
    assert_eq!(run.status, StatusCode::FORBIDDEN);
}

#[test]
fn mistakes_in_schedules_are_found_when_the_server_is_built() {
    let with = |name: &str, cron: &str| {
        Schedule::new(name, "Reports", cron).input(json!({ "team": "sales" }))
    };
    let schedules = [
        with("a", "61 * * * *"),
        with("b", "@daily").zone("Europe/Nowhere"),
        with("c", "0 0 31 2 *"),
        Schedule::new("d", "Report", "@daily"),
        Schedule::new("e", "Reports", "@daily").input(json!({ "team": 1 })),
        with("f", "@daily"),
        with("f", "@hourly"),
    ];
    let errors = builder(&InMemoryStore::new(), schedules).build();
    let errors = errors.expect_err("they are wrong").to_string();
    let errors: Vec<&str> = errors.lines().skip(1).collect();
    assert_eq!(
        errors,
        [
            "  schedule `a`: `61 * * * *` is not a cron line: Component error: Number out of bounds.",
            "  schedule `b`: there is no time zone `Europe/Nowhere`; one is `Europe/Berlin`",
            "  schedule `c`: `0 0 31 2 *` is never",
            "  schedule `d`: there is no flow `Report`",
            "  schedule `e`: no input of `Reports`: invalid type: integer `1`, expected a string",
            "  there are two schedules `f`: rename one",
        ]
    );
}

/// What the store has of a schedule, as the server writes it.
mod stored {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Record {
        #[key(input)]
        pub(super) paused: bool,
        #[key(input)]
        pub(super) handled_ms: i64,
    }

    #[node(Record)]
    async fn keep() {}

    flow!(pub(super) ScheduleRecord(Record) { keep });
}

#[tokio::test(flavor = "multi_thread")]
async fn f42_a_time_that_a_wrong_clock_has_stored_stops_no_schedule_and_is_told() {
    let store = InMemoryStore::new();
    let ahead = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 400);
    let wrong = stored::RecordInput {
        paused: false,
        handled_ms: ahead.as_millisecond(),
    };
    let record = stored::ScheduleRecord::new().store(&store);
    let record = record.thread("petalflow.schedule:tick");
    let _ = record.run(wrong).await.expect("it is stored");

    let notices = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&notices);
    let server = builder(&store, [secondly()]).on_notice(move |notice| {
        told.lock().unwrap().push(notice.to_string());
    });
    let server = server.build().expect("it is right");
    let router = server.router();
    let shown = get(&router, "/schedules/tick").await.json();
    let stored: jiff::Timestamp = shown["clock_ahead"].as_str().unwrap().parse().unwrap();
    assert_eq!(stored.as_millisecond(), ahead.as_millisecond());

    run(&[server], Duration::from_millis(2_600)).await;
    let times = begun(&built(&store, yearly()).router()).await;
    assert!((2..=3).contains(&times.len()), "{times:?}");
    let notices = std::mem::take(&mut *notices.lock().unwrap());
    let wrong: Vec<&String> = notices
        .iter()
        .filter(|notice| notice.contains("wrong clock"))
        .collect();
    assert_eq!(wrong.len(), 1, "{notices:?}");
    assert!(wrong[0].contains(&stored.to_string()), "{wrong:?}");
    let router = built(&store, secondly()).router();
    let shown = get(&router, "/schedules/tick").await.json();
    assert_eq!(shown["clock_ahead"], Value::Null);
}
