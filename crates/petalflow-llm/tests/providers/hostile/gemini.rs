//! Gemini's `generateContent`: chunks of candidates.

use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmErrorKind, ProviderModel};
use serde_json::{Value, json as value};

use super::{
    Asks, Case, Format, Outcome, calls, is_any, is_connection_error, is_malformed, json, stream,
    text, wrong_arguments,
};

pub(super) const FORMAT: Format = Format {
    name: "gemini",
    model: |server| {
        let model = ProviderModel::new("gemini-2.5-flash").unwrap();
        model.with_base_url(server.url("/v1beta"))
    },
    whole: |text| body(&[value!({"text": text})], "STOP"),
    events: |text| {
        let (first, second) = text.split_at(text.char_indices().nth(3).map_or(0, |(at, _)| at));
        vec![
            chunk(&[value!({"text": ""})]),
            chunk(&[value!({"text": first})]),
            body(&[value!({"text": second})], "STOP"),
        ]
    },
    error: |status, words| {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        value!({"error": {"code": status, "message": words, "status": name}})
    },
    complete_after: 3,
    done: false,
};

fn body(parts: &[Value], reason: &str) -> Value {
    value!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "modelVersion": "gemini-2.5-flash", "responseId": "g",
    })
}

fn chunk(parts: &[Value]) -> Value {
    value!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "modelVersion": "gemini-2.5-flash"})
}

fn call(name: &Value, arguments: &Value) -> Value {
    value!({"functionCall": {"name": name, "args": arguments}})
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    parts(&mut cases);
    partial_arguments(&mut cases);
    reasons(&mut cases);
    odd_fields(&mut cases);
    cases
}

/// The same parts in one body, and in one chunk each.
fn add_whole_and_streamed(
    cases: &mut Vec<Case>,
    name: &str,
    parts: &[Value],
    expected: impl Fn(&Outcome) -> bool + Copy + 'static,
) {
    let steps = json(&body(parts, "STOP").to_string());
    cases.extend(Case::whole_and_streamed(name, &steps, expected));
    let mut events: Vec<_> = parts
        .iter()
        .map(|part| chunk(std::slice::from_ref(part)))
        .collect();
    events.push(body(&[], "STOP"));
    cases.push(Case::new(
        format!("{name}, in chunks"),
        Asks::Stream,
        stream(&FORMAT.stream(&events)),
        expected,
    ));
}

fn parts(cases: &mut Vec<Case>) {
    let (add, none) = (Value::from("add"), value!({}));
    let mut of = |name: &str, parts: &[Value], expected: &'static [(&str, &str)]| {
        add_whole_and_streamed(cases, name, parts, calls(expected));
    };
    of(
        "calls without ids",
        &[call(&add, &none), call(&add, &value!({"x": 1}))],
        &[("add", "{}"), ("add", "{\"x\":1}")],
    );
    of(
        "calls with one id",
        &[
            value!({"functionCall": {"id": "a", "name": "add", "args": {}}}),
            value!({"functionCall": {"id": "a", "name": "sub", "args": {}}}),
        ],
        &[("add", "{}"), ("sub", "{}")],
    );
    of(
        "arguments that are null",
        &[call(&add, &Value::Null)],
        &[("add", "{}")],
    );
    of(
        "no arguments",
        &[value!({"functionCall": {"name": "add"}})],
        &[("add", "{}")],
    );
    of(
        "an id that is a number",
        &[value!({"functionCall": {"id": 7, "name": "add"}})],
        &[("add", "{}")],
    );
    of(
        "a signature that is a number",
        &[value!({"functionCall": {"name": "add"}, "thoughtSignature": 7})],
        &[("add", "{}")],
    );
    of(
        "parts of an unknown type",
        &[
            value!({"hologram": {"x": 1}}),
            value!({}),
            call(&add, &none),
        ],
        &[("add", "{}")],
    );
    of(
        "parts that are not objects",
        &[
            value!(null),
            value!(3),
            value!("x"),
            value!([]),
            call(&add, &none),
        ],
        &[("add", "{}")],
    );
    of(
        "media without data",
        &[
            value!({"inlineData": {}}),
            value!({"fileData": null}),
            call(&add, &none),
        ],
        &[("add", "{}")],
    );
    of(
        "code without words",
        &[
            value!({"executableCode": null}),
            value!({"codeExecutionResult": 3}),
            call(&add, &none),
        ],
        &[("add", "{}")],
    );
    for (name, arguments) in [
        ("a list", value!([1])),
        ("text", value!("hello")),
        ("a number", value!(3)),
        ("true", value!(true)),
    ] {
        add_whole_and_streamed(
            cases,
            &format!("arguments that are {name}"),
            &[call(&add, &arguments)],
            wrong_arguments,
        );
    }
    add_whole_and_streamed(
        cases,
        "thoughts and text",
        &[
            value!({"text": "Hm", "thought": true}),
            value!({"text": "Hello"}),
        ],
        text("Hello"),
    );
    add_whole_and_streamed(
        cases,
        "a thought that is text",
        &[value!({"text": "Hello", "thought": "no"})],
        text("Hello"),
    );
    add_whole_and_streamed(
        cases,
        "text that is a number",
        &[value!({"text": 3}), value!({"text": "Hello"})],
        text("Hello"),
    );
    add_whole_and_streamed(
        cases,
        "a call that is text",
        &[value!({"functionCall": "add"}), value!({"text": "Hello"})],
        is_any,
    );
    let many: Vec<_> = (0..1_200).map(|n| call(&add, &value!({"n": n}))).collect();
    let steps = stream(&FORMAT.stream(&[body(&many, "STOP")]));
    cases.push(Case::new(
        "many calls",
        Asks::Stream,
        steps,
        |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.calls().count() == 1_200)
        },
    ));
}

