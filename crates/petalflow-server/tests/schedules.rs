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
            "  schedule `e`: no input of `Reports`: team: invalid type: integer `1`, expected a string",
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

/// A replica without a schedule of its own.
fn replica(store: &InMemoryStore) -> Router {
    let server = builder(store, [yearly()]).build().expect("it is right");
    server.router()
}

#[tokio::test]
async fn f43_a_schedule_is_defined_changed_and_deleted_over_http_for_all_replicas() {
    let store = InMemoryStore::new();
    let (one, other) = (replica(&store), replica(&store));
    let path = "/schedules/daily";
    let definition = json!({
        "flow": "Reports", "cron": "0 9 * * *", "zone": "Europe/Berlin",
        "input": { "team": "sales" }, "missed": "latest",
    });
    let defined = call(&one, "PUT", path, definition.clone()).await;
    assert_eq!(defined.status, StatusCode::CREATED, "{defined:?}");
    let shown = get(&other, path).await.json();
    assert_eq!(shown, defined.json());
    for (name, value) in definition.as_object().expect("an object") {
        assert_eq!(shown[name], *value, "{shown}");
    }
    assert_eq!(shown["source"], "client");
    assert_eq!(shown["next"].as_array().map(Vec::len), Some(5));
    let names = |list: Value| {
        let list = list["schedules"].as_array().expect("schedules").clone();
        let names = list.iter().map(|shown| shown["name"].to_string());
        names.collect::<Vec<_>>()
    };
    let list = names(get(&other, "/schedules").await.json());
    assert_eq!(list, ["\"yearly\"", "\"daily\""]);

    let mut changed = definition.clone();
    changed["cron"] = json!("30 7 * * *");
    let changed = call(&other, "PUT", path, changed).await;
    assert_eq!(changed.status, StatusCode::OK, "{changed:?}");
    assert_eq!(get(&one, path).await.json()["cron"], "30 7 * * *");
    let paused = call(&one, "POST", &format!("{path}/pause"), json!({})).await;
    assert_eq!(paused.json()["paused"], true, "{paused:?}");
    assert_eq!(get(&other, path).await.json()["paused"], true);
    let run = call(&other, "POST", &format!("{path}/run"), json!({})).await;
    assert!(run.thread().starts_with("Reports:daily@"), "{run:?}");

    let deleted = call(&other, "DELETE", path, json!({})).await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT, "{deleted:?}");
    assert_eq!(get(&one, path).await.status, StatusCode::NOT_FOUND);
    let again = call(&one, "DELETE", path, json!({})).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND, "{again:?}");
    call(&one, "PUT", path, definition).await;
    let anew = get(&one, path).await.json();
    assert_eq!(anew["paused"], false, "the pause is gone with it: {anew}");
}

