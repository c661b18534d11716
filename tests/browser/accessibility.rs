//! The rules of axe-core on each view.

use petalflow::checkpoint::InMemoryStore;
use petalflow_test_support::{Need, skip};
use serde_json::{Value, json};

use crate::page::{Page, with_page};
use crate::served::builder;

const RUN: &str = "const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(
        ({ violations }) => done(violations), (error) => done([{ impact: 'serious', id: String(error), nodes: [] }]));";

/// What axe-core calls serious or critical.
async fn violations(page: &Page, axe: &str) -> Vec<String> {
    page.client
        .execute(axe, Vec::new())
        .await
        .expect("it is loaded");
    let found = page
        .client
        .execute_async(RUN, Vec::new())
        .await
        .expect("it runs");
    let found = found.as_array().expect("a list").iter();
    let serious = found.filter(|one| one["impact"] == "serious" || one["impact"] == "critical");
    let text = |one: &Value| {
        let nodes = one["nodes"].as_array().into_iter().flatten();
        let nodes: Vec<_> = nodes
            .map(|node| format!("{} {}", node["html"], node["failureSummary"]))
            .collect();
        format!("{}: {}", one["id"], nodes.join("; "))
    };
    serious.map(text).collect()
}

/// The views, each with a text that is there when it is complete.
async fn views(page: &Page) -> Vec<(String, &'static str)> {
    let served = &page.served;
    let refund = json!({ "input": { "cents": 9, "reason": "late", "card": "4242" }, "labels": { "customer": "ann" } });
    let refund = served.thread("refunds", refund).await;
    served.settled(&refund).await;
    let steps = served
        .thread("steps", json!({ "input": { "total": 2 } }))
        .await;
    served.settled(&steps).await;
    let failed = json!({ "input": { "cents": 9, "reason": "late", "card": "" } });
    let failed = served.thread("refunds", failed).await;
    served.settled(&failed).await;
    let talk = served
        .thread("librarian", json!({ "input": "a book" }))
        .await;
    served.settled(&talk).await;
    vec![
        ("#/flows".into(), "librarian"),
        ("#/flow/refunds".into(), "DecideRefund"),
        ("#/flow/letters".into(), "vars"),
        ("#/threads".into(), "4 threads"),
        (format!("#/thread/{refund}"), "1 open question"),
        (format!("#/thread/{steps}"), "Superstep 3"),
        (format!("#/thread/{steps}/history"), "Changes since"),
        (format!("#/thread/{talk}/chat"), "1 call waits"),
        (
            format!("#/compare?left={refund}&right={steps}"),
            "only left",
        ),
        ("#/inbox".into(), "refunds"),
        ("#/schedules".into(), "morning"),
        ("#/nowhere".into(), "There is no such page"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn views_have_no_serious_problem_in_any_theme_and_width() {
    let Some(file) = std::env::var_os("PETALFLOW_TEST_AXE") else {
        let why = "axe-core is missing: install the npm package `axe-core`, and set PETALFLOW_TEST_AXE to its file `axe.min.js`";
        return skip(Need::Installed, why);
    };
    let axe = std::fs::read_to_string(file).expect("PETALFLOW_TEST_AXE is a file");
    with_page(builder(&InMemoryStore::new()), async |page| {
        let views = views(page).await;
        let mut problems = Vec::new();
        for (width, height) in [(1280, 900), (360, 780)] {
            page.resize(width, height, 1.0).await;
            for theme in ["Light", "Dark"] {
                let select = page.element("document.querySelector('.theme select')").await;
                select.select_by_label(theme).await.expect("there is the theme");
                for (view, text) in &views {
                    page.go(view).await;
                    page.wait_for(&format!("document.querySelector('main').textContent.includes({})", json!(text))).await;
                    // Of a thread, a task is open.
                    page.eval("(seen('.waterfall-row')[0]?.click(), 1)").await;
                    let found = violations(page, &axe).await;
                    problems.extend(found.into_iter().map(|it| format!("{view} {theme} {width}: {it}")));
                    let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
                    let overflow = page.eval(overflow).await;
                    if overflow != 0 {
                        problems.push(format!("{view} {theme} {width}: the page is {overflow} pixels too wide"));
                    }
                }
            }
        }
        problems.dedup();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    })
    .await;
}

/// A dialog: its view, a text of the view, the button that opens it, and the buttons that lead on in it.
const DIALOGS: [(&str, &str, &str, &[&str]); 3] = [
    (
        "#/threads",
        "1 thread",
        "Command for all\u{2026}",
        &["Next"],
    ),
    ("#/schedules", "morning", "Create a schedule", &[]),
    ("#/schedules", "morning", "Past times morning", &[]),
];

#[tokio::test(flavor = "multi_thread")]
async fn f43_dialogs_have_no_serious_problem_in_any_width() {
    let Some(file) = std::env::var_os("PETALFLOW_TEST_AXE") else {
        let why = "axe-core is missing: install the npm package `axe-core`, and set PETALFLOW_TEST_AXE to its file `axe.min.js`";
        return skip(Need::Installed, why);
    };
    let axe = std::fs::read_to_string(file).expect("PETALFLOW_TEST_AXE is a file");
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = page.served.thread("steps", json!({ "input": { "total": 1 } })).await;
        page.served.settled(&thread).await;
        let mut problems = Vec::new();
        for (width, height) in [(1440, 900), (390, 780)] {
            page.resize(width, height, 1.0).await;
            for (view, text, button, further) in DIALOGS {
                page.go(view).await;
                page.wait_for_text(text).await;
                page.press(button).await;
                for next in further.iter().map(Some).chain([None]) {
                    page.wait_for("document.querySelector('dialog[open]')").await;
                    let found = violations(page, &axe).await;
                    problems.extend(found.into_iter().map(|it| format!("{button} {width}: {it}")));
                    let overflow = "document.querySelector('dialog').scrollWidth - document.querySelector('dialog').clientWidth";
                    let overflow = page.eval(overflow).await;
                    if overflow != 0 {
                        problems.push(format!("{button} {width}: the dialog is {overflow} pixels too wide"));
                    }
                    if let Some(next) = next {
                        page.press(next).await;
                        page.wait_for_text("Resume: 1 thread").await;
                    }
                }
                page.press("Close").await;
                page.wait_for("!document.querySelector('dialog[open]')").await;
            }
        }
        problems.dedup();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    })
    .await;
}
