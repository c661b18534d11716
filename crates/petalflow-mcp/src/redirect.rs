//! Takes the redirect of a browser on this machine.

use std::io;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::error::Elapsed;

/// How long a connection may take to send its request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// A request: the path with the query, and where to answer it.
type Request = (String, TcpStream);

/// Waits for a request whose path belongs to the sign-in. Others are answered with 404: browsers also open connections
/// ahead of time, and ask for icons.
pub(super) async fn receive(
    listener: &TcpListener,
    is_ours: impl Fn(&str) -> bool,
) -> io::Result<Request> {
    let mut requests = JoinSet::new();
    loop {
        let event = {
            let request = pin!(next(&mut requests));
            match select(pin!(listener.accept()), request).await {
                Either::Left((accepted, _)) => Either::Left(accepted?.0),
                Either::Right((request, _)) => Either::Right(request),
            }
        };
        let (path, stream) = match event {
            Either::Left(stream) => {
                requests.spawn(tokio::time::timeout(TIMEOUT, read(stream)));
                continue;
            }
            Either::Right(request) => request,
        };
        if is_ours(&path) {
            return Ok((path, stream));
        }
        let text = "This page does not belong to the sign-in.";
        answer(stream, "404 Not Found", text).await;
    }
}

/// The next request that was read. Connections without one are dropped.
async fn next(requests: &mut JoinSet<Result<io::Result<Request>, Elapsed>>) -> Request {
    loop {
        match requests.join_next().await {
            Some(Ok(Ok(Ok(request)))) => return request,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
}

/// Reads the head of a request. Returns its path with the query.
async fn read(mut stream: TcpStream) -> io::Result<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let path = head
        .strip_prefix("GET ")
        .and_then(|rest| rest.split(' ').next());
    let path = path.ok_or(io::ErrorKind::InvalidData)?.to_string();
    Ok((path, stream))
}

/// Answers with a short text.
pub(super) async fn answer(mut stream: TcpStream, status: &str, text: &str) {
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // A browser that is gone needs no answer.
    let _ = tokio::time::timeout(TIMEOUT, async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
