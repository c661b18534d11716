//! A server that sends the bytes that a test gives it. It may stall, close the connection early, or send nonsense.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What a server does next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes again and again until the client disconnects.
    Repeat(Vec<u8>),
    /// As `Repeat`, with this pause between two times.
    Drip(Vec<u8>, Duration),
    /// Breaks the connection off: the client gets an error, not an end.
    Reset,
    /// Sends nothing more until the client disconnects.
    Stall,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// Without the query.
    pub path: String,
    /// The first line and the headers, in lower case.
    pub head: String,
    /// Null if it is not JSON.
    pub body: Value,
    /// The body as it was sent.
    pub text: String,
}

/// A server on this machine. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
    scheme: &'static str,
}

#[derive(Debug, Default)]
struct Shared {
    requests: Mutex<Vec<ReceivedRequest>>,
    disconnects: AtomicUsize,
    sent: AtomicU64,
    changed: Notify,
}

impl Server {
    /// Starts a server that answers each request with the steps that `answer` returns for it, and then closes the connection.
    /// `answer` also gets the number of requests before this one.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub async fn start(
        answer: impl Fn(usize, &ReceivedRequest) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::listen(None, answer).await
    }

    /// Starts a server that answers every request with these steps, over TLS.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub async fn with_tls(tls: TlsAcceptor, steps: Vec<Step>) -> Self {
        Self::listen(Some(tls), move |_, _| steps.clone()).await
    }

    async fn listen(
        tls: Option<TlsAcceptor>,
        answer: impl Fn(usize, &ReceivedRequest) -> Vec<Step> + Send + Sync + 'static,
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
                        // A client may disconnect at any time.
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

    /// Starts a server that answers every request with these steps.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub async fn always(steps: Vec<Step>) -> Self {
        Self::start(move |_, _| steps.clone()).await
    }

    /// Its address, with this path.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Its address by host name, which certificates contain.
    pub fn named_url(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.address.port())
    }

    /// The requests so far.
    ///
    /// # Panics
    ///
    /// If a connection's task panicked.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The number of bytes that the machine has taken for the clients. They may not have read all of them.
    pub fn bytes_sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Waits for this number of requests.
    ///
    /// # Panics
    ///
    /// If no request comes for ten seconds.
    pub async fn wait_for_requests(&self, count: usize) {
        let enough = |shared: &Shared| shared.requests.lock().unwrap().len() >= count;
        self.wait_until(enough, "there is no further request").await;
    }

    /// Waits until this number of clients have closed their connections while the server stalled or was sending.
    ///
    /// # Panics
    ///
    /// If no client does so for ten seconds.
    pub async fn wait_for_disconnects(&self, clients: usize) {
        let enough = |shared: &Shared| shared.disconnects.load(Ordering::SeqCst) >= clients;
        self.wait_until(enough, "the client does not close its connection")
            .await;
    }

    async fn wait_until(&self, done: impl Fn(&Shared) -> bool, why: &str) {
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

/// A response with this body.
pub fn answer(status: &str, content_type: &str, body: &str) -> Vec<Step> {
    with_headers(status, &format!("content-type: {content_type}\r\n"), body)
}

/// A response with these headers, each with its end of line.
pub fn with_headers(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![Step::Send(head.into_bytes()), Step::Send(body.into())]
}

/// The head of a response that is sent in chunks.
pub fn events() -> Step {
    Step::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n".to_vec(),
    )
}

/// One chunk of such a response.
pub fn chunk(text: &str) -> Step {
    Step::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// One event of such a response.
pub fn event(data: &Value) -> Step {
    chunk(&format!("data: {data}\n\n"))
}

/// The end of such a response.
pub fn end() -> Step {
    Step::Send(b"0\r\n\r\n".to_vec())
}

/// A connection of a client.
trait Connection: AsyncRead + AsyncWrite + Unpin {
    fn tcp(&self) -> &TcpStream;
}

impl Connection for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Connection for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn serve(
    mut stream: impl Connection,
    shared: &Shared,
    answer: &(impl Fn(usize, &ReceivedRequest) -> Vec<Step> + Sync),
) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let number = {
        let mut all = shared.requests.lock().unwrap();
        all.push(request.clone());
        all.len() - 1
    };
    shared.changed.notify_one();
    for step in answer(number, &request) {
        match step {
            Step::Send(bytes) => send(&mut stream, &bytes, shared).await?,
            Step::Repeat(bytes) => loop {
                send(&mut stream, &bytes, shared).await?;
            },
            Step::Drip(bytes, pause) => loop {
                send(&mut stream, &bytes, shared).await?;
                tokio::time::sleep(pause).await;
            },
            Step::Reset => {
                // Closing then discards what was not sent.
                stream.tcp().set_zero_linger()?;
                return Ok(());
            }
            Step::Stall => {
                let mut nothing = [0; 1];
                let end = stream.read(&mut nothing).await;
                assert!(matches!(end, Ok(0) | Err(_)), "a client sends one request");
                shared.disconnects.fetch_add(1, Ordering::SeqCst);
                shared.changed.notify_one();
            }
        }
    }
    stream.shutdown().await
}

/// Sends bytes. A failure means that the client has disconnected.
async fn send(stream: &mut impl Connection, bytes: &[u8], shared: &Shared) -> std::io::Result<()> {
    let sent = stream.write_all(bytes).await;
    if sent.is_ok() {
        let bytes = bytes.len().try_into().unwrap_or(u64::MAX);
        shared.sent.fetch_add(bytes, Ordering::SeqCst);
    } else {
        shared.disconnects.fetch_add(1, Ordering::SeqCst);
        shared.changed.notify_one();
    }
    sent
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<ReceivedRequest> {
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
    Ok(ReceivedRequest {
        path,
        head,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        text: String::from_utf8_lossy(&body).into_owned(),
    })
}
