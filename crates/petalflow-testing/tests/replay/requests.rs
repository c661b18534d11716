//! Tasks that make several requests to models: each is compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::BoxError;
use petalflow::node::RequestParts;
use petalflow::prelude::*;
use petalflow::thread::ThreadFile;
use petalflow_testing::{Replay, ReplayReport};

use super::{exported, rows, threads};

/// What a program asks of its model, which answers with the number of the call.
#[derive(Default)]
struct Model {
    prompts: Vec<&'static str>,
    /// Whether each call is an effect.
    effects: bool,
    /// Whether the calls are made at the same time, each for an item.
    at_once: bool,
    /// The calls that fail.
    failing: Vec<usize>,
    calls: AtomicUsize,
}

impl Model {
    fn asked(prompts: &[&'static str]) -> Self {
        Model {
            prompts: prompts.to_vec(),
            ..Model::default()
        }
    }

    fn with_effects(self) -> Self {
        Model {
            effects: true,
            ..self
        }
    }

    /// A call: fails, or answers with the prompt.
    fn answer(&self, prompt: &str) -> Result<String, String> {
        let call = self.calls.fetch_add(1, SeqCst);
        if self.failing.contains(&call) {
            return Err("busy".into());
        }
        Ok(format!("answer to {prompt}"))
    }

    async fn ask(
        &self,
        cx: &Context,
        prompt: &'static str,
        before: &str,
    ) -> Result<String, BoxError> {
        let parts = || {
            RequestParts::new()
                .whole("prompt", prompt)
                .digest("before", before)
        };
        if self.effects {
            let effect = async {
                cx.note_request(parts).await?;
                Ok::<_, BoxError>(self.answer(prompt)?)
            };
            return cx.once(&format!("ask {prompt}"), effect).await;
        }
        let parts = || {
            if self.at_once {
                parts().of(prompt)
            } else {
                parts()
            }
        };
        let answer = cx.note_call(parts, async { self.answer(prompt) }).await?;
        // A failed call is followed by another one.
        Ok(answer.unwrap_or_else(|error| format!("failed: {error}")))
    }
}

#[state]
struct Essay {
    text: String,
}

#[node(Essay)]
async fn write(model: Managed<Model>, cx: Context) -> petalflow::Result<EssayText> {
    if model.at_once {
        let calls = model
            .prompts
            .iter()
            .map(|prompt| model.ask(&cx, prompt, ""));
        let answers = futures_util::future::join_all(calls).await;
        let answers: Result<Vec<String>, BoxError> = answers.into_iter().collect();
        return Ok(EssayText(answers?.join("; ")));
    }
    let mut text = String::new();
    for prompt in &model.prompts {
        text = model.ask(&cx, prompt, &text).await?;
    }
    Ok(EssayText(text))
}

flow!(Write(Essay) { write });

async fn stored(model: Model) -> ThreadFile {
    let threads = threads(Write::new().manage(model));
    let thread = threads.thread("essay");
    thread.run(()).await.unwrap().into_finished().unwrap();
    exported(&threads, "essay").await
}

/// What a replay finds, and how often the model was called.
async fn replayed(file: &ThreadFile, model: Model) -> (ReplayReport, usize) {
    let model = Arc::new(model);
    let launch = Write::new().manage_with(Arc::clone(&model));
    let report = Replay::of_file(file.clone())
        .flow(launch)
        .requests()
        .report()
        .await;
    (report, model.calls.load(SeqCst))
}

const PROMPTS: [&str; 3] = ["draft", "review", "shorten"];

#[tokio::test]
async fn f44_each_request_of_a_task_is_compared_and_no_model_is_called() {
    for effects in [false, true] {
        let asked = |prompts: &[&'static str]| {
            if effects {
                Model::asked(prompts).with_effects()
            } else {
                Model::asked(prompts)
            }
        };
        let file = stored(asked(&PROMPTS)).await;
        let (same, calls) = replayed(&file, asked(&PROMPTS)).await;
        assert!(same.is_same(), "{same}");
        let replay = &same.replayed;
        assert_eq!(
            (replay.requests, replay.requests_left, calls),
            (3, 0, 0),
            "{same}"
        );

        // The last one is not made any more.
        let (fewer, calls) = replayed(&file, asked(&PROMPTS[..2])).await;
        let expected = if effects {
            "1.1 write request request 3 (ask shorten): a request => it was not made"
        } else {
            "1.1 write request request 3: a request => it was not made"
        };
        assert_eq!(
            (rows(&fewer), calls),
            (vec![expected.to_string()], 0),
            "{fewer}"
        );
    }
}

#[tokio::test]
async fn f44_the_request_that_differs_is_named_with_its_part() {
    let file = stored(Model::asked(&PROMPTS)).await;
    let (changed, calls) = replayed(&file, Model::asked(&["draft", "judge", "shorten"])).await;
    let expected = ["1.1 write request prompt of request 2: \"review\" => \"judge\""];
    // The third one reads the recorded answer to the second, so it is equal.
    assert_eq!(
        (rows(&changed), calls),
        (expected.map(String::from).to_vec(), 0)
    );
    assert_eq!(changed.replayed.requests, 3, "{changed}");
    assert!(
        changed.to_string().contains("prompt of request 2"),
        "{changed}"
    );
}

#[tokio::test]
async fn f44_an_answer_that_is_a_failure_is_given_too() {
    let failing = || Model {
        failing: vec![0],
        ..Model::asked(&["draft", "again"])
    };
    let file = stored(failing()).await;
    assert!(file.to_string().contains("busy"), "{file}");
    // It does not fail today: the recorded failure is given.
    let (same, calls) = replayed(&file, Model::asked(&["draft", "again"])).await;
    assert!(same.is_same(), "{same}");
    assert_eq!(
        (same.replayed.requests, same.replayed.requests_left, calls),
        (2, 0, 0)
    );
}

#[tokio::test]
async fn f44_requests_at_the_same_time_are_compared_by_what_they_are_for() {
    let at_once = |prompts: &[&'static str]| Model {
        at_once: true,
        ..Model::asked(prompts)
    };
    let file = stored(at_once(&PROMPTS)).await;
    let other_order = at_once(&["shorten", "draft", "review"]);
    let (same, calls) = replayed(&file, other_order).await;
    assert!(same.is_same(), "{same}");
    assert_eq!(
        (same.replayed.requests, same.replayed.requests_left, calls),
        (3, 0, 0)
    );

    let (other, calls) = replayed(&file, at_once(&["draft", "review", "judge"])).await;
    assert_eq!(calls, 0);
    let rows = rows(&other);
    assert!(
        rows.contains(
            &"1.1 write request request 3 (judge): no such request => a request".to_string()
        ),
        "{rows:?}"
    );
}

#[tokio::test]
async fn f44_a_node_that_runs_makes_no_request_again_whose_answer_is_an_effect() {
    let file = stored(Model::asked(&PROMPTS).with_effects()).await;
    let run = |model: Model| {
        let launch = Write::new().manage(model);
        Replay::of_file(file.clone())
            .flow(launch)
            .run("write")
            .report()
    };
    let same = run(Model::asked(&PROMPTS).with_effects()).await;
    assert!(same.is_same(), "{same}");
    assert_eq!(
        (same.replayed.requests, same.replayed.ran),
        (3, 1),
        "{same}"
    );
    let more = run(Model::asked(&["draft", "review", "shorten", "print"]).with_effects()).await;
    let rows = rows(&more);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].contains("effect ask print"), "{rows:?}");
}

