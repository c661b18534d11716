//! A reader that limits the length of a line.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that fails when a line is longer than `limit`, and then sets `exceeded`.
///
/// Without it, `rmcp` drops a line that is too long and continues. The request that waits for that line never ends.
pub(super) struct Bounded<R> {
    inner: R,
    limit: usize,
    line: usize,
    exceeded: Arc<AtomicBool>,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, limit: usize, exceeded: Arc<AtomicBool>) -> Self {
        Bounded {
            inner,
            limit,
            line: 0,
            exceeded,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let new = &buffer.filled()[before..];
        let mut lines = new.split(|byte| *byte == b'\n');
        // The first slice continues the current line. Each further slice starts a line.
        let first = lines.next().map_or(0, <[u8]>::len);
        let mut longest = self.line + first;
        self.line = longest;
        for line in lines {
            longest = longest.max(line.len());
            self.line = line.len();
        }
        if longest > self.limit {
            self.exceeded.store(true, Ordering::Relaxed);
            // A read that fails must not fill the buffer.
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::other("a message is longer than allowed")));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    async fn read(text: &str, limit: usize) -> (io::Result<usize>, bool) {
        let exceeded = Arc::new(AtomicBool::new(false));
        // Small chunks: lines cross their boundaries.
        let mut reader = Bounded::new(in_chunks(text), limit, Arc::clone(&exceeded));
        let result = reader.read_to_end(&mut Vec::new()).await;
        (result, exceeded.load(Ordering::Relaxed))
    }

    /// A reader that returns three bytes at a time.
    fn in_chunks(text: &str) -> impl AsyncRead + Unpin {
        struct ChunkReader(Vec<u8>);
        impl AsyncRead for ChunkReader {
            fn poll_read(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
                buffer: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let count = self.0.len().min(3).min(buffer.remaining());
                buffer.put_slice(&self.0.drain(..count).collect::<Vec<_>>());
                Poll::Ready(Ok(()))
            }
        }
        ChunkReader(text.into())
    }

    #[tokio::test]
    async fn lines_up_to_the_limit_pass_and_longer_ones_do_not() {
        for text in ["", "\n\n", "12345\n12345\n", "12345", "1\n23\n12345\n"] {
            assert!(
                matches!(read(text, 5).await, (Ok(n), false) if n == text.len()),
                "{text:?}"
            );
        }
        for text in ["123456", "1\n123456\n", "12345\n123456", "123456\n1"] {
            assert!(matches!(read(text, 5).await, (Err(_), true)), "{text:?}");
        }
    }
}
