//! Clients with sockets of their own.

use std::net::SocketAddr;
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::event::CustomEvent;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Limits, Server};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::kit::{HOOK, Work, builder, call, get};

struct Serving {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

async fn serve(server: Server) -> Serving {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it has one");
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async { drop(stopped.await) };
    let server = tokio::spawn(server.serve(listener, stopped));
    Serving {
        address,
        stop,
        server,
    }
}

fn server_with_limits(work: &Work, limits: Limits) -> Server {
    let builder = builder(&InMemoryStore::new(), json!({}), &work.counting());
    builder.limits(limits).build().expect("right")
}

async fn connect(serving: &Serving) -> TcpStream {
    TcpStream::connect(serving.address)
        .await
        .expect("it connects")
}

/// What the server sends until it closes the connection. A reset ends it too.
async fn read_to_end(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn exchange(serving: &Serving, request: impl AsRef<[u8]>) -> String {
    let mut stream = connect(serving).await;
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(request.as_ref()).await;
    read_to_end(stream).await
}

fn post(body: &str) -> String {
    let length = body.len();
    format!(
        "POST {HOOK} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn a_server_serves_until_it_is_stopped() {
    let work = Work::new();
    let serving = serve(server_with_limits(&work, Limits::default())).await;
    let response = exchange(&serving, post("{}")).await;
    assert!(
        response.starts_with("HTTP/1.1 202 Accepted\r\n"),
        "{response}"
    );
    serving.stop.send(()).expect("it serves");
    serving.server.await.expect("no panic").expect("no error");
    assert!(
        TcpStream::connect(serving.address).await.is_err(),
        "it does not listen any more"
    );
}

#[tokio::test]
async fn a_stop_ends_streams_of_events_and_idle_connections() {
    let work = Work::new();
    let server = builder(&InMemoryStore::new(), json!({}), &work.waiting());
    let serving = serve(server.build().expect("right")).await;
    let response = exchange(&serving, post("{}")).await;
    let thread = response
        .split('"')
        .find(|part| part.starts_with("orders:"))
        .expect("a thread");
    let _idle = connect(&serving).await;
    work.begun.notified().await;
    let mut events = connect(&serving).await;
    let request = format!("GET /threads/{thread}/events HTTP/1.1\r\nHost: a\r\n\r\n");
    events
        .write_all(request.as_bytes())
        .await
        .expect("it sends");
    let mut head = [0; 64];
    events.read_exact(&mut head).await.expect("it answers");
    serving.stop.send(()).expect("it serves");
    work.may_end.notify_one();
    serving.server.await.expect("no panic").expect("no error");
    assert!(read_to_end(events).await.contains("event: "));
}

#[tokio::test]
async fn bytes_that_are_not_http_are_refused() {
    let work = Work::new();
    let serving = serve(server_with_limits(&work, Limits::default())).await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nA\x00: b\r\n\r\n",
        &vec![0xff; 100_000],
    ] {
        let response = exchange(&serving, garbage).await;
        let status = response.get(..12).unwrap_or_default();
        assert!(
            status.is_empty()
                || status.starts_with("HTTP/1.1 4")
                || status.starts_with("HTTP/1.0 4"),
            "{response}"
        );
    }
    assert!(
        exchange(&serving, post("{}"))
            .await
            .starts_with("HTTP/1.1 202 ")
    );
}

/// A proxy before the server may choose the other host, or the other end of the body.
#[tokio::test]
async fn ambiguous_requests_are_refused() {
    let work = Work::new();
    let serving = serve(server_with_limits(&work, Limits::default())).await;
    let with = |headers: &str| {
        format!("POST {HOOK} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n2\r\n{{}}\r\n0\r\n\r\n")
    };
    let chunked = "Host: a\r\nTransfer-Encoding: chunked\r\n";
    for (headers, status) in [
        (
            "Host: a\r\nHost: b\r\nTransfer-Encoding: chunked\r\n",
            "400",
        ),
        ("Transfer-Encoding: chunked\r\n", "400"),
        ("Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", "501"),
        (
            "Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
            "501",
        ),
    ] {
        let response = exchange(&serving, with(headers)).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{headers}: {response}"
        );
    }
    assert_eq!(work.runs(), 0);
    assert!(
        exchange(&serving, with(chunked))
            .await
            .starts_with("HTTP/1.1 202 ")
    );
}

#[tokio::test]
async fn floods_of_headers_are_refused() {
    let work = Work::new();
    let serving = serve(server_with_limits(&work, Limits::default())).await;
    let many = "X-Many: 1\r\n".repeat(10_000);
    let large = format!("X-Large: {}\r\n", "a".repeat(1 << 20));
    let long = format!("POST /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(1 << 20));
    let with = |headers: &str| format!("POST {HOOK} HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
    for request in [with(&many), with(&large), long] {
        let response = exchange(&serving, request).await;
        // If the server closes with bytes unread, the response may be lost.
        assert!(
            response.is_empty()
                || response.starts_with("HTTP/1.1 431 ")
                || response.starts_with("HTTP/1.1 414 "),
            "{response}"
        );
    }
    assert_eq!(work.runs(), 0);
    assert!(
        exchange(&serving, post("{}"))
            .await
            .starts_with("HTTP/1.1 202 ")
    );
}

#[tokio::test]
async fn chunks_are_limited_in_time_and_size() {
    let work = Work::new();
    let limits = Limits {
        body_time: Duration::from_millis(100),
        ..Limits::default()
    };
    let serving = serve(server_with_limits(&work, limits)).await;
    let head = format!(
        "POST {HOOK} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    );
    let response = exchange(&serving, format!("{head}1\r\n1\r\n")).await;
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    let good = exchange(&serving, format!("{head}1\r\n1\r\n0\r\n\r\n")).await;
    assert!(good.starts_with("HTTP/1.1 202 "), "{good}");
    let wrong = exchange(&serving, format!("{head}fffffffffffffffff\r\n1")).await;
    assert!(wrong.starts_with("HTTP/1.1 400 "), "{wrong}");
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let large = exchange(&serving, format!("{head}{}", chunk.repeat(40))).await;
    assert!(
        large.is_empty() || large.starts_with("HTTP/1.1 413 "),
        "{large:.200}"
    );
}

#[tokio::test]
async fn a_body_that_nobody_reads_closes_the_connection_and_the_response_says_so() {
    let serving = serve(server_with_limits(&Work::new(), Limits::default())).await;
    // The head alone has arrived, or all of it.
    for body in ["", "{}"] {
        let unread = format!(
            "POST /threads/none:x/cancel HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{body}"
        );
        let response = exchange(&serving, unread).await.to_lowercase();
        assert!(response.contains("\r\nconnection: close"), "{response}");
    }
    let mut stream = connect(&serving).await;
    for _ in 0..2 {
        let read = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
        stream.write_all(read.as_bytes()).await.expect("it is open");
        let mut bytes = [0; 1024];
        let length = stream.read(&mut bytes).await.expect("it is open");
        let response = String::from_utf8_lossy(&bytes[..length]).to_lowercase();
        assert!(response.starts_with("http/1.1 200"), "{response}");
        assert!(!response.contains("connection: close"), "{response}");
    }
}

#[tokio::test]
async fn connections_that_send_nothing_are_closed_and_make_place() {
    let work = Work::new();
    let limits = Limits {
        header_time: Duration::from_millis(100),
        max_connections: 4,
        ..Limits::default()
    };
    let serving = serve(server_with_limits(&work, limits)).await;
    let mut idle = Vec::new();
    for index in 0..40 {
        let mut stream = connect(&serving).await;
        if index % 2 == 0 {
            stream
                .write_all(b"POST / HTTP/1.1\r\nHost:")
                .await
                .expect("it sends");
        }
        idle.push(stream);
    }
    let response = exchange(&serving, post("{}")).await;
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
    for stream in idle {
        let closed = tokio::time::timeout(Duration::from_mins(1), read_to_end(stream));
        closed.await.expect("it is closed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_at_once() {
    let work = Work::new();
    let limits = Limits {
        max_connections: 16,
        max_runs: 1_000,
        max_requests: 1_000,
        ..Limits::default()
    };
    let serving = serve(server_with_limits(&work, limits)).await;
    let request = post("{}");
    let all = (0..200).map(|_| exchange(&serving, &request));
    for response in futures_util::future::join_all(all).await {
        assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
    }
    serving.stop.send(()).expect("it serves");
    serving.server.await.expect("no panic").expect("no error");
}

#[tokio::test]
async fn a_client_that_resets_its_connection_starts_its_run() {
    let work = Work::new();
    let server = builder(&InMemoryStore::new(), json!({}), &work.waiting());
    let serving = serve(server.build().expect("right")).await;
    let mut stream = connect(&serving).await;
    stream
        .write_all(post("{}").as_bytes())
        .await
        .expect("it sends");
    work.begun.notified().await;
    drop(stream);
    work.may_end.notify_one();
    serving.stop.send(()).expect("it serves");
    serving.server.await.expect("no panic").expect("no error");
    assert_eq!(work.runs(), 1);
}

/// More than the buffers of a connection hold.
const PIECES: usize = 128;
const PIECE_BYTES: usize = 256 * 1024;

#[state]
struct Report {
    #[key(sum)]
    pieces: u64,
}

/// Sends many large events once its client listens.
#[node(Report)]
async fn write(cx: Context) -> petalflow::Result<ReportPieces> {
    LISTENS.notified().await;
    for _ in 0..PIECES {
        cx.emit(CustomEvent::named("piece", "x".repeat(PIECE_BYTES)));
        tokio::task::yield_now().await;
    }
    Ok(ReportPieces(PIECES as u64))
}

static LISTENS: Notify = Notify::const_new();

flow!(Reports(Report) { write });

#[tokio::test]
async fn a_listener_that_never_reads_stops_no_run() {
    let server = Server::builder(&InMemoryStore::new())
        .flow(Reports::new())
        .threads(TriggerAuth::None);
    let server = server.build().expect("right");
    let router = server.router();
    let serving = serve(server).await;
    let body = json!({ "id": "r", "input": {} });
    let started = call(&router, "POST", "/flows/Reports/threads", body).await;
    let thread = format!("/threads/{}", started.thread());
    let mut listener = connect(&serving).await;
    let request = format!("GET {thread}/events HTTP/1.1\r\nHost: a\r\n\r\n");
    let sent = listener.write_all(request.as_bytes()).await;
    sent.expect("it sends");
    let mut head = [0; 64];
    listener.read_exact(&mut head).await.expect("it answers");
    // From here on it reads nothing.
    LISTENS.notify_one();
    let ended = async {
        while get(&router, &thread).await.json()["status"] != "finished" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_mins(1), ended).await;
    ended.expect("the run ends");
    let state = get(&router, &thread).await.json();
    assert_eq!(state["state"]["pieces"], PIECES);
    // The listener gets everything when it reads again.
    assert_eq!(read_to_end_of_stream(listener).await, PIECES);
}

/// How many pieces are in the rest of a stream of events.
async fn read_to_end_of_stream(mut listener: TcpStream) -> usize {
    let (mut pieces, mut tail) = (0, Vec::new());
    let mut buffer = vec![0; PIECE_BYTES];
    // The chunk of no bytes ends the response.
    while !tail.ends_with(b"\r\n0\r\n\r\n") {
        let read = listener.read(&mut buffer).await.expect("it is sent");
        assert!(read > 0, "the stream ends before its end");
        tail.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&tail);
        pieces += text.matches("event: custom").count();
        // A name that is cut by the end is counted with the next bytes.
        let keep = tail.len().saturating_sub("event: custom".len() - 1);
        tail.drain(..keep);
    }
    pieces
}
