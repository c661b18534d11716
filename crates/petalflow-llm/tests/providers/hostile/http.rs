//! Statuses, heads and bodies: the same for every format.

use std::time::Duration;

use petalflow_llm::LlmErrorKind;
use petalflow_llm_test_support::server::{Step, answer, with_headers};
use serde_json::json as value;

use super::{
    Asks, Case, Format, KEY, Outcome, WORDS, is_any, is_connection_error, is_malformed, is_timeout,
    is_too_large, json, text,
};

/// A head without a length: the body ends with the connection.
const OPEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn cases(format: &Format) -> Vec<Case> {
    let mut cases = Vec::new();
    statuses(format, &mut cases);
    waits(format, &mut cases);
    error_bodies(format, &mut cases);
    bodies(format, &mut cases);
    heads(format, &mut cases);
    lengths(format, &mut cases);
    cases
}

fn send(text: impl Into<Vec<u8>>) -> Step {
    Step::Send(text.into())
}

fn status(number: u16, words: &'static str) -> impl Fn(&Outcome) -> bool + Copy {
    move |outcome| {
        let Err(error) = outcome else { return false };
        let kind = match &error.kind {
            LlmErrorKind::Auth => matches!(number, 401 | 403),
            LlmErrorKind::RateLimited { .. } => number == 429,
            LlmErrorKind::Provider { status, .. } => *status == Some(number),
            _ => false,
        };
        let text = error.to_string();
        kind && text.contains(&number.to_string()) && text.contains(words)
    }
}

/// The error bodies of the provider, with each status.
fn statuses(format: &Format, cases: &mut Vec<Case>) {
    for number in [
        400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529,
    ] {
        let body = (format.error)(number, WORDS).to_string();
        let steps = answer(&format!("{number} Status"), "application/json", &body);
        let name = format!("status {number}");
        cases.extend(Case::whole_and_streamed(
            &name,
            &steps,
            status(number, WORDS),
        ));
    }
    for number in [101, 300, 304, 418, 599, 999] {
        let steps = answer(&format!("{number} Odd"), "text/plain", "");
        let name = format!("status {number} without a body");
        cases.extend(Case::whole_and_streamed(
            &name,
            &steps,
            |outcome: &Outcome| outcome.is_err(),
        ));
    }
    for number in [202, 203, 206] {
        let body = (format.whole)("Hello").to_string();
        let steps = answer(&format!("{number} Fine"), "application/json", &body);
        cases.extend(Case::whole_and_streamed(
            &format!("status {number}"),
            &steps,
            text("Hello"),
        ));
    }
}

