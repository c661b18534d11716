//! A flow as a node of another: `cargo run --bin subflow`.
//!
//! The inner flow has a state of its own. Only what `in` hands to it and what `out` takes from it crosses.

use petalflow::prelude::*;

/// What a review knows.
#[state]
#[derive(Debug)]
pub struct Review {
    /// What to review.
    #[key(input)]
    pub text: String,
    /// What was found.
    #[key(append)]
    pub remarks: Vec<String>,
}

/// Looks at the length.
#[node(Review)]
async fn measure(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![format!("{} words", text.split_whitespace().count())])
}

/// Looks at the punctuation.
#[node(Review)]
async fn punctuate(text: &str) -> Option<ReviewRemarks> {
    (!text.ends_with('.')).then(|| ReviewRemarks(vec!["does not end in a full stop".into()]))
}

flow! {
    /// Looks at a text from two sides at once.
    pub CheckText(Review) {
        START -> measure & punctuate;
    }
}

/// What the article flow knows.
#[state]
#[derive(Debug)]
pub struct Article {
    /// What to write about.
    #[key(input)]
    pub topic: String,
    /// The text.
    pub draft: String,
    /// What the review said.
    #[key(append)]
    pub remarks: Vec<String>,
}

/// Writes the text.
#[node(Article)]
async fn write(topic: &str) -> ArticleDraft {
    ArticleDraft(format!("All there is to know about {topic}"))
}

flow! {
    /// Writes an article and has it reviewed.
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

    // The flow inside is stored beside the one around it.
    #[test]
    fn stored_threads_go_on() {
        petalflow_testing::assert_flow_lock!(CheckText, "flow.lock");
        petalflow_testing::assert_flow_lock!(WriteArticle, "flow.lock");
    }
}
