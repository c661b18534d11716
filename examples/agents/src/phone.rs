//! A conversation flow in the terminal.

use std::io::{BufRead, Write};

use petalflow::event::EventKind;
use petalflow::thread::Thread;
use petalflow_conversations::{ConversationEvent, ConversationStateInput, TurnFlow};

/// Runs turns until the conversation or the lines end. A stored conversation continues where it stopped.
///
/// # Errors
///
/// If a turn fails, or the terminal.
pub async fn talk(
    thread: &Thread<TurnFlow>,
    lines: impl BufRead,
    mut screen: impl Write,
) -> petalflow::Result<()> {
    let mut lines = lines.lines();
    let mut input = match thread.snapshot().await? {
        None => Some(ConversationStateInput::start()),
        Some(_) => None,
    };
    loop {
        let next = if let Some(start) = input.take() {
            start
        } else {
            write!(screen, "> ")?;
            screen.flush()?;
            match lines.next().transpose()? {
                None => return Ok(()),
                Some(line) if line.trim().is_empty() => continue,
                Some(line) => ConversationStateInput::user_message(line),
            }
        };
        let mut events = thread.run(next).events();
        while let Some(event) = events.next().await {
            match ConversationEvent::of(&event) {
                Some(ConversationEvent::Answer { text } | ConversationEvent::Say { text }) => {
                    writeln!(screen, "{text}")?;
                }
                Some(ConversationEvent::Entered { node }) => writeln!(screen, "[{node}]")?,
                Some(ConversationEvent::Ended) => return Ok(()),
                _ => {}
            }
            if let EventKind::Failed { error } = event.kind {
                return Err(error.into());
            }
        }
    }
}
