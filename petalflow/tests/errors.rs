//! The stored form of a node's failure.

use petalflow::NodeError;
use petalflow::error::FailureKind;
use serde_json::json;

#[test]
fn a_failure_survives_storage() {
    let stored = json!({
        "node": "fetch",
        "namespace": "sub:2",
        "superstep": 3,
        "attempt": 1,
        "index": 4,
        "kind": "timeout",
        "message": "too late",
        "of a later version": true,
    });
    let error: NodeError = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!((error.index, error.kind), (Some(4), FailureKind::Timeout));
    let mut known = stored;
    known.as_object_mut().unwrap().remove("of a later version");
    assert_eq!(serde_json::to_value(&error).unwrap(), known);
}

#[test]
fn missing_fields_and_unknown_kinds_are_named() {
    let error = serde_json::from_str::<NodeError>(r#"{"node":"a","more":1}"#)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("missing field `namespace`"), "{error}");
    let error = serde_json::from_str::<FailureKind>(r#""late""#)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("unknown variant `late`"), "{error}");
}

/// No error repeats the text of its source, and `main` prints the words.
mod texts {
    use std::io;

    use petalflow::checkpoint::{InMemoryStore, StoreError};
    use petalflow::error::BoxError;
    use petalflow::interrupt::{Answer, AnswerError, Ask, InterruptId};
    use petalflow::prelude::*;
    use petalflow::thread::{FlowLock, ThreadError};
    use petalflow::tool::ToolError;
    use petalflow_test_support::check_texts as check;

    #[derive(serde::Serialize, Ask)]
    #[ask(answer = bool)]
    struct MayPay {
        euros: u32,
    }

    #[state]
    #[derive(Debug)]
    struct Refund {
        paid: bool,
    }

    #[node(Refund)]
    async fn pay(cx: Context) -> petalflow::Result<RefundPaid> {
        Ok(RefundPaid(cx.ask(MayPay { euros: 7 }).await?))
    }

    flow!(PayRefund(Refund) { pay });

    fn disk() -> BoxError {
        Box::new(io::Error::other("the disk is full"))
    }

    fn store_errors() -> Vec<StoreError> {
        let thread = || String::from("ann");
        vec![
            StoreError::Conflict {
                thread: thread(),
                expected: Some(1),
                found: None,
            },
            StoreError::Unavailable(disk()),
            StoreError::unavailable("it cannot be written: free some space", disk()),
            StoreError::Damaged {
                thread: thread(),
                problem: "cut".into(),
            },
            StoreError::NewerLayout { found: 9, known: 2 },
            StoreError::Protection("unsigned".into()),
            StoreError::Other(disk()),
        ]
    }

    #[test]
    fn of_stores_and_tools() {
        store_errors().iter().for_each(|error| check(error));
        let [_, full, explained, ..] = &store_errors()[..] else {
            unreachable!()
        };
        assert_eq!(
            full.to_string(),
            "the store is not available: the disk is full"
        );
        assert!(
            explained
                .to_string()
                .ends_with("free some space: the disk is full")
        );
        let timeout = || ToolError::Timeout("find".into(), std::time::Duration::from_secs(1));
        for tool in [
            ToolError::Arguments("no title".into()),
            timeout(),
            ToolError::Failed(disk()),
        ] {
            check(&tool);
        }
    }

    #[tokio::test]
    async fn of_threads() {
        let store = InMemoryStore::new();
        let thread = PayRefund::new().store(&store).thread("ann");
        let paused = thread.run(()).await.unwrap();
        let interrupts = paused.interrupts().to_vec();
        let ann = || String::from("ann");
        let unknown = InterruptId::from_bytes([7; 16]);
        let mut errors = vec![
            ThreadError::Busy { thread: ann() },
            ThreadError::Unknown { thread: ann() },
            ThreadError::UnknownCheckpoint {
                thread: ann(),
                checkpoint: 7,
            },
            ThreadError::Waiting {
                thread: ann(),
                waiting: interrupts.clone(),
            },
            ThreadError::Changed {
                thread: ann(),
                problem: "a key".into(),
                diff: vec!["- a".into()],
            },
            ThreadError::Answer(
                Answer::deserialize::<MayPay>(unknown, &serde_json::Value::from("no")).unwrap_err(),
            ),
            ThreadError::Answer(AnswerError::Unknown {
                id: unknown,
                waiting: interrupts.clone(),
            }),
            ThreadError::Answer(AnswerError::Ambiguous {
                waiting: interrupts,
            }),
            ThreadError::Request("no".into()),
            thread.fork(99).await.unwrap_err(),
        ];
        errors.extend(store_errors().into_iter().map(ThreadError::from));
        errors.iter().for_each(|error| check(error));

        // The same of a run: its thread is busy with a question.
        let error = thread.run(()).await.unwrap_err();
        check(&error);
        assert!(matches!(
            error.thread_error(),
            Some(ThreadError::Waiting { .. })
        ));
        assert_eq!(error.to_string(), error.get_ref().unwrap().to_string());
        let paused = paused.into_finished().unwrap_err();
        check(&paused);
        assert!(format!("{paused:?}").contains("node `pay`"), "{paused:?}");
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no water")]
    struct NoWater(#[source] io::Error);

    #[node(Refund, retry = [petalflow::policy::Retry::attempts(2).first(std::time::Duration::ZERO).on::<NoWater>()])]
    async fn water(cx: Context) -> petalflow::Result<()> {
        let paid = WaterOnce::new().run_in(&cx, "once", ()).await?.paid;
        assert!(!paid);
        Ok(())
    }

    #[node(Refund)]
    async fn pump() -> petalflow::Result<()> {
        Err(NoWater(io::Error::other("the well is dry")).into())
    }

    flow!(WaterOnce(Refund) { pump });
    flow!(Water(Refund) { water });

    /// What programs with `anyhow` print.
    #[tokio::test]
    async fn of_runs_and_tools_with_anyhow() {
        let error = WaterOnce::run(()).await.unwrap_err();
        check(&error);
        assert!(error.get_ref().unwrap().is::<NoWater>());
        let text = "node `pump` failed in superstep 1: no water: the well is dry";
        assert_eq!(format!("{:#}", anyhow::Error::from(error)), text);

        // The error of a flow in a flow, and of one that a retry finds in it.
        let error = Water::run(()).await.unwrap_err();
        check(&error);
        let petalflow::run::RunErrorKind::Node(failure) = error.kind() else {
            panic!("{error}")
        };
        assert_eq!(failure.attempt, 2, "`on` finds the error of the inner run");
        let printed = format!("{:#}", anyhow::Error::from(error));
        assert_eq!(printed.matches("no water").count(), 1, "{printed}");

        let error = petalflow::tool::InvokeError(ToolError::Failed(disk()));
        check(&error);
        let printed = format!("{:#}", anyhow::Error::from(error));
        assert_eq!(printed, "tool call failed: the disk is full");
    }

    #[tokio::test]
    async fn of_graphs_and_locks() {
        check(
            &Graph::<Refund>::builder("pay")
                .edge(START, "pya")
                .build()
                .unwrap_err(),
        );
        check(&FlowLock::default().check(&PayRefund::new()).unwrap_err());
        check(
            &petalflow::error::catch_panic(async { panic!("no") })
                .await
                .unwrap_err(),
        );
    }
}