fn partial_arguments(cases: &mut Vec<Case>) {
    let begun = value!({"functionCall": {"name": "add", "willContinue": true}});
    let piece = |path: &str, value: Value| value!({"functionCall": {"partialArgs": [{"jsonPath": path, "stringValue": value}], "willContinue": true}});
    let end = value!({"functionCall": {}});
    let mut of = |name: &str, parts: &[Value], expected: &'static [(&str, &str)]| {
        let mut events = vec![chunk(std::slice::from_ref(&begun))];
        events.extend(parts.iter().map(|part| chunk(std::slice::from_ref(part))));
        events.push(body(std::slice::from_ref(&end), "STOP"));
        cases.push(Case::new(
            name,
            Asks::Stream,
            stream(&FORMAT.stream(&events)),
            calls(expected),
        ));
    };
    of(
        "arguments by path",
        &[piece("$.x", "a".into()), piece("$.x", "b".into())],
        &[("add", "{\"x\":\"ab\"}")],
    );
    of(
        "arguments that never end",
        &[piece("$.x", "a".into())],
        &[("add", "{\"x\":\"a\"}")],
    );
    of(
        "a path with a huge index",
        &[
            piece("$.x[99999999999]", "a".into()),
            piece("$.y", "b".into()),
        ],
        &[("add", "{\"x\":[],\"y\":\"b\"}")],
    );
    of(
        "a path that is a number",
        &[
            value!({"functionCall": {"partialArgs": [{"jsonPath": 3}], "willContinue": true}}),
            piece("$.y", "b".into()),
        ],
        &[("add", "{\"y\":\"b\"}")],
    );
    of(
        "arguments that are not a list",
        &[
            value!({"functionCall": {"partialArgs": {}, "willContinue": true}}),
            piece("$.y", "b".into()),
        ],
        &[("add", "{\"y\":\"b\"}")],
    );
    let deep = piece(&".a".repeat(100_000), "x".into());
    of(
        "a deep path",
        &[deep, piece("$.y", "b".into())],
        &[("add", "{\"y\":\"b\"}")],
    );
    // A list with as many items as each index says would take a gigabyte.
    let wide: Vec<_> = (0..1_500)
        .map(|n| piece(&format!("$.x{n}[9999][9999]"), "a".into()))
        .collect();
    let events: Vec<_> = [&[begun], &*wide, &[end]]
        .concat()
        .iter()
        .map(|part| chunk(std::slice::from_ref(part)))
        .chain([body(&[], "STOP")])
        .collect();
    cases.push(Case::new(
        "wide lists",
        Asks::Stream,
        stream(&FORMAT.stream(&events)),
        is_any,
    ));
}

