//! The step that runs code of the model.

use crate::extension::{CodeExecutor, CodeOutput};
use crate::turn::ctx::Ctx;
use crate::{AgentError, AgentEvent};
use petalflow::BoxError;
use petalflow_llm::message::Text;
use petalflow_llm::{ChatMessage, Part, Role};

const OK: &str = "OUTCOME_OK";
const FAILED: &str = "OUTCOME_FAILED";

/// The instructions about running code.
pub(in crate::turn) fn instruction(executor: &dyn CodeExecutor) -> String {
    format!(
        "You can run {} code. To run some, end what you say with a block of this form:\n\n```tool_code\n...\n```\n\n\
         You are told what it prints in a block that begins with ```tool_output. There is no other way to run code: call no \
         tool for it.",
        executor.language()
    )
}

/// Whether code still runs in this turn: it does not after too many consecutive failures.
pub(in crate::turn) fn may_run(ctx: Ctx<'_>, executor: &dyn CodeExecutor) -> bool {
    let events = ctx.conversation.events.iter().rev();
    let events = events.take_while(|event| event.invocation == ctx.conversation.turn_id);
    let outcomes = events
        .filter(|event| event.author == *ctx.agent().name)
        .flat_map(AgentEvent::parts)
        .filter_map(|part| match part {
            Part::CodeResult { outcome, .. } => Some(&**outcome),
            _ => None,
        });
    let failures = outcomes.take_while(|outcome| *outcome != OK).count();
    failures <= usize::try_from(executor.retries()).unwrap_or(usize::MAX)
}

/// The parts up to the first code block that must run, if there is one; `None` if a tool call comes first.
pub(in crate::turn) fn up_to_code(parts: &[Part], language: &str) -> Option<Vec<Part>> {
    let mut cut = Vec::new();
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            Part::Call(_) => return None,
            Part::Text(text) => {
                let Some((text_before, code)) = block(&text.text, language) else {
                    cut.push(part.clone());
                    continue;
                };
                if !text_before.trim().is_empty() || text.signature.is_some() {
                    cut.push(Part::Text(Text {
                        text: text_before.to_string(),
                        ..text.clone()
                    }));
                }
                cut.push(Part::Code {
                    language: language.to_string(),
                    code: code.to_string(),
                    origin: None,
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
pub(in crate::turn) async fn execute(ctx: Ctx<'_>) -> Result<AgentEvent, BoxError> {
    let agent = ctx.agent();
    let last = ctx.conversation.events.last();
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
    let running = executor.execute(code, ctx.cx);
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
        origin: None,
    };
    Ok(AgentEvent {
        message: Some(ChatMessage::new(Role::Assistant, vec![result])),
        ..ctx.event(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: &str) -> Part {
        Part::Code {
            language: "python".into(),
            code: code.into(),
            origin: None,
        }
    }

    #[test]
    fn a009_an_answer_ends_with_its_first_code() {
        let fenced = "Look:\n```tool_code\nprint(1)\n```\nand\n```tool_code\nprint(2)\n```";
        let expected = vec![Part::text("Look:\n"), code("print(1)")];
        assert_eq!(up_to_code(&[Part::text(fenced)], "python"), Some(expected));
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
            let last = up_to_code(&[Part::text(text)], "python").and_then(|mut parts| parts.pop());
            assert_eq!(last, found.map(code), "{text}");
        }
    }

    #[test]
    fn a009_code_that_the_provider_ran_is_done_and_calls_come_first() {
        let ran = Part::CodeResult {
            outcome: OK.into(),
            output: "1".into(),
            origin: None,
        };
        assert_eq!(
            up_to_code(&[code("1"), ran, Part::text("one")], "python"),
            None
        );
        let expected = Some(vec![Part::text("so"), code("1")]);
        let parts = [Part::text("so"), code("1"), Part::text("is 1")];
        assert_eq!(up_to_code(&parts, "python"), expected);
        let call = Part::Call(petalflow::tool::ToolCall::default());
        assert_eq!(up_to_code(&[call, code("1")], "python"), None);
    }
}
