//! A server that answers as a test tells it to, byte by byte: it may stall, cut itself off, or talk nonsense.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What a server does next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Says nothing more until the client goes away.
    Stall,
}

/// What a client asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Without the query.
    pub(crate) path: String,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server on this machine; it stops when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
    scheme: &'static str,
}

#[derive(Default)]
struct Shared {
    asked: Mutex<Vec<Asked>>,
    left: AtomicUsize,
    changed: Notify,
}

impl Server {
    /// A server that answers each request with the steps that `answer` gives for it, and then closes the connection.
    pub(crate) async fn start(
        answer: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::listen(None, answer).await
    }

    /// The same over TLS.
    pub(crate) async fn encrypted(tls: TlsAcceptor, steps: Vec<Step>) -> Self {
        Self::listen(Some(tls), move |_, _| steps.clone()).await
    }

    async fn listen(
        tls: Option<TlsAcceptor>,
        answer: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let answer = Arc::new(answer);
        let listening = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (answer, shared) = (Arc::clone(&answer), Arc::clone(&shared));
                    let tls = tls.clone();
                    tokio::spawn(async move {
                        // A client may go away at any time.
                        let _ = match tls {
                            None => serve(stream, &shared, &*answer).await,
                            Some(tls) => match tls.accept(stream).await {
                                Ok(stream) => serve(stream, &shared, &*answer).await,
                                Err(error) => Err(error),
                            },
                        };
                    });
                }
            }
        });
        Server {
            address,
            shared,
            listening,
            scheme,
        }
    }

    /// A server that answers every request so.
    pub(crate) async fn always(steps: Vec<Step>) -> Self {
        Self::start(move |_, _| steps.clone()).await
    }

    /// Its address, with this path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// The same by name, which certificates go by.
    pub(crate) fn named_url(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.address.port())
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Waits until it has been asked so often.
    pub(crate) async fn was_asked(&self, times: usize) {
        self.until(
            |shared| shared.asked.lock().unwrap().len() >= times,
            "nobody asks",
        )
        .await;
    }

    /// Waits until so many clients have closed their connections while it stalled.
    pub(crate) async fn gone(&self, clients: usize) {
        let gone = |shared: &Shared| shared.left.load(Ordering::SeqCst) >= clients;
        self.until(gone, "the client keeps its connection open")
            .await;
    }

    async fn until(&self, done: impl Fn(&Shared) -> bool, why: &str) {
        while !done(&self.shared) {
            let changed = self.shared.changed.notified();
            tokio::time::timeout(Duration::from_secs(10), changed)
                .await
                .expect(why);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// An answer of this kind and text.
pub(crate) fn answer(status: &str, content_type: &str, body: &str) -> Vec<Step> {
    with_headers(status, &format!("content-type: {content_type}\r\n"), body)
}

/// An answer with these headers, each with its end of line.
pub(crate) fn with_headers(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![Step::Send(head.into_bytes()), Step::Send(body.into())]
}

/// The head of an answer that comes in chunks.
pub(crate) fn events() -> Step {
    Step::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n".to_vec(),
    )
}

/// One chunk of such an answer.
pub(crate) fn chunk(text: &str) -> Step {
    Step::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// One event of such an answer.
pub(crate) fn event(data: &Value) -> Step {
    chunk(&format!("data: {data}\n\n"))
}

/// The end of such an answer.
pub(crate) fn end() -> Step {
    Step::Send(b"0\r\n\r\n".to_vec())
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    shared: &Shared,
    answer: &(impl Fn(usize, &Asked) -> Vec<Step> + Sync),
) -> std::io::Result<()> {
    let asked = read(&mut stream).await?;
    let number = {
        let mut all = shared.asked.lock().unwrap();
        all.push(asked.clone());
        all.len() - 1
    };
    shared.changed.notify_one();
    for step in answer(number, &asked) {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::Stall => {
                let mut nothing = [0; 1];
                let left = stream.read(&mut nothing).await;
                assert!(matches!(left, Ok(0) | Err(_)), "a client asks once");
                shared.left.fetch_add(1, Ordering::SeqCst);
                shared.changed.notify_one();
            }
        }
    }
    stream.shutdown().await
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Asked> {
    let mut wire = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let head = loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        wire.extend_from_slice(&buffer[..read]);
        if let Some(end) = wire.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let mut body = wire.split_off(head + 4);
    let text = String::from_utf8_lossy(&wire).into_owned();
    let path = text.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default().to_string();
    let head = text.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().unwrap());
    while body.len() < length {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        body.extend_from_slice(&buffer[..read]);
    }
    Ok(Asked {
        path,
        head,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}
