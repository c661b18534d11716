//! Execution of code that a model writes.

use super::at::At;
use super::{AgentError, AgentEvent};
use petalflow::{BoxError, Context, async_trait};
use petalflow_llm::message::Text;
use petalflow_llm::{ChatMessage, Part, Role};

/// Executor of the code that a model writes: in a sandbox, on a server, or in an interpreter within the program.
///
/// The instructions tell the model to put code into a block that begins with ```` ```tool_code ````. A block of the
/// [language](Self::language) is also run. An answer ends with its first such block. The code runs in a step of its
/// own. Once its result is stored, the code is not run again. The model continues with the output.
///
/// ```
/// use petalflow_agent::{Agent, CodeExecutor, CodeOutput};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::{BoxError, Context, async_trait};
///
/// /// Knows how to add.
/// struct Adder;
///
/// #[async_trait]
/// impl CodeExecutor for Adder {
///     async fn execute(&self, code: &str, _: &Context) -> Result<CodeOutput, BoxError> {
///         let numbers: Result<Vec<i64>, _> = code.split('+').map(|number| number.trim().parse()).collect();
///         Ok(match numbers {
///             Ok(numbers) => CodeOutput::printed(numbers.iter().sum::<i64>().to_string()),
///             Err(error) => CodeOutput::failed(error.to_string()),
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
#[async_trait]
pub trait CodeExecutor: Send + Sync + 'static {
    /// Runs code. Code that fails returns [`CodeOutput::failed`]: the model reads the error and can correct the code.
    ///
    /// # Errors
    ///
    /// If the code cannot be run at all. The error ends the turn.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time. The code should stop then.
    async fn execute(&self, code: &str, cx: &Context) -> Result<CodeOutput, BoxError>;

    /// The language of the code, as written after the opening fence of a block. Default: `python`.
    #[expect(
        clippy::unnecessary_literal_bound,
        reason = "others may return what they hold"
    )]
    fn language(&self) -> &str {
        "python"
    }

    /// The maximum number of consecutive retries of failed code in a turn. After that, code is not run. Default: 2.
    fn retries(&self) -> u32 {
        2
    }
}

/// The output of code.
///
/// ```
/// use petalflow_agent::CodeOutput;
///
/// assert!(!CodeOutput::failed("division by zero").ok);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOutput {
    /// Whether the code ran to its end.
    pub ok: bool,
    /// The output, or the error.
    pub text: String,
}

impl CodeOutput {
    /// The output of code that ran to its end.
    pub fn printed(text: impl Into<String>) -> Self {
        CodeOutput {
            ok: true,
            text: text.into(),
        }
    }

    /// The error of code that failed.
    pub fn failed(text: impl Into<String>) -> Self {
        CodeOutput {
            ok: false,
            text: text.into(),
        }
    }
}

const OK: &str = "OUTCOME_OK";
const FAILED: &str = "OUTCOME_FAILED";

/// The instructions about running code.
pub(super) fn instruction(executor: &dyn CodeExecutor) -> String {
    format!(
        "You can run {} code. To run some, end what you say with a block of this form:\n\n```tool_code\n...\n```\n\n\
         You are told what it prints in a block that begins with ```tool_output. There is no other way to run code: call no \
         tool for it.",
        executor.language()
    )
}

/// Whether code still runs in this turn: it does not after too many consecutive failures.
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

/// The parts up to the first code block that must run, if there is one; `None` if a tool call comes first.
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
            // Code that the provider ran is followed by its result.
            Part::Code { .. } if !matches!(parts.peek(), Some(Part::CodeResult { .. })) => {
                cut.push(part.clone());
                return Some(cut);
            }
            other => cut.push(other.clone()),
        }
    }
    None
}

/// The first code block in a text, and the text before it.
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
        // Skips a block of another language.
        from = end + 3;
    }
    None
}

/// Runs the code at the end of the last event.
pub(super) async fn execute(at: At<'_>) -> Result<AgentEvent, BoxError> {
    let agent = at.agent();
    let last = at.conversation.events.last();
    let (Some(executor), Some(Part::Code { code, .. })) = (
        &agent.code_executor,
        last.and_then(|last| last.parts().last()),
    ) else {
        // Another program continues the conversation, and its agent has no code executor.
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
