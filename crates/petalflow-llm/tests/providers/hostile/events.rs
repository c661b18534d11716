//! Streams of events: their bytes, and where they end. The same for every format.

use std::time::Duration;

use petalflow_llm::LlmErrorKind;
use petalflow_llm_test_support::server::{Step, answer, chunk, end, events};
use serde_json::json as value;

use super::{
    Asks, Case, Format, KEY, Outcome, WORDS, is_connection_error, is_malformed, is_timeout,
    is_too_large, stream, stream_then, text,
};

const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn cases(format: &Format) -> Vec<Case> {
    let mut cases = Vec::new();
    spellings(format, &mut cases);
    ends(format, &mut cases);
    cuts(format, &mut cases);
    instead(format, &mut cases);
    endless(format, &mut cases);
    cases
}

fn case(
    name: impl Into<String>,
    steps: Vec<Step>,
    expected: impl Fn(&Outcome) -> bool + 'static,
) -> Case {
    Case::new(name, Asks::Stream, steps, expected)
}

/// A server's error, with its words.
fn is_server_error(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|error| {
        let kind = matches!(
            error.kind,
            LlmErrorKind::Provider { .. } | LlmErrorKind::RateLimited { .. } | LlmErrorKind::Auth
        );
        kind && error.to_string().contains(WORDS)
    })
}

/// Other spellings of a good stream.
fn spellings(format: &Format, cases: &mut Vec<Case>) {
    let good = format.valid_stream();
    let compact = good.replace("data: ", "data:").replace("event: ", "event:");
    let pretty = (format.events)("Hello")
        .iter()
        .fold(String::new(), |all, event| {
            let lines = serde_json::to_string_pretty(event).unwrap();
            format!("{all}data: {}\n\n", lines.replace('\n', "\ndata: "))
        });
    let done = if format.done { "data: [DONE]\n\n" } else { "" };
    let between = |text: &str| good.replace("\n\n", &format!("\n\n{text}"));
    for (name, wire) in [
        ("CRLF", good.replace('\n', "\r\n")),
        ("CR", good.replace('\n', "\r")),
        ("no spaces after colons", compact),
        ("data in many lines", pretty + done),
        ("a mark before it", format!("\u{feff}{good}")),
        (
            "a mark and lines before it",
            format!("\u{feff}\n\n\n{good}"),
        ),
        ("lines before it", format!("\r\n\n\n{good}")),
        ("comments", between(": OPENROUTER PROCESSING\n\n")),
        (
            "long comments",
            between(&format!(":{}\n\n", "x".repeat(5_000))),
        ),
        ("empty events", between("data:\n\nevent: x\n\n")),
        (
            "ids and delays",
            between("id: 7\nretry: 10\n\nid: \0\nretry: soon\n\n"),
        ),
        (
            "a huge delay",
            between("retry: 99999999999999999999999999\n\n"),
        ),
        ("unknown fields", between("colour: red\nx\n\n")),
        (
            "pings",
            between("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        ),
        (
            "unknown events",
            between("event: new\ndata: {\"type\": \"new_thing\", \"x\": [1]}\n\n"),
        ),
        (
            "other JSON",
            between(
                "data: null\n\ndata: 3\n\ndata: \"x\"\n\ndata: []\n\ndata: {}\n\ndata: true\n\n",
            ),
        ),
        (
            "an error that is null",
            between("data: {\"error\": null}\n\n"),
        ),
        ("no empty line at its end", good.trim_end().to_string()),
        (
            "one line break at its end",
            good.trim_end().to_string() + "\n",
        ),
    ] {
        cases.push(case(
            format!("a stream with {name}"),
            stream(&wire),
            text("Hello"),
        ));
    }
    for declared in [
        "",
        "text/plain",
        "application/json",
        "TEXT/EVENT-STREAM; charset=utf-8",
        "application/x-ndjson",
    ] {
        let name = format!("a stream declared as `{declared}`");
        cases.push(case(name, answer("200 OK", declared, &good), text("Hello")));
    }
    let bytes = good.as_bytes();
    let single = bytes
        .iter()
        .map(|byte| Step::Send([b"1\r\n", &[*byte][..], b"\r\n"].concat()));
    let steps = [events()]
        .into_iter()
        .chain(single)
        .chain([end()])
        .collect();
    cases.push(case("a stream byte by byte", steps, text("Hello")));
    let accents = format.stream(&(format.events)("é日本😀"));
    let single = accents
        .bytes()
        .map(|byte| Step::Send([b"1\r\n", &[byte][..], b"\r\n"].concat()));
    let steps = [events()]
        .into_iter()
        .chain(single)
        .chain([end()])
        .collect();
    cases.push(case("characters in pieces", steps, text("é日本😀")));
    let large = "x".repeat(40_000);
    let wire = format.stream(&(format.events)(&large));
    cases.push(case(
        "a large event",
        stream(&wire),
        move |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.text() == large)
        },
    ));
}

