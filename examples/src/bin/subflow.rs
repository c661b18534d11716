//! A flow as a node of another flow: `cargo run --bin subflow`.
//!
//! The inner flow has its own state. `in` makes its input from the outer state, and `out` makes writes of its result.

use petalflow::prelude::*;

/// The state of a review.
#[state]
#[derive(Debug)]
pub struct Review {
    /// The text to review.
    #[key(input)]
    pub text: String,
    /// The remarks about the text.
    #[key(append)]
    pub remarks: Vec<String>,
}

/// Checks the length.
#[node(Review)]
async fn measure(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![format!("{} words", text.split_whitespace().count())])
}

/// Checks the punctuation.
#[node(Review)]
async fn punctuate(text: &str) -> Option<ReviewRemarks> {
    (!text.ends_with('.')).then(|| ReviewRemarks(vec!["does not end in a full stop".into()]))
}

flow! {
    /// Runs both checks in one superstep.
    pub CheckText(Review) {
        START -> measure & punctuate;
    }
}

/// The state of the article flow.
#[state]
#[derive(Debug)]
pub struct Article {
    /// The topic of the article.
    #[key(input)]
    pub topic: String,
    /// The text.
    pub draft: String,
    /// The remarks of the review.
    #[key(append)]
    pub remarks: Vec<String>,
}

/// Writes the text.
#[node(Article)]
async fn write(topic: &str) -> ArticleDraft {
    ArticleDraft(format!("All there is to know about {topic}"))
}

flow! {
    /// Writes an article and reviews it.
    pub WriteArticle(Article) {
        node review: CheckText {
            in: |draft: &str| ReviewInput { text: draft.to_string() },
            out: |review: Review| ArticleRemarks(review.remarks),
        };
        write -> review;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let article = WriteArticle::run("petals".to_string()).await?;
    println!("{}", article.draft);
    for remark in &article.remarks {
        println!("- {remark}");
    }
    print!("\n{}", WriteArticle::mermaid());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_review_reaches_the_article() {
        let article = WriteArticle::run("petals".to_string()).await.unwrap();
        assert_eq!(article.remarks, ["7 words", "does not end in a full stop"]);
    }

    // The inner flow is stored beside the outer one.
    #[test]
    fn stored_threads_resume() {
        petalflow_testing::assert_flow_lock!(CheckText, "flow.lock");
        petalflow_testing::assert_flow_lock!(WriteArticle, "flow.lock");
    }
}