/// What a server asks to wait.
fn waits(format: &Format, cases: &mut Vec<Case>) {
    for (header, seconds) in [
        ("retry-after: 7", Some(7)),
        ("retry-after: Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("retry-after: 99999999999", Some(99_999_999_999)),
        ("retry-after: 1e400", None),
        ("retry-after: -5", None),
        ("retry-after: tomorrow", None),
        ("retry-after-ms: 2000", Some(2)),
    ] {
        let body = (format.error)(429, WORDS).to_string();
        let steps = with_headers("429 Slow", &format!("{header}\r\n"), &body);
        cases.extend(Case::whole_and_streamed(
            header,
            &steps,
            move |outcome: &Outcome| {
                let Err(error) = outcome else { return false };
                error.kind
                    == LlmErrorKind::RateLimited {
                        retry_after: seconds.map(Duration::from_secs),
                    }
                    && error.to_string().contains(WORDS)
            },
        ));
    }
}

/// Bodies of errors.
fn error_bodies(format: &Format, cases: &mut Vec<Case>) {
    let list = value!([(format.error)(500, WORDS)]).to_string();
    let echo = (format.error)(401, &format!("wrong key {KEY}, {WORDS}")).to_string();
    let deep = format!("{WORDS} {}", "[".repeat(100_000));
    for (name, body) in [
        ("a page", format!("<html>\n<h1>{WORDS}</h1></html>")),
        ("a list", list),
        ("plain text", WORDS.to_string()),
        (
            "JSON of no known shape",
            value!({"oops": {"why": WORDS}}).to_string(),
        ),
        ("a string", value!(WORDS).to_string()),
        (
            "an error that is text",
            value!({"error": WORDS}).to_string(),
        ),
        ("a detail", value!({"detail": WORDS}).to_string()),
        (
            "a list of details",
            value!({"detail": [{"loc": ["body"], "msg": WORDS}]}).to_string(),
        ),
        (
            "an error without a message",
            value!({"error": {"type": WORDS}}).to_string(),
        ),
        (
            "an error with a number",
            value!({"error": {"message": WORDS, "code": 1e300}}).to_string(),
        ),
        (
            "a mark before it",
            format!("\u{feff}{}", (format.error)(500, WORDS)),
        ),
        (
            "JSON that is cut",
            (format.error)(500, WORDS).to_string().replace('}', ""),
        ),
        ("the key", echo),
        ("the key in a page", format!("<p>{KEY} {WORDS}")),
        ("something deep", deep),
    ] {
        let steps = answer("500 No", "application/json", &body);
        cases.extend(Case::whole_and_streamed(
            &format!("an error with {name}"),
            &steps,
            status(500, WORDS),
        ));
    }
    let invalid = [
        b"HTTP/1.1 500 No\r\nconnection: close\r\n\r\n\xff\xfe\0 ",
        WORDS.as_bytes(),
    ];
    cases.extend(Case::whole_and_streamed(
        "an error that is not UTF-8",
        &[send(invalid.concat())],
        status(500, WORDS),
    ));
    let head = send("HTTP/1.1 500 No\r\n\r\nThe server says no ");
    for (name, then) in [
        ("has no end", Step::Repeat(vec![b'y'; 10_000])),
        ("breaks off", Step::Reset),
    ] {
        let steps = [head.clone(), then];
        cases.extend(Case::whole_and_streamed(
            &format!("an error that {name}"),
            &steps,
            |outcome: &Outcome| {
                // After a reset, the machine may discard what has arrived.
                status(500, "500")(outcome)
            },
        ));
    }
    let stalls = Case::whole_and_streamed(
        "an error that stalls",
        &[head.clone(), Step::Stall],
        status(500, WORDS),
    );
    cases.extend(stalls.map(Case::waiting));
    let drips = [head, Step::Drip(b"y".to_vec(), PAUSE)];
    cases.extend(
        Case::whole_and_streamed("an error that drips", &drips, is_timeout).map(Case::waiting),
    );
}

/// Bodies with the status 200.
fn bodies(format: &Format, cases: &mut Vec<Case>) {
    let whole = (format.whole)("Hello").to_string();
    for (name, body) in [
        ("white space around it", format!("\r\n\t  {whole}\n\n ")),
        ("a mark before it", format!("\u{feff}{whole}")),
        (
            "a mark and white space before it",
            format!("\u{feff}\n{whole}"),
        ),
    ] {
        cases.extend(Case::whole_and_streamed(
            &format!("an answer with {name}"),
            &json(&body),
            text("Hello"),
        ));
    }
    for declared in [
        "",
        "text/plain",
        "text/html",
        "text/event-stream",
        "APPLICATION/JSON; x",
        "\u{e9}",
    ] {
        let steps = answer("200 OK", declared, &whole);
        cases.extend(Case::whole_and_streamed(
            &format!("JSON declared as `{declared}`"),
            &steps,
            text("Hello"),
        ));
    }
    let page = format!("<!DOCTYPE html>\n<title>Log in</title><p>{WORDS}");
    for declared in ["text/html", "text/plain", "", "text/event-stream"] {
        let steps = answer("200 OK", declared, &page);
        let name = format!("a login page declared as `{declared}`");
        cases.extend(Case::whole_and_streamed(&name, &steps, is_malformed(WORDS)));
    }
    let steps = answer("200 OK", "application/json", &page);
    cases.extend(Case::whole_and_streamed(
        "a login page declared as JSON",
        &steps,
        is_malformed(WORDS),
    ));
    for (name, body) in [
        ("a detail", value!({"detail": WORDS}).to_string()),
        ("a message", value!({"message": WORDS}).to_string()),
        ("a string", value!(WORDS).to_string()),
        ("plain text", WORDS.to_string()),
        ("a list of texts", value!([WORDS]).to_string()),
        ("JSON and garbage", format!("{whole} {WORDS}")),
    ] {
        cases.extend(Case::whole_and_streamed(
            &format!("200 with {name}"),
            &json(&body),
            |outcome: &Outcome| is_malformed("")(outcome),
        ));
    }
    for (name, body) in [
        ("the provider's error", (format.error)(500, WORDS)),
        ("a list with an error", value!([(format.error)(500, WORDS)])),
        ("an error that is text", value!({"error": WORDS})),
        ("a list of errors", value!({"error": [WORDS]})),
        (
            "an error that is true",
            value!({"error": true, "message": WORDS}),
        ),
        (
            "the object `error`",
            value!({"object": "error", "message": WORDS}),
        ),
    ] {
        let steps = json(&body.to_string());
        cases.extend(Case::whole_and_streamed(
            &format!("200 with {name}"),
            &steps,
            |outcome: &Outcome| {
                outcome.as_ref().is_err_and(|error| {
                    matches!(error.kind, LlmErrorKind::Provider { .. })
                        && error.to_string().contains(WORDS)
                })
            },
        ));
    }
    for (name, body) in [
        ("nothing", ""),
        ("white space", " \r\n\n "),
        ("an empty object", "{}"),
        ("an empty list", "[]"),
        ("null", "null"),
        ("a number", "3"),
        ("a cut object", "{\"choices\": ["),
        ("a mark alone", "\u{feff}"),
        ("the characters NUL", "\0\0\0"),
    ] {
        cases.extend(Case::whole_and_streamed(
            &format!("200 with {name}"),
            &json(body),
            is_malformed(""),
        ));
    }
    let deep = format!("{{\"choices\": {}", "[".repeat(200_000));
    cases.extend(Case::whole_and_streamed(
        "a deep body",
        &json(&deep),
        is_malformed(""),
    ));
    let number = whole.replace("\"Hello\"", "1e999999");
    cases.extend(Case::whole_and_streamed(
        "a number without bounds",
        &json(&number),
        is_malformed(""),
    ));
    let wide: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    cases.extend(Case::whole_and_streamed(
        "UTF-16",
        &[send(OPEN), send(wide)],
        is_malformed(""),
    ));
    let invalid = whole.replace("Hello", "He\0llo").into_bytes();
    let invalid: Vec<u8> = invalid
        .iter()
        .map(|&byte| if byte == 0 { 0xff } else { byte })
        .collect();
    cases.extend(Case::whole_and_streamed(
        "text that is not UTF-8",
        &[send(OPEN), send(invalid)],
        is_malformed(""),
    ));
    let steps = [
        send(OPEN),
        send("{\"choices\": \""),
        Step::Repeat(vec![b'x'; 100_000]),
    ];
    cases.extend(Case::whole_and_streamed(
        "a body without end",
        &steps,
        is_too_large,
    ));
    let steps = [send(OPEN), Step::Repeat(vec![b'\n'; 100_000])];
    cases.extend(Case::whole_and_streamed(
        "white space without end",
        &steps,
        is_too_large,
    ));
    let steps = [send(OPEN), Step::Drip(b" ".to_vec(), PAUSE)];
    cases.extend(Case::whole_and_streamed("a slow body", &steps, is_timeout).map(Case::waiting));
    let steps = [send(OPEN), send("{\"id\": "), Step::Stall];
    cases.extend(
        Case::whole_and_streamed("a body that stalls", &steps, is_timeout).map(Case::waiting),
    );
    let steps = [send(OPEN), send("{\"id\": "), Step::Reset];
    cases.extend(Case::whole_and_streamed(
        "a body that breaks off",
        &steps,
        is_connection_error(""),
    ));
    // 1 GB of zeros in 1 MB, if anything unpacked it.
    let bomb = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec(), vec![0; 100_000]].concat();
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\n\r\n");
        let steps = [send(head), send(bomb.clone())];
        let expected = is_malformed("which the request did not ask for");
        cases.extend(Case::whole_and_streamed(
            &format!("an answer in {encoding}"),
            &steps,
            expected,
        ));
    }
    cases.extend(Case::whole_and_streamed(
        "packed without a word",
        &[send(OPEN), send(bomb)],
        is_malformed(""),
    ));
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\n\r\n{whole}");
    cases.extend(Case::whole_and_streamed(
        "packed in no way",
        &[send(head)],
        text("Hello"),
    ));
}