/// What comes after the end.
fn ends(format: &Format, cases: &mut Vec<Case>) {
    let good = format.valid_stream();
    for (name, then) in [
        ("nothing more, and stays open", Step::Stall),
        ("breaks off", Step::Reset),
        (
            "garbage without end",
            Step::Repeat(b"4\r\n\xff}{!\r\n".repeat(1_000)),
        ),
        (
            "comments without end",
            Step::Repeat(b"6\r\n: hi\n\n\r\n".repeat(1_000)),
        ),
        ("what is not a chunk", Step::Send(b"garbage\r\n".to_vec())),
        (
            "an error",
            chunk("event: error\ndata: {\"error\": {\"message\": \"late\"}}\n\n"),
        ),
        ("the same again", chunk(&good)),
        ("cut JSON", chunk("data: {\"id\": ")),
    ] {
        // Gemini's streams have no last event: an error after the reason is not told from one before the end.
        let has_last = format.name != "gemini";
        let breaks_off = matches!(then, Step::Reset);
        let expected = move |outcome: &Outcome| match outcome {
            Ok(response) => response.text() == "Hello" || !has_last,
            // After a reset, the machine may discard what has arrived.
            Err(_) => !has_last || (breaks_off && is_connection_error("")(outcome)),
        };
        cases.push(case(
            format!("after the end comes {name}"),
            stream_then(&good, then),
            expected,
        ));
    }
    if format.done {
        let events = (format.events)("Hello");
        let frames: String = events.iter().map(Format::frame).collect();
        cases.push(case("no [DONE]", stream(&frames), text("Hello")));
        let steps = stream("data: [DONE]\n\n");
        cases.push(case(
            "[DONE] alone",
            steps,
            is_malformed("there is no answer in what it sent: data: [DONE]"),
        ));
        let early = format.stream_start() + "data: [DONE]\n\n";
        cases.push(case("[DONE] without a reason", stream(&early), text("Hel")));
        let spaced = frames.replace("data: [DONE]", "data:   [DONE]  ");
        cases.push(case("[DONE] with spaces", stream(&spaced), text("Hello")));
    }
}

