//! Takes log messages out of the bytes of a server.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::handler::MessageHandler;

/// How many bytes are read at once.
const CHUNK: usize = 8 * 1024;

/// The length from which the beginning of a line is passed on before its end has arrived. It may be a log message: then it is
/// taken later, in its order.
const LONG: usize = 64 * 1024;

/// A reader without the lines that are log messages, which its handler takes.
///
/// `rmcp` compares a message with each type of message that there is, which takes much longer than to read it once. A server
/// may send tens of thousands of log messages before the result of a call.
pub(super) struct LogReader<R> {
    inner: R,
    handler: MessageHandler,
    /// What was read and not passed on, from `begin`.
    buffer: Vec<u8>,
    begin: usize,
    /// Up to where the buffer may be passed on.
    passed: usize,
    /// Up to where the buffer has no end of a line, from `passed`.
    searched: usize,
    /// Whether the beginning of the current line was passed on.
    in_line: bool,
    has_ended: bool,
}

impl<R> LogReader<R> {
    pub(super) fn new(inner: R, handler: MessageHandler) -> Self {
        LogReader {
            inner,
            handler,
            buffer: Vec::new(),
            begin: 0,
            passed: 0,
            searched: 0,
            in_line: false,
            has_ended: false,
        }
    }

    /// Reads the lines in the buffer up to one that is passed on. What follows it is read after it, so that messages keep their
    /// order. Returns whether log messages were taken.
    fn read_lines(&mut self) -> bool {
        let mut has_taken = false;
        while self.begin == self.passed {
            let end = self.buffer[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| self.searched + end + 1) else {
                self.searched = self.buffer.len();
                if self.in_line || self.has_ended || self.buffer.len() - self.begin > LONG {
                    self.in_line = true;
                    self.passed = self.buffer.len();
                }
                break;
            };
            let is_whole = !std::mem::take(&mut self.in_line);
            let line = &self.buffer[self.begin..end];
            if is_whole && self.handler.take_log(line) {
                has_taken = true;
                self.begin = end;
            }
            self.passed = end;
            self.searched = end;
        }
        has_taken
    }

    /// Passes on what may be. Returns whether that is something.
    fn pass(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let length = buffer.remaining().min(self.passed - self.begin);
        buffer.put_slice(&self.buffer[self.begin..self.begin + length]);
        self.begin += length;
        length > 0
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LogReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let has_taken = this.read_lines();
            if this.pass(buffer) || this.has_ended {
                return Poll::Ready(Ok(()));
            }
            if has_taken {
                // Other tasks run too while a server sends one message after the other.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.buffer.drain(..this.begin);
            this.searched -= this.begin;
            (this.begin, this.passed) = (0, 0);
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut chunk))?;
            this.has_ended = chunk.filled().is_empty();
            this.buffer.extend_from_slice(chunk.filled());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::LogLevel;
    use crate::elicitation::RequestHandlers;
    use crate::logs::Logs;

    fn log(data: &str) -> String {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":\"{data}\"}}}}\n"
        )
    }

    /// What is passed on of a text that arrives in pieces of this size, and the log messages that are taken.
    async fn read(text: &str, piece: usize) -> (String, Vec<String>) {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let logs = Arc::clone(&taken);
        let logs = Logs {
            level: LogLevel::Debug,
            take: Arc::new(move |message| {
                let text = message.data.as_str().unwrap_or_default().to_string();
                logs.lock().unwrap().push(text);
            }),
        };
        let handlers = RequestHandlers {
            logs: Some(logs),
            ..RequestHandlers::default()
        };
        let (mut wire, inner) = tokio::io::duplex(piece);
        let mut reader = LogReader::new(inner, MessageHandler::new("s".into(), handlers));
        let mut passed = String::new();
        let write = async move {
            wire.write_all(text.as_bytes()).await.unwrap();
        };
        let ((), length) = tokio::join!(write, reader.read_to_string(&mut passed));
        assert_eq!(length.unwrap(), passed.len());
        let taken = taken.lock().unwrap().clone();
        (passed, taken)
    }

    #[tokio::test]
    async fn lines_that_are_log_messages_are_taken_and_others_pass() {
        let other =
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"method\":\"notifications/message\"}}\r\n";
        let long = log(&"x".repeat(2 * LONG));
        let text = [
            &log("a"),
            other,
            "\n",
            &log("b"),
            &log("c"),
            &long,
            "no JSON\n",
            &log("d"),
            "{\"unended\"",
        ]
        .concat();
        let expected = [other, "\n", &long, "no JSON\n", "{\"unended\""].concat();
        for piece in [7, 1_000, 1 << 20] {
            let (passed, taken) = read(&text, piece).await;
            assert!(passed == expected, "in pieces of {piece}");
            assert_eq!(taken, ["a", "b", "c", "d"], "in pieces of {piece}");
        }
        assert_eq!(read("", 8).await, (String::new(), Vec::new()));
    }
}