fn reasons(cases: &mut Vec<Case>) {
    for (reason, expected) in [
        ("SAFETY", FinishReason::ContentFilter),
        ("RECITATION", FinishReason::ContentFilter),
        ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("MAX_TOKENS", FinishReason::Length),
        (
            "MALFORMED_FUNCTION_CALL",
            FinishReason::Other("MALFORMED_FUNCTION_CALL".into()),
        ),
        ("BRAND_NEW", FinishReason::Other("BRAND_NEW".into())),
    ] {
        let expected = move |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.finish.as_ref() == Some(&expected))
        };
        let name = format!("the reason `{reason}`");
        let body = body(&[value!({"text": "Hel"})], reason);
        cases.push(Case::new(
            &*name,
            Asks::Whole,
            json(&body.to_string()),
            expected.clone(),
        ));
        cases.push(Case::new(
            name,
            Asks::Stream,
            stream(&FORMAT.stream(&[body])),
            expected,
        ));
    }
    let blocked = value!({"promptFeedback": {"blockReason": "OTHER"}});
    let filtered = |outcome: &Outcome| {
        outcome.as_ref().is_err_and(|error| {
            matches!(&error.kind, LlmErrorKind::Blocked { response }
                if response.finish_message.as_deref() == Some("OTHER"))
        })
    };
    cases.extend(Case::whole_and_streamed(
        "a blocked question",
        &json(&blocked.to_string()),
        filtered,
    ));
    cases.push(Case::new(
        "a blocked question, as an event",
        Asks::Stream,
        stream(&FORMAT.stream(&[blocked])),
        filtered,
    ));
    let alone = value!({"candidates": [{"finishReason": "SAFETY"}]});
    cases.extend(Case::whole_and_streamed(
        "a reason without content",
        &json(&alone.to_string()),
        |outcome: &Outcome| outcome.is_ok(),
    ));
}

fn odd_fields(cases: &mut Vec<Case>) {
    for (name, change) in [
        ("no id", value!({"responseId": null})),
        ("no usage", value!({"usageMetadata": null})),
        (
            "a negative usage",
            value!({"usageMetadata": {"promptTokenCount": -5, "candidatesTokenCount": -1}}),
        ),
        (
            "a usage of text",
            value!({"usageMetadata": {"promptTokenCount": "5"}}),
        ),
        (
            "a huge usage",
            value!({"usageMetadata": {"promptTokenCount": u64::MAX, "candidatesTokenCount": u64::MAX, "thoughtsTokenCount": 1e300}}),
        ),
        ("a usage that is a list", value!({"usageMetadata": [1]})),
        ("no model", value!({"modelVersion": 7})),
        (
            "feedback without a reason",
            value!({"promptFeedback": {"safetyRatings": []}}),
        ),
        ("feedback that is text", value!({"promptFeedback": "fine"})),
        (
            "unknown fields",
            value!({"hologram": {"x": 1}, "createTime": null}),
        ),
    ] {
        let changed = body(&[value!({"text": "Hello"})], "STOP");
        cases.extend(FORMAT.with_fields(name, changed, &change, |event| Some(event)));
    }
    for (name, wrong) in [
        ("candidates that are null", value!({"candidates": null})),
        ("candidates that are an object", value!({"candidates": {}})),
        ("no candidates", value!({"candidates": []})),
        (
            "content that is null",
            value!({"candidates": [{"content": null}]}),
        ),
        (
            "parts that are null",
            value!({"candidates": [{"content": {"parts": null}}]}),
        ),
        (
            "parts that are text",
            value!({"candidates": [{"content": {"parts": "x"}}]}),
        ),
    ] {
        cases.extend(Case::whole_and_streamed(
            name,
            &json(&wrong.to_string()),
            is_malformed("there is no answer"),
        ));
        let steps = stream(&Format::frame(&wrong));
        cases.push(Case::new(
            format!("an event with {name}"),
            Asks::Stream,
            steps,
            is_connection_error(""),
        ));
    }
    let list = value!([body(&[value!({"text": "Hello"})], "STOP")]);
    cases.extend(Case::whole_and_streamed(
        "a list of chunks",
        &json(&list.to_string()),
        is_any,
    ));
    let sources = value!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP", "groundingMetadata": 3, "citationMetadata": null}]});
    cases.extend(Case::whole_and_streamed(
        "sources of another shape",
        &json(&sources.to_string()),
        text("Hello"),
    ));
}