/// Streams that are cut after each of their events, and in the middle of each.
fn cuts(format: &Format, cases: &mut Vec<Case>) {
    let events = (format.events)("Hello");
    for count in 0..=events.len() {
        let before: String = events[..count].iter().map(Format::frame).collect();
        let complete = count >= format.complete_after;
        let expected = move |outcome: &Outcome| {
            if complete {
                text("Hello")(outcome)
            } else if count == 0 {
                is_malformed("it sent no answer")(outcome)
            } else {
                is_connection_error("the connection closed before the answer was complete")(outcome)
            }
        };
        cases.push(case(
            format!("cut after {count} events"),
            stream(&before),
            expected,
        ));
        // Without the end of the chunks, and in the middle of the next event.
        let broken_off = move |outcome: &Outcome| {
            if complete {
                text("Hello")(outcome)
            } else {
                is_connection_error("")(outcome)
            }
        };
        let steps = stream_then(&before, Step::Reset);
        cases.push(case(
            format!("broken off after {count} events"),
            steps,
            move |outcome: &Outcome| {
                // The machine may discard what has arrived.
                is_connection_error("")(outcome) || broken_off(outcome)
            },
        ));
        let Some(next) = events.get(count) else {
            continue;
        };
        let next = Format::frame(next);
        let part = format!("{before}{}", &next[..next.len() * 2 / 3]);
        cases.push(case(
            format!("cut in event {count}"),
            stream(&part),
            broken_off,
        ));
    }
}

/// Something else instead of events, or between them.
fn instead(format: &Format, cases: &mut Vec<Case>) {
    let begun = format.stream_start();
    let error = (format.error)(529, WORDS);
    let list = value!([error]);
    let own = |data: &str| format!("data: {data}\n\n");
    let named = |data: &str| format!("event: error\ndata: {data}\n\n");
    for (name, frame) in [
        ("the provider's error", own(&error.to_string())),
        ("a list with it", own(&list.to_string())),
        (
            "an error that is text",
            own(&value!({"error": WORDS}).to_string()),
        ),
        (
            "an error of another shape",
            own(&value!({"error": {"why": WORDS}}).to_string()),
        ),
        ("an error event with text", named(WORDS)),
        (
            "an error event with a message",
            named(&value!({"message": WORDS}).to_string()),
        ),
        (
            "an error event of no known shape",
            named(&value!({"why": WORDS}).to_string()),
        ),
        (
            "an error event with a string",
            named(&value!(WORDS).to_string()),
        ),
        (
            "an error with the key",
            own(&value!({"error": {"message": format!("{WORDS} {KEY}")}}).to_string()),
        ),
    ] {
        let first = stream(&frame);
        cases.push(case(format!("at once {name}"), first, is_server_error));
        let later = stream_then(&(begun.clone() + &frame), Step::Stall);
        cases.push(case(format!("later {name}"), later, is_server_error));
    }
    for (name, frame) in [
        ("plain text", WORDS.to_string()),
        ("a page", format!("<html>{WORDS}</html>")),
        (
            "JSON with a trailing comma",
            format!("{{\"a\": 1,}} {WORDS}"),
        ),
        ("Python's words", format!("{{'a': None}} {WORDS}")),
        ("the key", format!("{KEY} {WORDS}")),
    ] {
        let first = stream(&own(&frame));
        cases.push(case(
            format!("at once an event with {name}"),
            first,
            is_malformed(WORDS),
        ));
        let later = stream_then(&(begun.clone() + &own(&frame)), Step::Stall);
        cases.push(case(
            format!("later an event with {name}"),
            later,
            is_malformed(WORDS),
        ));
    }
    for (name, wire) in [
        ("lines of text", format!("{WORDS}\nand again\n")),
        (
            "an event of no known shape",
            own(&value!({"detail": WORDS}).to_string()),
        ),
        (
            "the key in an event",
            own(&value!({"detail": format!("{KEY} {WORDS}")}).to_string()),
        ),
        (
            "several of no known shape",
            own(&value!({"x": WORDS}).to_string()).repeat(3),
        ),
    ] {
        cases.push(case(
            format!("a stream of {name}"),
            stream(&wire),
            is_malformed(WORDS),
        ));
    }
    let deep = own(&format!("{{\"a\": {}", "[".repeat(100_000)));
    cases.push(case("a deep event", stream(&deep), is_malformed("")));
    let deep = own(&format!(
        "{}1{}",
        "{\"a\":".repeat(50_000),
        "}".repeat(50_000)
    ));
    cases.push(case(
        "a deep and complete event",
        stream(&deep),
        is_malformed(""),
    ));
    let mut invalid = b"data: {\"text\": \"".to_vec();
    invalid.extend([0xff, 0xfe]);
    invalid.extend(b"\"}\n\n");
    let invalid = Step::Send(
        [
            format!("{:x}\r\n", invalid.len()).as_bytes(),
            &invalid,
            b"\r\n",
        ]
        .concat(),
    );
    let steps = stream_then(&begun, invalid.clone());
    cases.push(case(
        "text that is not UTF-8",
        steps,
        is_malformed("it sent text that is not UTF-8"),
    ));
    let steps = vec![events(), invalid, end()];
    cases.push(case(
        "at once text that is not UTF-8",
        steps,
        is_malformed(""),
    ));
    let comment = Step::Send(b"5\r\n: \xff\n\n\r\n".to_vec());
    let steps = vec![events(), comment, chunk(&format.valid_stream()), end()];
    cases.push(case("a comment that is not UTF-8", steps, text("Hello")));
    let whole = (format.whole)("Hello").to_string();
    cases.push(case("a whole answer", stream(&whole), text("Hello")));
    cases.push(case(
        "a whole answer in many lines",
        stream(&format!("\n\n{whole}\n")),
        text("Hello"),
    ));
}

