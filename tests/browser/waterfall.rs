//! The waterfall of a thread: the time of its tasks, and what a task that is opened shows.

use petalflow::checkpoint::InMemoryStore;
use serde_json::{Value, json};

use crate::flows::{gate, priced};
use crate::page::{Page, with_page};
use crate::served::builder;

/// Calls a function with modules of the page.
async fn with_modules(page: &Page, modules: &str, body: &str) -> Value {
    let script = format!(
        "const done = arguments[arguments.length - 1];
         Promise.all([{modules}].map((name) => import(`/studio/${{name}}.js`)))
             .then((modules) => Object.assign({{}}, ...modules))
             .then((all) => {{ {body} }})
             .then(done, (error) => done(String(error)));"
    );
    let value = page.client.execute_async(&script, Vec::new()).await;
    value.expect("it runs")
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_parallel_tasks_lie_side_by_side_and_days_between_runs_are_short() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let body = r#"
            const log = new all.RunLog();
            const day = 86400000;
            let number = 0;
            const add = (kind, atMs, more = {}) =>
                log.add(++number, { kind, namespace: "", superstep: 1, task: null, ...more }, atMs);
            const task = (node, id, index = null) => ({ node, id, index, attempt: 1 });
            add("run_started", 1000);
            add("superstep_started", 1000, { nodes: ["read", "read"] });
            add("node_started", 1010, { task: task("read", "a", 0) });
            add("node_started", 1020, { task: task("read", "b", 1) });
            add("node_started", 1030, { task: task("look", "c"), namespace: "read[0]" });
            add("node_finished", 1040, { task: task("look", "c"), namespace: "read[0]", keys: [] });
            add("node_finished", 1300, { task: task("read", "b", 1), keys: [] });
            add("node_finished", 1400, { task: task("read", "a", 0), keys: [] });
            add("checkpoint", 1400, { checkpoint: 1 });
            add("interrupted", 1400);
            add("run_started", 3 * day);
            add("superstep_started", 3 * day, { nodes: ["write"], superstep: 2 });
            add("node_started", 3 * day, { task: task("write", "d"), superstep: 2 });
            add("node_finished", 3 * day + 600, { task: task("write", "d"), superstep: 2, keys: [] });
            add("finished", 3 * day + 600, { superstep: 2 });
            const zones = all.zonesOf(log.sections, null);
            const rows = all.rowsOf(log.sections);
            return {
                rows: rows.map(({ task, depth }) => [task.node, depth]),
                spans: rows.map(({ task }) => all.spanOf(zones, task)),
                whole: all.wholeOf(zones),
                runs: zones.map(({ startMs, endMs, outcome }) => [endMs - startMs, outcome]),
                ticks: all.ticksOf(zones, { from: 0, to: 400 }, 4).map(({ ms }) => ms),
            };
        "#;
        let modules = "'run-log', 'waterfall-layout'";
        let found = with_modules(page, modules, body).await;
        let expected = json!({
            // The task of the sub-flow follows the one that runs it.
            "rows": [["read", 0], ["look", 1], ["read", 0], ["write", 0]],
            "spans": [
                { "from": 10, "to": 400 },
                { "from": 30, "to": 40 },
                { "from": 20, "to": 300 },
                // The pause is a small part of the time of both runs.
                { "from": 430, "to": 1030 },
            ],
            "whole": { "from": 0, "to": 1030 },
            "runs": [[400, "interrupted"], [600, "finished"]],
            "ticks": [0, 100, 200, 300, 400],
        });
        assert_eq!(found, expected);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_calls_of_models_and_tools_have_their_time() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let body = r#"
            const log = new all.RunLog();
            const task = { node: "work", id: "a", index: null, attempt: 1 };
            let number = 0;
            const add = (kind, atMs, value) =>
                log.add(++number, { kind, namespace: "", superstep: 1, task, value }, atMs);
            const message = (part, more = {}) => ({ agent_event: { author: "a", message: { role: "assistant", parts: [part] }, ...more } });
            add("node_started", 100);
            add("custom", 150, message({ text: "pie" }, { partial: true }));
            add("custom", 200, message({ call: { name: "find", arguments: {} } }, { usage: { input: 5, output: 2 } }));
            add("custom", 260, message({ result: { name: "find", content: "x" } }));
            add("custom", 400, message({ text: "piece" }, { usage: { input: 9, output: 1 } }));
            add("node_finished", 410);
            const [attempt] = log.sections[0].tasks[0].attempts;
            return attempt.calls.map(({ kind, title, fromMs, toMs }) => [kind, title, fromMs, toMs]);
        "#;
        let found = with_modules(page, "'run-log'", body).await;
        let expected = json!([
            ["model", "", 100, 200],
            ["tool", "find", 200, 260],
            ["model", "", 260, 400],
        ]);
        assert_eq!(found, expected);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_the_plan_of_an_agent_has_a_line_for_each_item() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let body = r#"
            const plan = [{ text: "read", state: "done" }, { text: "write", state: "active" }, { text: "rest", state: "pending" }];
            const part = (value) => all.describe(value).parts[0];
            return [part({ agent_plan: { plan } }), part({ agent_plan: 3 })];
        "#;
        let found = with_modules(page, "'custom-event'", body).await;
        let expected = json!([
            { "kind": "text", "text": "Plan:\n[x] read\n[>] write\n[ ] rest" },
            { "kind": "value", "value": { "agent_plan": 3 } },
        ]);
        assert_eq!(found, expected);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_task_is_opened_with_the_mouse_and_the_keyboard_and_shows_its_values() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "input": { "total": 2, "note": "a note" } });
        let thread = page.served.thread("steps", input).await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for("seen('.waterfall-row').length === 4").await;
        assert_eq!(
            page.eval("seen('.waterfall-row').map((row) => row.querySelector('.waterfall-name').title)")
                .await,
            json!(["begin", "work", "work", "end"])
        );
        assert_eq!(page.eval("seen('.waterfall-bar').length").await, 4);

        page.press_element("seen('.waterfall-row')[1]").await;
        page.wait_for("words(seen('.task-detail')[0]).includes('Values out')")
            .await;
        page.wait_for("words(seen('.task-detail .values-in')[0]).includes('a note')")
            .await;
        page.wait_for("words(seen('.task-detail .values-out')[0]).includes('step 1')")
            .await;
        assert_eq!(
            page.eval("words(seen('.task-detail .values-out')[0]).includes('begun')")
                .await,
            false
        );
        page.wait_for("named('Whole thread')").await;

        // The keys that a list has: down, and Enter.
        let row = page.element("seen('.waterfall-row')[1]").await;
        row.send_keys("\u{e015}\u{e007}").await.expect("it has the focus");
        page.wait_for("words(seen('.task-detail .values-out')[0]).includes('step 2')")
            .await;
        page.eval("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))")
            .await;
        page.wait_for("seen('.task-detail').length === 0 && !named('Whole thread')")
            .await;
        page.eval("document.querySelector('.waterfall-row').dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }))")
            .await;
        page.wait_for("named('Whole thread')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_what_runs_is_in_the_waterfall_before_its_superstep_ends() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "input": { "total": 1, "gate": "waterfall" } });
        let thread = page.served.thread("steps", input).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for("seen('.waterfall-row[data-outcome=running] .waterfall-bar').length === 1")
            .await;
        gate("waterfall").add_permits(1);
        page.wait_for("seen('.waterfall-row[data-outcome=finished]').length === 3")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_thread_has_its_totals_and_a_task_its_tokens_and_cost() {
    let builder = builder(&InMemoryStore::new()).serve_flow(priced());
    with_page(builder, async |page| {
        let input = json!({ "input": { "prompt": "tea" } });
        let thread = page.served.thread("priced", input).await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for(
            "seen('.totals').length === 1 && words(seen('.totals')[0]).includes('Tasks 1')",
        )
        .await;
        let totals = page.eval("words(seen('.totals')[0])").await;
        let totals = totals.as_str().expect("a text");
        for part in [
            "Time in runs",
            "Runs 1",
            "Tokens in 1,200",
            "Tokens out 34",
            "Cost $0.25",
        ] {
            assert!(totals.contains(part), "{totals}");
        }
        page.press_element("seen('.waterfall-row')[0]").await;
        page.wait_for("words(seen('.task-detail')[0]).includes('1,200 tokens in, 34 out, $0.25')")
            .await;
        page.wait_for("words(seen('.task-detail .calls')[0]).startsWith('Model')")
            .await;
        page.wait_for("words(seen('.task-detail .values-out')[0]).includes('100 words on tea')")
            .await;
    })
    .await;
}
