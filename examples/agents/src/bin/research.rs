//! Research with a written report: `cargo run --bin research -- "What makes flowers open?"`.
//!
//! A model splits the question, an agent with tools researches all parts in parallel, and a model writes a report. Without a
//! model (see the crate's `choose`) a script does the same. `--library FOLDER` replaces the few notes below, and `--out FILE`
//! writes the report to a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use petalflow::prelude::*;
use petalflow::tool::schemars::JsonSchema;
use petalflow_agent::Agent;
use petalflow_agent_examples::{Newest, choose, newest};
use petalflow_llm::nodes::Model;
use petalflow_llm::{LlmClient, LlmRequest, Reply, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The documents to search.
#[derive(Debug)]
pub struct Library(Vec<Document>);

/// A document by its title.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    title: String,
    text: String,
}

const NOTES: [(&str, &str); 4] = [
    (
        "light",
        "Many flowers open when the light of the morning reaches them. Pigments in the petals sense its blue part.",
    ),
    (
        "warmth",
        "Tulips open when it is warm: the inner side of a petal grows faster than the outer one.",
    ),
    (
        "water",
        "A petal opens as its cells take up water. Cut stems that draw no water keep their flowers shut.",
    ),
    (
        "bees",
        "Bees come when nectar flows. Flowers that open at the hour of their bees set more seed.",
    ),
];

impl Library {
    fn notes() -> Self {
        let documents = NOTES.iter().map(|(title, text)| Document {
            title: (*title).into(),
            text: (*text).into(),
        });
        Library(documents.collect())
    }

    /// The text files of a folder.
    fn of(folder: &Path) -> petalflow::Result<Self> {
        let mut documents = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let is_text = path
                .extension()
                .is_some_and(|end| end == "md" || end == "txt");
            if is_text {
                documents.push(Document {
                    title: path
                        .file_stem()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                    text: std::fs::read_to_string(&path)?,
                });
            }
        }
        documents.sort_by(|one, other| one.title.cmp(&other.title));
        Ok(Library(documents))
    }

    /// The documents with the most words of a query, the best first.
    fn search(&self, query: &str) -> Vec<&Document> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.len() > 3)
            .collect();
        let score = |document: &&Document| {
            let text = format!("{} {}", document.title, document.text).to_lowercase();
            words.iter().filter(|word| text.contains(**word)).count()
        };
        let mut found: Vec<_> = self
            .0
            .iter()
            .filter(|document| score(document) > 0)
            .collect();
        found.sort_by_key(|document| std::cmp::Reverse(score(document)));
        found
    }
}

/// Searches the library. Returns the titles of documents, the best first.
#[tool]
fn search(
    /// The words to search for.
    query: String,
    library: Managed<Library>,
) -> Vec<String> {
    let found = library.search(&query).into_iter().take(3);
    found.map(|document| document.title.clone()).collect()
}

/// Reads a document.
#[tool]
fn read(
    /// Its title, as `search` returns it.
    title: String,
    library: Managed<Library>,
) -> petalflow::Result<Document> {
    let found = library.0.iter().find(|document| document.title == title);
    found
        .cloned()
        .ok_or_else(|| format!("there is no document `{title}`; look for one with `search`").into())
}

/// The state of the research.
#[state]
#[derive(Debug)]
pub struct Research {
    /// The question.
    #[key(input)]
    pub question: String,
    /// The findings, in the order of the questions.
    #[key(append)]
    pub findings: Vec<Finding>,
    /// The report, in Markdown.
    pub report: String,
}

/// The answer to one part of the question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    question: String,
    answer: String,
}

/// The parts of a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "petalflow::tool::schemars")]
struct Plan {
    /// At most three independent questions.
    questions: Vec<String>,
}

/// Splits the question.
#[node(Research)]
async fn plan(
    question: &str,
    model: Managed<Model>,
    cx: Context,
) -> petalflow::Result<Each<String>> {
    let planner = Agent::new(Arc::clone(model.client()))
        .name("planner")
        .instructions("Split the question into at most three that can be looked into one by one.")
        .output::<Plan>();
    let plan: Plan = planner.run_in(&cx, question).await?.output()?;
    Ok(Each(plan.questions))
}

/// Researches one part with the tools of the library.
#[node(Research, retry = 2)]
async fn investigate(
    #[item] question: &str,
    model: Managed<Model>,
    cx: Context,
) -> petalflow::Result<ResearchFindings> {
    let investigator = Agent::new(Arc::clone(model.client()))
        .name("investigator")
        .instructions("Answer from the library alone: search it, read what fits, and name the titles that you used.")
        .tools(tools![search, read]);
    let talk = investigator.run_in(&cx, question).await?;
    let question = question.to_string();
    Ok(ResearchFindings(vec![Finding {
        question,
        answer: talk.answer(),
    }]))
}

