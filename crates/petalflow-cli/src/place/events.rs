//! The events of a thread from a server, as server-sent events.

use reqwest::Response;
use serde_json::Value;

use crate::exit::{Exit, Failure, Result};

/// The most bytes of a line.
const MAX_LINE: usize = 64 << 20;

/// The events of a thread.
#[derive(Debug)]
pub(crate) struct ServerEvents {
    response: Response,
    /// What was received and not read yet.
    buffer: Vec<u8>,
    number: u64,
}

impl ServerEvents {
    pub(super) fn new(response: Response) -> Self {
        ServerEvents {
            response,
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// The next event. `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            let Some(line) = self.line().await? else {
                return Ok(None);
            };
            if let Some(number) = line.strip_prefix("id:") {
                self.number = number.trim().parse().unwrap_or(self.number);
            } else if let Some(data) = line.strip_prefix("data:") {
                // The server writes each event in one line, after its number or before it.
                let mut event: Value = serde_json::from_str(data.trim()).map_err(|error| {
                    let text = format_args!("the server sent an event that is no JSON: {error}");
                    Failure::new(Exit::Thread, text)
                })?;
                self.skip_to_end().await?;
                event["number"] = self.number.into();
                return Ok(Some(event));
            }
        }
    }

    /// Reads the fields of an event that follow its data.
    async fn skip_to_end(&mut self) -> Result<()> {
        while let Some(line) = self.line().await? {
            if line.is_empty() {
                break;
            }
            if let Some(number) = line.strip_prefix("id:") {
                self.number = number.trim().parse().unwrap_or(self.number);
            }
        }
        Ok(())
    }

    /// The next line, without its end.
    async fn line(&mut self) -> Result<Option<String>> {
        let mut searched = 0;
        loop {
            let rest = self.buffer.get(searched..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=searched + end).collect();
                let line = String::from_utf8_lossy(&line);
                return Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()));
            }
            searched = self.buffer.len();
            let lost = |text: &str| Failure::new(Exit::Thread, text);
            if searched > MAX_LINE {
                return Err(lost("the server sent an event that is too large"));
            }
            let chunk = self.response.chunk().await;
            match chunk.map_err(|_| lost("the connection to the server was lost"))? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }
}
