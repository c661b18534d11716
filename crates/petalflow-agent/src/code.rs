//! Code that a model writes and the program runs.

use super::at::At;
use super::{AgentError, AgentEvent};
use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, Context};
use petalflow_llm::{ChatMessage, Part, Role, Text};

/// Runs the code that a model writes: in a sandbox, on a server, in an interpreter within the program.
///
/// The model is told to put code that shall run into a block that begins with ```` ```tool_code ````; one of the
/// [language](Self::language) counts as well. An answer ends with its first such block: the code runs, in a step of its own that
/// is not taken again once it is stored, and the model goes on with what it printed.
///
/// ```
/// use petalflow_agent::{Agent, CodeExecutor, CodeOutput};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::middleware::BoxFuture;
/// use petalflow::{BoxError, Context};
///
/// /// Knows how to add.
/// struct Adder;
///
/// impl CodeExecutor for Adder {
///     fn execute<'a>(&'a self, code: &'a str, _: &'a Context) -> BoxFuture<'a, Result<CodeOutput, BoxError>> {
///         Box::pin(async move {
///             let numbers: Result<Vec<i64>, _> = code.split('+').map(|number| number.trim().parse()).collect();
///             Ok(match numbers {
///                 Ok(numbers) => CodeOutput::printed(numbers.iter().sum::<i64>().to_string()),
///                 Err(error) => CodeOutput::failed(error.to_string()),
///             })
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new(["Let me see.\n```tool_code\n17 + 25\n```", "It is 42."]);
/// let talk = Agent::new(model).code_executor(Adder).run("17 + 25?").await?;
/// assert_eq!(talk.answer(), "It is 42.");
/// # Ok(())
/// # }
/// ```
pub trait CodeExecutor: Send + Sync + 'static {
    /// Runs some code. Code that goes wrong is [`CodeOutput::failed`]: the model hears of it, and can put it right.
    ///
    /// # Errors
    ///
    /// When code cannot be run at all. They end the turn.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time; the code should stop then.
    fn execute<'a>(
        &'a self,
        code: &'a str,
        cx: &'a Context,
    ) -> BoxFuture<'a, Result<CodeOutput, BoxError>>;

    /// The language of the code, as it stands behind the fence of a block: `python` unless said otherwise.
    #[expect(
        clippy::unnecessary_literal_bound,
        reason = "others may return what they hold"
    )]
    fn language(&self) -> &str {
        "python"
    }

    /// How often in a row code that failed may be put right in a turn; after that, code is no longer run. Twice unless said
    /// otherwise.
    fn retries(&self) -> u32 {
        2
    }
}

/// What came of some code.
///
/// ```
/// use petalflow_agent::CodeOutput;
///
/// assert!(!CodeOutput::failed("division by zero").ok);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOutput {
    /// Whether it ran to its end.
    pub ok: bool,
    /// What it printed, or what went wrong.
    pub text: String,
}

impl CodeOutput {
    /// Code that ran to its end, and what it printed.
    pub fn printed(text: impl Into<String>) -> Self {
        CodeOutput {
            ok: true,
            text: text.into(),
        }
    }

    /// Code that went wrong, and how.
    pub fn failed(text: impl Into<String>) -> Self {
        CodeOutput {
            ok: false,
            text: text.into(),
        }
    }
}

const OK: &str = "OUTCOME_OK";
const FAILED: &str = "OUTCOME_FAILED";

/// What the model is told about running code.
pub(super) fn instruction(executor: &dyn CodeExecutor) -> String {
    format!(
        "You can run {} code. To run some, end what you say with a block of this form:\n\n```tool_code\n...\n```\n\n\
         You are told what it prints in a block that begins with ```tool_output. There is no other way to run code: call no \
         tool for it.",
        executor.language()
    )
}

/// Whether code is still run in this turn: not after too many failures in a row.
pub(super) fn is_run(at: At<'_>, executor: &dyn CodeExecutor) -> bool {
    let events = at.conversation.events.iter().rev();
    let events = events.take_while(|event| event.invocation == at.conversation.invocation);
    let outcomes = events
        .filter(|event| event.author == *at.agent().name)
        .flat_map(AgentEvent::parts)
        .filter_map(|part| match part {
            Part::CodeResult { outcome, .. } => Some(&**outcome),
            _ => None,
        });
    let failures = outcomes.take_while(|outcome| *outcome != OK).count();
    failures <= usize::try_from(executor.retries()).unwrap_or(usize::MAX)
}

