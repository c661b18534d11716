//! Bodies of requests that nobody has read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request};
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};

/// Whether a body was read to its end.
#[derive(Clone)]
pub(crate) struct IsRead(Arc<AtomicBool>);

/// A body that tells when it was read to its end.
struct Observed {
    body: Incoming,
    is_read: IsRead,
}

/// The request, with what tells whether its body was read.
pub(crate) fn observed(request: Request<Incoming>) -> (Request<Body>, IsRead) {
    let is_read = IsRead(Arc::new(AtomicBool::new(request.body().is_end_stream())));
    let observing = is_read.clone();
    let request = request.map(|body| {
        Body::new(Observed {
            body,
            is_read: observing,
        })
    });
    (request, is_read)
}

impl IsRead {
    /// The response to the request. If its body was not read, the response says that the connection closes: hyper closes it if the
    /// rest of the body has not arrived, and a client that uses it again would get no response.
    pub(crate) fn answered(&self, mut response: Response) -> Response {
        if !self.0.load(Ordering::Acquire) {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }
}

impl HttpBody for Observed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.is_read.0.store(true, Ordering::Release);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
