//! One answer from many documents.

use petalflow::{Context, Each, Managed, flow, node, state};
use petalflow_llm::LlmRequest;
use petalflow_llm::nodes::{Model, noted_call};

/// A question about documents.
#[state]
#[derive(Clone, Debug)]
pub struct Reading {
    /// The question.
    #[key(input)]
    pub question: String,
    /// The documents.
    #[key(input)]
    pub documents: Vec<String>,
    /// What each document says about the question, in the order of the documents.
    #[key(append)]
    pub findings: Vec<String>,
    /// The answer.
    pub answer: String,
}

#[node(Reading)]
async fn hand_out(documents: &[String]) -> Each<String> {
    Each(documents.to_vec())
}

/// Reads one document.
#[node(Reading)]
async fn read(
    question: &str,
    #[item] document: &str,
    model: Managed<Model>,
    cx: Context,
) -> petalflow::Result<ReadingFindings> {
    let request = LlmRequest {
        system: Some("Say in a few sentences what the document says about the question.".into()),
        ..LlmRequest::prompt(format!("Question: {question}\n\nDocument:\n{document}"))
    };
    let answer = noted_call(&request, &cx, model.complete(&request)).await?;
    Ok(ReadingFindings(vec![answer.text()]))
}

/// Combines the findings.
#[node(Reading)]
async fn combine(
    question: &str,
    findings: &[String],
    model: Managed<Model>,
    cx: Context,
) -> petalflow::Result<ReadingAnswer> {
    let findings = findings.iter().enumerate();
    let findings = findings.map(|(index, finding)| format!("[{}] {finding}", index + 1));
    let findings = findings.collect::<Vec<_>>().join("\n");
    let request = LlmRequest {
        system: Some("Answer the question from these findings alone. Cite them by number.".into()),
        ..LlmRequest::prompt(format!("Question: {question}\n\nFindings:\n{findings}"))
    };
    let answer = noted_call(&request, &cx, model.complete(&request)).await?;
    Ok(ReadingAnswer(answer.text()))
}

flow! {
    /// Reads each document by itself, all in parallel, and combines the findings. `max_concurrency` limits how many
    /// documents are read at once.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_llm::nodes::Model;
    /// use petalflow_agent::prebuilt::{ReadDocuments, ReadingInput};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::from_fn(|request| {
    ///     let text = request.input_text.clone().unwrap_or_default();
    ///     format!("{} lines", text.lines().count())
    /// });
    /// let input = ReadingInput {
    ///     question: "How long is it?".into(),
    ///     documents: vec!["one\ntwo".into(), "one".into()],
    /// };
    /// let reading = ReadDocuments::new().manage(Model::new(model)).run(input).await?;
    /// assert_eq!(reading.findings, ["5 lines", "4 lines"]);
    /// assert_eq!(reading.answer, "5 lines");
    /// # Ok(())
    /// # }
    /// ```
    pub ReadDocuments(Reading) {
        START -> hand_out -> each read -> combine;
    }
}