/// The parts up to the first code, if there is some that the model wants run. An answer that calls tools first wants those.
pub(super) fn cut(parts: &[Part], language: &str) -> Option<Vec<Part>> {
    let mut cut = Vec::new();
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            Part::Call(_) => return None,
            Part::Text(text) => {
                let Some((words, code)) = block(&text.text, language) else {
                    cut.push(part.clone());
                    continue;
                };
                if !words.trim().is_empty() || text.signature.is_some() {
                    cut.push(Part::Text(Text {
                        text: words.to_string(),
                        signature: text.signature.clone(),
                    }));
                }
                cut.push(Part::Code {
                    language: language.to_string(),
                    code: code.to_string(),
                });
                return Some(cut);
            }
            // What the provider ran itself has its result behind it.
            Part::Code { .. } if !matches!(parts.peek(), Some(Part::CodeResult { .. })) => {
                cut.push(part.clone());
                return Some(cut);
            }
            other => cut.push(other.clone()),
        }
    }
    None
}

/// The first block of code in a text, and the words before it.
fn block<'t>(text: &'t str, language: &str) -> Option<(&'t str, &'t str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("```") {
        let fence = from + found;
        let begins = fence + 3;
        let line = text[begins..].find('\n')?;
        let code = begins + line + 1;
        let end = code + text[code..].find("```")?;
        let named = text[begins..code].trim();
        let at_line_start = fence == 0 || text[..fence].ends_with('\n');
        let runs = named == "tool_code" || named.eq_ignore_ascii_case(language);
        if at_line_start && runs && !text[code..end].trim().is_empty() {
            return Some((&text[..fence], text[code..end].trim_end()));
        }
        // Past the end of a block that is none of ours.
        from = end + 3;
    }
    None
}

/// Runs the code that the last event ends with.
pub(super) async fn execute(at: At<'_>) -> Result<AgentEvent, BoxError> {
    let agent = at.agent();
    let last = at.conversation.events.last();
    let (Some(executor), Some(Part::Code { code, .. })) = (
        &agent.code_executor,
        last.and_then(|last| last.parts().last()),
    ) else {
        // Another program goes on with the conversation, and its agent runs no code.
        let message = format!(
            "agent `{}` has code to run, but no `.code_executor(..)`",
            agent.name
        );
        return Err(AgentError::Request(message).into());
    };
    let running = executor.execute(code, at.cx);
    let output = match agent.tool_timeout {
        None => running.await?,
        Some(time) => match tokio::time::timeout(time, running).await {
            Ok(output) => output?,
            Err(_) => {
                CodeOutput::failed(format!("the code was stopped: it ran longer than {time:?}"))
            }
        },
    };
    let result = Part::CodeResult {
        outcome: if output.ok { OK } else { FAILED }.into(),
        output: output.text,
    };
    Ok(AgentEvent {
        message: Some(ChatMessage::new(Role::Assistant, vec![result])),
        ..at.event(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: &str) -> Part {
        Part::Code {
            language: "python".into(),
            code: code.into(),
        }
    }

    #[test]
    fn a009_an_answer_ends_with_its_first_code() {
        let fenced = "Look:\n```tool_code\nprint(1)\n```\nand\n```tool_code\nprint(2)\n```";
        let expected = vec![Part::text("Look:\n"), code("print(1)")];
        assert_eq!(cut(&[Part::text(fenced)], "python"), Some(expected));
        for (text, found) in [
            ("```python\n1\n```", Some("1")),
            ("```Python\n1\n```", Some("1")),
            ("```json\n{}\n```\n```tool_code\n1\n```", Some("1")),
            ("```json\n{}\n```", None),
            ("```tool_code\nprint(1)", None),
            ("```tool_code\n\n```", None),
            ("say ```tool_code\n1\n```", None),
            ("``` ```", None),
            ("`` ```", None),
        ] {
            let last = cut(&[Part::text(text)], "python").and_then(|mut parts| parts.pop());
            assert_eq!(last, found.map(code), "{text}");
        }
    }

    #[test]
    fn a009_code_that_the_provider_ran_is_done_and_calls_come_first() {
        let ran = Part::CodeResult {
            outcome: OK.into(),
            output: "1".into(),
        };
        assert_eq!(cut(&[code("1"), ran, Part::text("one")], "python"), None);
        let expected = Some(vec![Part::text("so"), code("1")]);
        let parts = [Part::text("so"), code("1"), Part::text("is 1")];
        assert_eq!(cut(&parts, "python"), expected);
        let call = Part::Call(petalflow::tool::ToolCall::default());
        assert_eq!(cut(&[call, code("1")], "python"), None);
    }
}
