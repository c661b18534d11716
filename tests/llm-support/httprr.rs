//! Recordings in the format of Go's `httprr`: pairs of a request and its response, each as it was sent.

use std::path::Path;

use serde_json::Value;

/// One request and its response.
#[derive(Clone, Debug)]
pub struct Pair {
    /// What the client sent.
    pub request: Request,
    /// What the provider sent back.
    pub response: Response,
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Such as `api.openai.com`. Empty if the first line has a path only.
    pub host: String,
    /// Such as `/v1beta/models/gemini-2.5-flash:generateContent`, without the query.
    pub path: String,
    /// Null if it is not JSON.
    pub body: Value,
}

/// A recorded response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Such as 200.
    pub status: u16,
    /// Empty if it has no such header.
    pub content_type: String,
    /// As it was sent.
    pub body: String,
}

/// The pairs of a recording, in order.
///
/// # Panics
///
/// If the file is not such a recording.
pub fn read(file: &Path) -> Vec<Pair> {
    let text = std::fs::read(file).unwrap();
    let mut rest = text
        .strip_prefix(b"httprr trace v1\n")
        .expect("a recording begins with its version");
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (lengths, after) = split(rest, b"\n");
        let lengths = std::str::from_utf8(lengths).unwrap();
        let (request, response) = lengths.split_once(' ').unwrap();
        let (request, after) = after.split_at(request.parse().unwrap());
        let (response, after) = after.split_at(response.parse().unwrap());
        pairs.push(Pair {
            request: parse_request(request),
            response: parse_response(response),
        });
        rest = after;
    }
    pairs
}

fn parse_request(wire: &[u8]) -> Request {
    let (head, body) = split(wire, b"\r\n\r\n");
    let url = std::str::from_utf8(head)
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap();
    let (host, path) = url.split_once("://").map_or(("", url), |(_, rest)| {
        rest.split_at(rest.find('/').unwrap())
    });
    Request {
        host: host.to_string(),
        path: path.split('?').next().unwrap().to_string(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
    }
}

fn parse_response(wire: &[u8]) -> Response {
    let (head, body) = split(wire, b"\r\n\r\n");
    let head = std::str::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let content_type = head
        .lines()
        .find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-type")
                .then(|| value.trim().to_string())
        })
        .unwrap_or_default();
    Response {
        status,
        content_type,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

fn split<'a>(text: &'a [u8], at: &[u8]) -> (&'a [u8], &'a [u8]) {
    let found = text.windows(at.len()).position(|window| window == at);
    let found = found.expect("a recording is whole");
    (&text[..found], &text[found + at.len()..])
}