/// Writes the report.
#[node(Research)]
async fn report(
    question: &str,
    findings: &[Finding],
    model: Managed<Model>,
) -> petalflow::Result<ResearchReport> {
    let chapters = findings
        .iter()
        .map(|Finding { question, answer }| format!("## {question}\n\n{answer}\n"));
    let chapters = chapters.collect::<Vec<_>>().join("\n");
    let request = LlmRequest {
        system: Some(
            "Sum up these findings as an answer to the question, in one paragraph.".into(),
        ),
        ..LlmRequest::prompt(format!("Question: {question}\n\n{chapters}"))
    };
    let summary = model.complete(&request).await?.text();
    Ok(ResearchReport(format!(
        "# {question}\n\n{summary}\n\n{chapters}"
    )))
}

flow! {
    /// Splits a question, researches its parts in parallel, and writes a report.
    pub Investigate(Research) {
        START -> plan -> each investigate -> report;
    }
}

/// The script that replaces the models. The form of a request shows which model is asked.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        if request.json_schema.is_some() {
            let questions = [
                "What does light do?",
                "What does warmth do?",
                "What does water do?",
            ];
            return Reply::text(json!({ "questions": questions }).to_string());
        }
        match newest(request) {
            Newest::User(text) if request.tools.is_empty() => {
                let parts = text.matches("## ").count();
                Reply::text(format!(
                    "{parts} parts of the question were looked into; here is what they say."
                ))
            }
            Newest::User(question) => Reply::call("search", json!({ "query": question })),
            Newest::Result { tool, content } if tool == "search" => match content[0].as_str() {
                Some(title) => Reply::call("read", json!({ "title": title })),
                None => Reply::text("The library has nothing about it."),
            },
            Newest::Result { content, .. } => {
                let field = |name: &str| {
                    content[name]
                        .as_str()
                        .unwrap_or_default()
                        .trim()
                        .to_string()
                };
                Reply::text(format!("{} (from `{}`)", field("text"), field("title")))
            }
        }
    })
}

async fn investigate_with(
    model: impl LlmClient,
    library: Library,
    question: &str,
) -> petalflow::Result<Research> {
    let launch = Investigate::new().manage(Model::new(model)).manage(library);
    Ok(launch.run(question.to_string()).await?)
}

const USAGE: &str = "usage: research [--library FOLDER] [--out FILE] [QUESTION]";

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    use lexopt::prelude::*;
    let mut question = "What makes flowers open?".to_string();
    let mut library = Library::notes();
    let mut out: Option<PathBuf> = None;
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("library") => library = Library::of(Path::new(&parser.value()?))?,
            Long("out") => out = Some(parser.value()?.into()),
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            Value(words) => question = words.string()?,
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    let choice = choose(script())?;
    // Only the report is written to the standard output.
    eprintln!("{}", choice.description);
    let research = investigate_with(choice.model, library, &question).await?;
    match out {
        Some(file) => std::fs::write(file, research.report)?,
        None => print!("{}", research.report),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_report_has_a_chapter_for_each_question_in_order() {
        let research = investigate_with(script(), Library::notes(), "What makes flowers open?")
            .await
            .unwrap();
        let headings: Vec<_> = research
            .report
            .lines()
            .filter(|line| line.starts_with('#'))
            .collect();
        assert_eq!(
            headings,
            [
                "# What makes flowers open?",
                "## What does light do?",
                "## What does warmth do?",
                "## What does water do?"
            ]
        );
        assert!(
            research.report.contains("Tulips open when it is warm"),
            "{}",
            research.report
        );
        assert!(
            research.report.contains("(from `water`)"),
            "{}",
            research.report
        );
    }

    #[tokio::test]
    async fn a_library_without_answers_is_said_to_be_one() {
        let research = investigate_with(script(), Library(Vec::new()), "?")
            .await
            .unwrap();
        assert!(
            research
                .findings
                .iter()
                .all(|finding| finding.answer.contains("nothing"))
        );
    }

    #[test]
    fn a_library_is_a_folder_of_texts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("roses.md"), "Roses have thorns.").unwrap();
        std::fs::write(folder.path().join("picture.png"), [0, 255]).unwrap();
        let library = Library::of(folder.path()).unwrap();
        assert_eq!(library.search("Which have thorns?")[0].title, "roses");
        assert!(Library::of(&folder.path().join("none")).is_err());
    }
}
