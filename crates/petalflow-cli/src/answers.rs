//! Questions of runs, and the answers of people.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use petalflow::interrupt::Interrupt;
use petalflow_document_model::source::names;
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::kinds::{
    HumanOption, HumanQuestion, HumanRequest, HumanResponse, RequestType,
};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure, Result};
use crate::store::shell_quoted;
use crate::terminal::{self, NOTE, STRONG, WARNING};

/// The answers that a command was given.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct AnswerArgs {
    /// Answer a question: `approve`, `reject: too long`, an option, a text, or data in JSON. Each answers one question, that
    /// of its node if it names one. Can be repeated
    #[arg(long = "answer", value_name = "[NODE=]ANSWER")]
    pub(crate) answers: Vec<String>,

    /// Approve what asks for an approval, without asking a person
    #[arg(long)]
    pub(crate) approve: bool,

    /// Whether each answer must be needed: the command exists to give it.
    #[arg(skip)]
    pub(crate) must_be_used: bool,
}

/// The request of a human node.
pub(crate) fn request_of(interrupt: &Interrupt) -> Option<HumanRequest> {
    interrupt
        .question::<HumanQuestion>()
        .map(|question| question.0)
}

impl AnswerArgs {
    /// Fails if an answer names a node that the graph does not have: its question would be asked, or approved, without it.
    pub(crate) fn check(&self, graph: &GraphDefinition) -> Result<()> {
        let nodes = || graph.nodes.iter().map(|node| node.id.as_str());
        for name in self
            .answers
            .iter()
            .filter_map(|answer| split_node(answer).0)
        {
            if !nodes().any(|node| node == name) {
                let suggestion = names::suggestion(name, nodes());
                return Err(Failure::new(
                    Exit::Input,
                    format_args!("`--answer {name}=..`: there is no node `{name}`{suggestion}"),
                )
                .hint("a text with `=` that is the answer itself is written as JSON: '\"a=b\"'"));
            }
        }
        Ok(())
    }

    /// The answers as options, with a space before each.
    pub(crate) fn options(&self) -> String {
        let option = |answer: &String| format!(" --answer {}", shell_quoted(answer));
        self.answers.iter().map(option).collect()
    }

    /// Says which answers no question needed. Fails if they had to be needed: the result has been printed then.
    pub(crate) fn check_unused(&self) -> Result<()> {
        if self.must_be_used && !self.answers.is_empty() {
            let unused: Vec<String> = self.answers.iter().map(|it| format!("`{it}`")).collect();
            let text = format_args!(
                "no question needed the answer {}: it was answered before, or the thread has taken another way",
                unused.join(", ")
            );
            return Err(Failure::new(Exit::Unused, text));
        }
        for answer in &self.answers {
            terminal::note(format_args!(
                "{WARNING}unused:{WARNING:#} `--answer {answer}`: no question needed it"
            ));
        }
        Ok(())
    }

    /// The answer to a question: the one with the name of its node, or one without a name if there is no other question.
    pub(crate) fn find(&self, node: &str, open: &[Interrupt]) -> Option<&str> {
        let mut all = self.answers.iter().map(|answer| split_node(answer));
        let is_for = |(name, _): &(Option<&str>, &str)| match name {
            Some(name) => *name == node,
            None => open.len() == 1,
        };
        all.find(is_for).map(|(_, answer)| answer)
    }

    /// Removes the answers that were given, so that each answers one question.
    pub(crate) fn remove_used(&mut self, answered: &[Interrupt]) {
        for interrupt in answered {
            let given = self
                .answers
                .iter()
                .position(|answer| match split_node(answer).0 {
                    Some(name) => name == interrupt.node,
                    None => answered.len() == 1,
                });
            given.map(|given| self.answers.remove(given));
        }
    }
}

/// The name of the node and the answer. A name is a word, so that texts and JSON with `=` are answers.
fn split_node(answer: &str) -> (Option<&str>, &str) {
    let is_word = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        !name.is_empty() && name.chars().all(is_part)
    };
    match answer.split_once('=') {
        Some((name, answer)) if is_word(name) => (Some(name), answer),
        _ => (None, answer),
    }
}

/// The response of a person, from a text.
pub(crate) fn response(request: &HumanRequest, text: &str) -> Result<HumanResponse> {
    let text = text.trim();
    let invalid = |problem: String| {
        Err(Failure::new(
            Exit::Input,
            format_args!("node `{}`: {problem}", request.node),
        )
        .hint(how_to_answer(request)))
    };
    let mut response = HumanResponse {
        responded_by: "cli".into(),
        responded_at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        ..HumanResponse::default()
    };
    match request.kind {
        RequestType::Approval => {
            let (word, notes) = text.split_once(':').unwrap_or((text, ""));
            response.approved = match word.trim().to_ascii_lowercase().as_str() {
                "approve" | "approved" | "yes" | "y" | "true" => true,
                "reject" | "rejected" | "no" | "n" | "false" => false,
                _ => return invalid(format!("`{text}` is neither an approval nor a rejection")),
            };
            response.choice = if response.approved {
                "approve"
            } else {
                "reject"
            }
            .into();
            response.notes = notes.trim().into();
        }
        RequestType::Choice => {
            match find_option(&request.options, text) {
                Some(option) => response.choice.clone_from(&option.id),
                None if request.options.is_empty() => response.choice = text.into(),
                None => return invalid(format!("there is no option `{text}`")),
            }
            response.approved = true;
        }
        RequestType::Edit => match serde_json::from_str(text) {
            Ok(data @ Value::Object(_)) => {
                response.data = Some(data);
                response.approved = true;
            }
            _ => return invalid("an edit is a JSON object with the changed variables".into()),
        },
        RequestType::Input => {
            response.data = Some(serde_json::from_str(text).unwrap_or_else(|_| text.into()));
            response.approved = true;
        }
        RequestType::Review => {
            response.notes = text.into();
            response.approved = true;
        }
    }
    Ok(response)
}