/// Heads of answers.
fn heads(format: &Format, cases: &mut Vec<Case>) {
    for (name, wire) in [
        ("no answer", String::new()),
        ("another protocol", "SSH-2.0-OpenSSH_9.9\r\n".into()),
        (
            "a status that is not a number",
            "HTTP/1.1 abc OK\r\n\r\n".into(),
        ),
        (
            "HTTP/2 without agreement",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(),
        ),
        ("a head that is cut", "HTTP/1.1 200 OK\r\ncontent-ty".into()),
        (
            "a name with a space",
            "HTTP/1.1 200 OK\r\na b: c\r\n\r\n{}".into(),
        ),
        ("a TLS alert", "\u{15}\u{3}\u{1}\0\u{2}\u{2}F".into()),
        (
            "a long header",
            format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n{{}}", "y".repeat(700_000)),
        ),
        (
            "many headers",
            format!("HTTP/1.1 200 OK\r\n{}\r\n{{}}", "x: y\r\n".repeat(1_000)),
        ),
    ] {
        cases.extend(Case::whole_and_streamed(
            name,
            &[send(wire)],
            is_connection_error(""),
        ));
    }
    let repeat = |text: &str| Step::Repeat(text.repeat(1_000).into());
    for (name, steps) in [
        (
            "a head without end",
            vec![send("HTTP/1.1 200 OK\r\n"), repeat("x: y\r\n")],
        ),
        (
            "a header without end",
            vec![send("HTTP/1.1 200 OK\r\nx: "), repeat("yyyy")],
        ),
        (
            "a status line without end",
            vec![send("HTTP/1.1 200 "), repeat("O")],
        ),
    ] {
        cases.extend(Case::whole_and_streamed(
            name,
            &steps,
            is_connection_error(""),
        ));
    }
    for (name, steps) in [
        ("no bytes at all", vec![Step::Stall]),
        (
            "a head that stalls",
            vec![send("HTTP/1.1 200 OK\r\n"), Step::Stall],
        ),
        (
            "a slow head",
            vec![send("HTTP/1.1 200 "), Step::Drip(b"O".to_vec(), PAUSE)],
        ),
        ("a head and nothing else", vec![send(OPEN), Step::Stall]),
        (
            "hints without end",
            vec![Step::Drip(
                b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec(),
                PAUSE,
            )],
        ),
    ] {
        cases.extend(Case::whole_and_streamed(name, &steps, is_timeout).map(Case::waiting));
    }
    let whole = (format.whole)("Hello").to_string();
    for (name, head) in [
        ("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n".to_string()),
        ("no content type", "HTTP/1.1 200 OK\r\n\r\n".into()),
        ("no reason", "HTTP/1.1 200\r\n\r\n".into()),
        (
            "a hint before it",
            "HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".into(),
        ),
        (
            "a long header before it",
            format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(100_000)),
        ),
    ] {
        let steps = [send(head + &whole)];
        cases.extend(Case::whole_and_streamed(
            &format!("an answer with {name}"),
            &steps,
            text("Hello"),
        ));
    }
    cases.extend(Case::whole_and_streamed(
        "a connection that breaks off",
        &[Step::Reset],
        is_connection_error(""),
    ));
    cases.extend(Case::whole_and_streamed(
        "a head that breaks off",
        &[send("HTTP/1.1 200 OK\r\n"), Step::Reset],
        is_connection_error(""),
    ));
}