#[tokio::test]
async fn f43_a_definition_that_cannot_be_is_refused_and_one_of_the_program_is_not_changed() {
    let store = InMemoryStore::new();
    let router = replica(&store);
    let right = json!({ "flow": "Reports", "cron": "0 9 * * *", "input": { "team": "sales" } });
    for (name, field, value, part) in [
        ("a", "flow", json!("Other"), "no flow `Other`"),
        ("a", "cron", json!("every day"), "not a cron line"),
        ("a", "zone", json!("Mars/Base"), "no time zone `Mars/Base`"),
        ("a", "input", json!({ "team": 7 }), "no input of `Reports`"),
        ("a", "cron", json!("0 0 31 2 *"), "never"),
        (
            "a%20b",
            "flow",
            json!("Reports"),
            "cannot be part of an address",
        ),
    ] {
        let mut wrong = right.clone();
        wrong[field] = value;
        let refused = call(&router, "PUT", &format!("/schedules/{name}"), wrong).await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{refused:?}"
        );
        assert!(refused.error().contains(part), "{refused:?}");
    }
    let mut unknown = right.clone();
    unknown["when"] = json!("now");
    let refused = call(&router, "PUT", "/schedules/a", unknown).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
    assert_eq!(
        get(&router, "/schedules/a").await.status,
        StatusCode::NOT_FOUND
    );

    for (method, done) in [("PUT", "changed"), ("DELETE", "deleted")] {
        let refused = call(&router, method, "/schedules/yearly", right.clone()).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{refused:?}");
        let error = refused.error();
        assert!(
            error.contains(done) && error.contains("pause it"),
            "{error}"
        );
    }
    let paused = call(&router, "POST", "/schedules/yearly/pause", json!({})).await;
    assert_eq!(paused.json()["paused"], true);
    assert_eq!(paused.json()["source"], "program");
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_schedule_of_a_client_begins_threads_of_any_replica_once() {
    let store = InMemoryStore::new();
    let servers = [(); 2].map(|()| builder(&store, []).build().expect("it is right"));
    let running: Vec<_> = servers
        .iter()
        .cloned()
        .map(|server| tokio::spawn(async move { server.run_schedules().await }))
        .collect();
    let definition =
        json!({ "flow": "Reports", "cron": "* * * * * *", "input": { "team": "sales" } });
    let router = servers[0].router();
    let defined = call(&router, "PUT", "/schedules/tick", definition).await;
    assert_eq!(defined.status, StatusCode::CREATED, "{defined:?}");
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    let times = loop {
        let times = begun_or_none(&router).await;
        if times.len() >= 3 {
            break times;
        }
        assert!(tokio::time::Instant::now() < deadline, "{times:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    for server in &servers {
        server.drain(Duration::from_secs(30)).await;
    }
    for running in running {
        running.await.expect("it ends with the server");
    }
    let mut once = times.clone();
    once.dedup();
    assert_eq!(times, once);
}

/// The planned times of the threads that have begun.
async fn begun_or_none(router: &Router) -> Vec<String> {
    let list = get(router, "/threads?label=petalflow.schedule:tick")
        .await
        .json();
    let threads = list["threads"].as_array().expect("threads").iter();
    threads.map(|thread| thread["id"].to_string()).collect()
}

#[tokio::test]
async fn f43_a_range_is_back_filled_with_each_planned_time_once() {
    let store = InMemoryStore::new();
    let server = builder(&store, [yearly()]).build().expect("it is right");
    let router = server.router();
    let path = "/schedules/yearly/backfill";
    let range = json!({ "from": "2020-01-01T08:00:00Z", "to": "2023-06-01T00:00:00+02:00" });
    let filled = call(&router, "POST", path, range.clone()).await;
    assert_eq!(filled.status, StatusCode::ACCEPTED, "{filled:?}");
    let expected = ["2020", "2021", "2022", "2023"]
        .map(|year| format!("Reports:yearly@{year}-01-01T08:00:00Z"));
    assert_eq!(filled.json(), json!({ "threads": expected, "times": 4 }));
    assert_eq!(server.recover().await.expect("it lists"), 4);
    for thread in &expected {
        let shown = wait_until_settled(&router, thread).await;
        assert_eq!(shown["status"], "finished", "{shown}");
        assert_eq!(shown["labels"]["petalflow.schedule"], "yearly");
    }
    let longer = json!({ "from": "2019-01-01T00:00:00Z", "to": "2023-06-01T00:00:00Z" });
    let again = call(&replica(&store), "POST", path, longer).await;
    let added = ["Reports:yearly@2019-01-01T08:00:00Z"];
    assert_eq!(again.json(), json!({ "threads": added, "times": 5 }));

    for (name, value, part) in [
        ("to", "2999-01-01T00:00:00Z", "later than now"),
        ("from", "yesterday", "`from` is `yesterday`"),
    ] {
        let mut wrong = range.clone();
        wrong[name] = json!(value);
        let refused = call(&router, "POST", path, wrong).await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{refused:?}"
        );
        assert!(refused.error().contains(part), "{refused:?}");
    }
    let minutes = json!({ "flow": "Reports", "cron": "* * * * *", "input": { "team": "sales" } });
    call(&router, "PUT", "/schedules/minutes", minutes).await;
    let refused = call(&router, "POST", "/schedules/minutes/backfill", range).await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{refused:?}"
    );
    assert!(
        refused.error().contains("more than 1000 planned times"),
        "{refused:?}"
    );
}