/// The option with this id or label, or else with this number.
fn find_option<'o>(options: &'o [HumanOption], text: &str) -> Option<&'o HumanOption> {
    let by_number = || {
        text.parse::<usize>()
            .ok()
            .and_then(|it| options.get(it.checked_sub(1)?))
    };
    let option = options.iter().find(|it| it.id == text || it.label == text);
    option.or_else(by_number)
}

/// The response to an approval with `--approve`. `None` for other questions.
pub(crate) fn approval(request: &HumanRequest) -> Option<HumanResponse> {
    (request.kind == RequestType::Approval).then(|| HumanResponse {
        approved: true,
        choice: "approve".into(),
        responded_by: "cli-auto".into(),
        responded_at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        ..HumanResponse::default()
    })
}

/// A question as text, with its data and its options.
pub(crate) fn question_text(request: &HumanRequest) -> String {
    let mut text = format!("{STRONG}{}:{STRONG:#} {}", request.node, prompt(request));
    for (name, value) in &request.data {
        let _ = write!(text, "\n  {name}: {}", truncate(&plain(value)));
    }
    for (index, option) in request.options.iter().enumerate() {
        let label = if option.label.is_empty() {
            &option.id
        } else {
            &option.label
        };
        let _ = write!(text, "\n  {}. {label} ({})", index + 1, option.id);
        if !option.description.is_empty() {
            let _ = write!(text, ": {}", option.description);
        }
    }
    text
}

/// A question as JSON.
pub(crate) fn as_json(interrupt: &Interrupt) -> Value {
    let mut json = json!({
        "id": interrupt.id.to_string(),
        "node": interrupt.node,
        "asked": time(interrupt.asked_ms),
    });
    if let Some(expires) = interrupt.expires_ms {
        json["expires"] = time(expires).into();
    }
    if let Some(request) = request_of(interrupt) {
        json["request"] = serde_json::to_value(request).unwrap_or_default();
    }
    json
}

/// Asks a person until the answer fits. `None` if the input ends.
pub(crate) async fn ask(request: &HumanRequest) -> Result<Option<HumanResponse>> {
    terminal::note(question_text(request));
    loop {
        let Some(text) =
            terminal::ask(format_args!("{NOTE}{}{NOTE:#} ", input_prompt(request))).await?
        else {
            return Ok(None);
        };
        match response(request, &text) {
            Ok(response) => return Ok(Some(response)),
            Err(failure) => terminal::failure(&failure),
        }
    }
}

/// Says which answers a question accepts.
pub(crate) fn how_to_answer(request: &HumanRequest) -> String {
    match request.kind {
        RequestType::Approval => {
            "answer `approve` or `reject`, with notes after a colon: `reject: too long`".into()
        }
        RequestType::Choice => {
            let ids: Vec<String> = request
                .options
                .iter()
                .map(|it| format!("`{}`", it.id))
                .collect();
            format!("answer with an option: {}", ids.join(", "))
        }
        RequestType::Edit => {
            "answer with the changed variables, such as `{\"title\": \"Petals\"}`".into()
        }
        RequestType::Input => "answer with a text, or a value in JSON".into(),
        RequestType::Review => "answer with your notes".into(),
    }
}

/// An answer for the example command in a hint.
pub(crate) fn example(request: &HumanRequest) -> String {
    match request.kind {
        RequestType::Approval => "approve".into(),
        RequestType::Choice => request
            .options
            .first()
            .map_or("OPTION", |it| it.id.as_str())
            .into(),
        RequestType::Edit => "{..}".into(),
        RequestType::Input | RequestType::Review => "TEXT".into(),
    }
}

fn input_prompt(request: &HumanRequest) -> &'static str {
    match request.kind {
        RequestType::Approval => "approve or reject?",
        RequestType::Choice => "option?",
        RequestType::Edit => "changes as JSON?",
        RequestType::Input => "text?",
        RequestType::Review => "notes?",
    }
}

fn prompt(request: &HumanRequest) -> &str {
    match request.kind {
        _ if !request.prompt.is_empty() => &request.prompt,
        RequestType::Approval => "Approve?",
        RequestType::Choice => "Which option?",
        RequestType::Edit => "Edit the variables.",
        RequestType::Input => "What is the input?",
        RequestType::Review => "Review.",
    }
}

/// A value without the quotation marks of a text.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn truncate(text: &str) -> String {
    const LONGEST: usize = 300;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.into(),
    }
}

/// A time of a store, as people and programs read it.
pub(crate) fn time(ms: u64) -> String {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms));
    at.map_or_else(String::new, |at| {
        // Years after 9999 have no such form.
        if ms < 253_402_300_800_000 {
            humantime::format_rfc3339_seconds(at).to_string()
        } else {
            ms.to_string()
        }
    })
}