/// Lengths that are not those of the body.
fn lengths(format: &Format, cases: &mut Vec<Case>) {
    let whole = (format.whole)("Hello").to_string();
    let head = |lines: &str| format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
    let with = |lines: &str| vec![send(head(lines) + &whole)];
    for (name, steps) in [
        ("a length that is too long", with("content-length: 999999")),
        (
            "two lengths",
            with("content-length: 3\r\ncontent-length: 4"),
        ),
        ("a negative length", with("content-length: -1")),
        ("a length in words", with("content-length: many")),
        (
            "a length beyond all numbers",
            with("content-length: 99999999999999999999999"),
        ),
        (
            "a chunk that is not a chunk",
            with("transfer-encoding: chunked"),
        ),
        (
            "a chunk that is too long",
            vec![
                send(head("transfer-encoding: chunked")),
                send("ffffffffffffffffff\r\n{}"),
            ],
        ),
        (
            "chunks that are cut",
            vec![
                send(head("transfer-encoding: chunked")),
                send("f\r\n{\"id\":"),
            ],
        ),
    ] {
        cases.extend(Case::whole_and_streamed(
            name,
            &steps,
            is_connection_error(""),
        ));
    }
    cases.extend(Case::whole_and_streamed(
        "a length that is too short",
        &with("content-length: 9"),
        is_malformed(""),
    ));
    let steps = with("content-length: 0");
    cases.extend(Case::whole_and_streamed(
        "a length of nothing",
        &steps,
        is_malformed("it sent no answer"),
    ));
    let steps = [
        send(head("transfer-encoding: chunked")),
        Step::Repeat(b"1;x=y\r\n \r\n".to_vec()),
    ];
    cases.extend(Case::whole_and_streamed(
        "small chunks without end",
        &steps,
        |outcome: &Outcome| {
            // The client limits the extensions of chunks too.
            outcome.is_err()
        },
    ));
    let trailers = [
        send(head("transfer-encoding: chunked")),
        send(format!("{:x}\r\n{whole}\r\n0\r\n", whole.len())),
        Step::Repeat(b"x: y\r\n".repeat(1_000)),
    ];
    cases.push(Case::new(
        "trailers without end",
        Asks::Whole,
        trailers.to_vec(),
        is_any,
    ));
}
