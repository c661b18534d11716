//! Many tasks in parallel, then one: `cargo run --bin fan_out`.
//!
//! `plan` returns a list. `research` runs once per item. `gather` runs once after all of them, also if the list is empty.

use std::time::{Duration, Instant};

use petalflow::prelude::*;

/// The state of the survey flow.
#[state]
#[derive(Debug)]
pub struct Survey {
    /// The topics to research.
    #[key(input)]
    pub topics: Vec<String>,
    /// The findings, in the order of the topics.
    #[key(append)]
    pub findings: Vec<String>,
    /// All findings on one line.
    pub summary: String,
}

/// Sends each topic to its own task of `research`.
#[node(Survey)]
async fn plan(topics: &[String]) -> Each<String> {
    topics.iter().cloned().collect()
}

/// Researches one topic. This takes some time.
#[node(Survey, retry = 3, timeout = 5s)]
async fn research(#[item] topic: &str) -> SurveyFindings {
    tokio::time::sleep(Duration::from_millis(100)).await;
    SurveyFindings(vec![format!("{topic} has {} letters", topic.len())])
}

/// Joins the findings.
#[node(Survey)]
async fn gather(findings: &[String]) -> SurveySummary {
    SurveySummary(findings.join("; "))
}

flow! {
    /// Researches several topics in parallel and writes a summary.
    pub Research(Survey) {
        plan -> each research -> gather;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let topics = ["rose", "tulip", "orchid", "lily"]
        .map(String::from)
        .to_vec();
    let start = Instant::now();
    let survey = Research::run(topics).await?;
    println!("{}", survey.summary);
    println!(
        "{} topics at 100 ms each took {} ms",
        survey.topics.len(),
        start.elapsed().as_millis()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn findings_have_the_order_of_the_topics() {
        let survey = Research::run(["b", "aa"].map(String::from).to_vec())
            .await
            .unwrap();
        assert_eq!(survey.summary, "b has 1 letters; aa has 2 letters");
    }

    #[tokio::test]
    async fn without_topics_there_is_still_a_summary() {
        let survey = Research::run(Vec::new()).await.unwrap();
        assert_eq!(survey.summary, "");
    }

    #[test]
    fn stored_threads_resume() {
        petalflow_testing::assert_flow_lock!(Research, "flow.lock");
    }
}