/// Streams without end.
fn endless(format: &Format, cases: &mut Vec<Case>) {
    let begun = format.stream_start();
    let piece = |text: &str| Step::Repeat(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes());
    let filler = "x".repeat(10_000);
    for (name, start, then) in [
        ("a line", "data: {\"a\": \"", piece(&filler)),
        ("an event", "data: x\n", piece(&"data: y\n".repeat(1_000))),
        ("a comment", ": ", piece(&filler)),
        ("comments", "", piece(&": keep-alive\n\n".repeat(500))),
        ("empty lines", "", piece(&"\n".repeat(10_000))),
        (
            "names of events",
            "",
            piece(&"event: message\n".repeat(500)),
        ),
        ("ids", "", piece(&"id: 1\n\n".repeat(500))),
        ("empty events", "", piece(&"data:\n\n".repeat(500))),
        (
            "events of no known shape",
            "",
            piece(&"data: {}\n\n".repeat(500)),
        ),
        (
            "pings",
            "",
            piece(&"data: {\"type\": \"ping\"}\n\n".repeat(500)),
        ),
    ] {
        let steps = stream_then(start, then.clone());
        cases.push(case(
            format!("at once {name} without end"),
            steps,
            is_too_large,
        ));
        let steps = stream_then(&format!("{begun}{start}"), then);
        cases.push(case(
            format!("later {name} without end"),
            steps,
            is_too_large,
        ));
    }
    let event = Format::frame(
        (format.events)("Hello")
            .iter()
            .find(|event| event.to_string().contains("Hel"))
            .unwrap(),
    );
    cases.push(case(
        "content without end",
        stream_then(&begun, piece(&event.repeat(50))),
        is_too_large,
    ));
    let slow = |name: &str, start: &str, drip: &str| {
        let drip = format!("{:x}\r\n{drip}\r\n", drip.len()).into_bytes();
        let steps = stream_then(start, Step::Drip(drip, PAUSE));
        case(name, steps, is_timeout).waiting()
    };
    cases.extend([
        slow("slow bytes", "data: ", "x"),
        slow("slow comments", "", ": keep-alive\n\n"),
        slow("slow pings", &begun, "data: {\"type\": \"ping\"}\n\n"),
        slow("slow content", &begun, &event),
        case(
            "it stalls at once",
            stream_then("", Step::Stall),
            is_timeout,
        )
        .waiting(),
        case(
            "it stalls later",
            stream_then(&begun, Step::Stall),
            is_timeout,
        )
        .waiting(),
        case(
            "it stalls in an event",
            stream_then("data: {\"id\"", Step::Stall),
            is_timeout,
        )
        .waiting(),
    ]);
}
