//! Many at once, then one: `cargo run --bin fan_out`.
//!
//! `plan` sends a list, `research` runs once per item of it, `gather` runs once after all of them, also if there are none.

use std::time::{Duration, Instant};

use petalflow::prelude::*;

/// What the survey knows.
#[state]
#[derive(Debug)]
pub struct Survey {
    /// What to look into.
    #[key(input)]
    pub topics: Vec<String>,
    /// What was found, in the order of the topics.
    #[key(append)]
    pub findings: Vec<String>,
    /// All of it, on one line.
    pub summary: String,
}

/// Sends each topic to a researcher of its own.
#[node(Survey)]
async fn plan(topics: &[String]) -> Each<String> {
    topics.iter().cloned().collect()
}

/// Looks into one topic, which takes a while.
#[node(Survey, retry = 3, timeout = 5s)]
async fn research(#[item] topic: &str) -> SurveyFindings {
    tokio::time::sleep(Duration::from_millis(100)).await;
    SurveyFindings(vec![format!("{topic} has {} letters", topic.len())])
}

/// Puts the findings together.
#[node(Survey)]
async fn gather(findings: &[String]) -> SurveySummary {
    SurveySummary(findings.join("; "))
}

flow! {
    /// Looks into several topics at once and sums up.
    pub Research(Survey) {
        plan -> each research -> gather;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let topics = ["rose", "tulip", "orchid", "lily"]
        .map(String::from)
        .to_vec();
    let begun = Instant::now();
    let survey = Research::run(topics).await?;
    println!("{}", survey.summary);
    println!(
        "{} topics at 100 ms each took {} ms",
        survey.topics.len(),
        begun.elapsed().as_millis()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn findings_keep_the_order_of_the_topics() {
        let survey = Research::run(["b", "aa"].map(String::from).to_vec())
            .await
            .unwrap();
        assert_eq!(survey.summary, "b has 1 letters; aa has 2 letters");
    }

    #[tokio::test]
    async fn without_topics_it_still_sums_up() {
        let survey = Research::run(Vec::new()).await.unwrap();
        assert_eq!(survey.summary, "");
    }

    #[test]
    fn stored_threads_go_on() {
        petalflow_testing::assert_flow_lock!(Research, "flow.lock");
    }
}
