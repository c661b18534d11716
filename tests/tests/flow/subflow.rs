//! Flows as nodes: what `in` reads and `out` writes.

use petalflow::prelude::*;
use petalflow_test_support::assert_contains;

#[state]
#[derive(Debug)]
struct Review {
    #[key(input)]
    text: String,
    #[key(append)]
    remarks: Vec<String>,
}

#[node(Review)]
async fn read(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![format!("read {text}")])
}

flow!(ReviewEssay(Review) { read });

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(default)]
    title: Option<String>,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(Route)]
enum Verdict {
    Again(u32),
    Done,
}

#[node(Essay)]
async fn sections() -> Each<String> {
    Each(vec!["one".into(), "two".into()])
}

#[node(Essay)]
async fn again(#[item] times: &u32) -> EssayNotes {
    EssayNotes(vec![format!("again {times}")])
}

#[tokio::test]
async fn in_reads_keys_and_out_writes_them() {
    flow! {
        Reviewed(Essay) {
            node review: ReviewEssay {
                in: |topic: &str, title: Option<&str>, essay: &Essay| ReviewInput { text: format!("{topic} {title:?} {}", essay.notes.len()) },
                out: |r: Review| EssayNotes(r.remarks),
            };
            review
        }
    }
    let essay = Reviewed::run("roses".to_string())
        .await
        .expect("the flow runs");
    assert_eq!(essay.notes, ["read roses None 0"]);
}

#[tokio::test]
async fn a_subflow_runs_once_per_item() {
    flow! {
        Parts(Essay) {
            node review: ReviewEssay { in: |#[item] part: &str, topic: &str| format!("{topic}/{part}"), out: |r: Review| EssayNotes(r.remarks) };
            sections -> each review
        }
    }
    let essay = Parts::run("roses".to_string())
        .await
        .expect("the flow runs");
    assert_eq!(essay.notes, ["read roses/one", "read roses/two"]);
}

#[tokio::test]
async fn a_subflow_may_fail_and_may_choose_a_route() {
    flow! {
        RouteChoice(Essay) {
            node review: ReviewEssay {
                in: |topic: &str| topic.to_string(),
                out: |r: Review| -> petalflow::Result<(EssayNotes, Verdict)> {
                    if r.text.is_empty() {
                        return Err("nothing to review".into());
                    }
                    Ok((EssayNotes(r.remarks), if r.text == "roses" { Verdict::Again(2) } else { Verdict::Done }))
                },
            };
            review -> match { Again => again, Done => END };
        }
    }
    let essay = RouteChoice::run("roses".to_string())
        .await
        .expect("the flow runs");
    assert_eq!(essay.notes, ["read roses", "again 2"]);
    let essay = RouteChoice::run("tulips".to_string())
        .await
        .expect("the flow runs");
    assert_eq!(essay.notes, ["read tulips"]);
    let error = RouteChoice::run(String::new())
        .await
        .expect_err("`out` fails");
    assert_contains(&error, "review");
}

#[tokio::test]
async fn a_flow_may_contain_itself() {
    #[state]
    #[derive(Debug)]
    struct Down {
        #[key(input)]
        n: u32,
        #[key(append)]
        path: Vec<u32>,
    }

    #[node(Down)]
    async fn look(n: &u32) -> (DownPath, bool) {
        (DownPath(vec![*n]), *n > 0)
    }

    flow! {
        Dive(Down) {
            node below: Dive { in: |n: &u32| n - 1, out: |below: Down| DownPath(below.path) };
            look -> match { true => below, false => END };
        }
    }
    assert_eq!(
        Dive::run(3_u32).await.expect("the flow runs").path,
        [3, 2, 1, 0]
    );
}