#[tokio::test]
async fn f44_a_node_that_runs_shows_requests_that_were_not_made_then() {
    let file = stored(Model::asked(&PROMPTS[..1])).await;
    let launch = Write::new().manage(Model::asked(&PROMPTS));
    let more = Replay::of_file(file)
        .flow(launch)
        .run("write")
        .report()
        .await;
    let rows = rows(&more);
    let of_request =
        |number| format!("1.1 write request request {number}: no such request => a request");
    assert!(
        rows.contains(&of_request(2)) && rows.contains(&of_request(3)),
        "{rows:?}"
    );
}

/// A node whose first attempts fail after two requests.
#[node(Essay)]
async fn try_hard(model: Managed<Model>, cx: Context) -> petalflow::Result<EssayText> {
    let count = if cx.attempt() < 3 { 2 } else { 1 };
    let mut text = String::new();
    for prompt in model.prompts.iter().take(count) {
        text = model.ask(&cx, prompt, &text).await?;
    }
    if cx.attempt() < 3 {
        return Err("not good enough".into());
    }
    Ok(EssayText(text))
}

flow! {
    TryHard(Essay) {
        try_hard;
        with try_hard { retry: 3 };
    }
}

#[tokio::test(start_paused = true)]
async fn f44_of_a_task_that_was_retried_the_last_attempt_is_compared() {
    let launch = || TryHard::new().manage(Model::asked(&PROMPTS));
    let threads = threads(launch());
    threads
        .thread("essay")
        .run(())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let file = exported(&threads, "essay").await;
    // The second request of an earlier attempt is in the file, and counts no more.
    assert!(file.to_string().contains("request/1"), "{file}");
    let named = Replay::of_file(file.clone())
        .flow(launch())
        .requests()
        .report()
        .await;
    assert_eq!(named.replayed.requests_left, 0, "{named}");
    assert_eq!(named.replayed.requests, 1, "{named}");
    assert!(named.is_same(), "{named}");
}

#[tokio::test]
async fn f44_the_record_of_a_request_is_bounded() {
    #[state]
    struct Long {
        #[key(input)]
        text: String,
        count: u32,
    }
    #[node(Long)]
    async fn ask(text: &str, cx: Context) -> petalflow::Result<LongCount> {
        for number in 0..300_u32 {
            let parts = || {
                RequestParts::new()
                    .whole("prompt", text)
                    .whole("number", number)
            };
            // The answers are too long to be recorded.
            let _: String = cx.note_call(parts, async { text.repeat(2) }).await?;
        }
        Ok(LongCount(300))
    }
    flow!(AskLong(Long) { ask });
    let long = "x".repeat(200_000);
    let threads = threads(AskLong::new());
    threads
        .thread("long")
        .run(long.clone())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let file = exported(&threads, "long").await;
    let recorded: Vec<&serde_json::Value> = file.json()["flows"][""]["checkpoints"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|checkpoint| checkpoint["records"].as_array().into_iter().flatten())
        .filter(|record| record["name"].as_str().unwrap().starts_with("request/"))
        .collect();
    assert_eq!(recorded.len(), 256);
    let bytes: usize = recorded.iter().map(|record| record.to_string().len()).sum();
    assert!(bytes < 256 * 400, "{bytes}");
    let replay = Replay::of_file(file)
        .flow(AskLong::new())
        .requests()
        .report()
        .await;
    assert!(replay.is_same(), "{replay}");
    assert_eq!(
        (replay.replayed.requests, replay.replayed.requests_left),
        (1, 255)
    );
}
