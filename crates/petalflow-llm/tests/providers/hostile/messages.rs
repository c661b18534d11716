//! Anthropic's messages: blocks that start, grow and stop.

use petalflow_llm::ProviderModel;
use petalflow_llm::response::FinishReason;
use serde_json::{Value, json as value};

use super::{
    Asks, Case, Format, Outcome, calls, is_any, is_malformed, json, stream, text, wrong_arguments,
};

pub(super) const FORMAT: Format = Format {
    name: "messages",
    model: |server| {
        let model = ProviderModel::new("claude-sonnet-4-6").unwrap();
        model.with_base_url(server.url("/v1"))
    },
    whole: |text| body(&[value!({"type": "text", "text": text})], "end_turn"),
    events: |text| {
        let (first, second) = text.split_at(text.char_indices().nth(3).map_or(0, |(at, _)| at));
        vec![
            message_start(),
            start(&0.into(), &value!({"type": "text", "text": ""})),
            value!({"type": "ping"}),
            delta(&0.into(), &value!({"type": "text_delta", "text": first})),
            delta(&0.into(), &value!({"type": "text_delta", "text": second})),
            stop(&0.into()),
            message_delta("end_turn"),
            value!({"type": "message_stop"}),
        ]
    },
    error: |status, words| {
        let kind = match status {
            400 | 422 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        value!({"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"})
    },
    complete_after: 7,
    done: false,
};

fn body(content: &[Value], reason: &str) -> Value {
    value!({
        "id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": content, "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    })
}

fn message_start() -> Value {
    value!({"type": "message_start", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": [],
        "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1},
    }})
}

fn start(index: &Value, block: &Value) -> Value {
    value!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: &Value, delta: &Value) -> Value {
    value!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: &Value) -> Value {
    value!({"type": "content_block_stop", "index": index})
}

fn message_delta(reason: &str) -> Value {
    value!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}})
}

fn tool(index: u64, name: &str) -> Value {
    start(
        &index.into(),
        &value!({"type": "tool_use", "id": format!("t{index}"), "name": name, "input": {}}),
    )
}

fn input(index: u64, json: &str) -> Value {
    delta(
        &index.into(),
        &value!({"type": "input_json_delta", "partial_json": json}),
    )
}

/// A stream with these events of blocks.
fn stream_of(events: &[Value], reason: &str) -> String {
    let mut all = vec![message_start()];
    all.extend(events.iter().cloned());
    all.extend([message_delta(reason), value!({"type": "message_stop"})]);
    FORMAT.stream(&all)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    blocks(&mut cases);
    whole(&mut cases);
    odd_fields(&mut cases);
    cases
}

fn blocks(cases: &mut Vec<Case>) {
    let mut add = |name: &str, events: &[Value], expected: &'static [(&str, &str)]| {
        let steps = stream(&stream_of(events, "tool_use"));
        cases.push(Case::new(name, Asks::Stream, steps, calls(expected)));
    };
    add(
        "arguments in pieces",
        &[
            tool(0, "add"),
            input(0, ""),
            input(0, "{\"x\""),
            input(0, ": 1}"),
            stop(&0.into()),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "interleaved blocks",
        &[
            tool(0, "add"),
            tool(1, "sub"),
            input(1, "{\"y\":"),
            input(0, "{\"x\":"),
            input(1, "2}"),
            input(0, "1}"),
        ],
        &[("add", "{\"x\":1}"), ("sub", "{\"y\":2}")],
    );
    add(
        "blocks that never stop",
        &[tool(0, "add"), tool(1, "sub")],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "the same index twice",
        &[
            tool(0, "add"),
            input(0, "{\"x\":1}"),
            tool(0, "sub"),
            input(0, "{\"y\":2}"),
        ],
        &[("add", "{\"x\":1}"), ("sub", "{\"y\":2}")],
    );
    add(
        "a huge index",
        &[tool(u64::MAX, "add"), input(u64::MAX, "{}")],
        &[("add", "{}")],
    );
    add(
        "indexes in another order",
        &[tool(5, "add"), tool(2, "sub")],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "no index",
        &[
            value!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "t", "name": "add", "input": {}}}),
            value!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"x\":1}"}}),
            value!({"type": "content_block_stop"}),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "an index that is text",
        &[
            start(
                &"0".into(),
                &value!({"type": "tool_use", "id": "t", "name": "add", "input": {}}),
            ),
            delta(
                &"0".into(),
                &value!({"type": "input_json_delta", "partial_json": "{\"x\":1}"}),
            ),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "input at the start",
        &[start(
            &0.into(),
            &value!({"type": "tool_use", "id": "t", "name": "add", "input": {"x": 1}}),
        )],
        &[("add", "{\"x\":1}")],
    );
    add(
        "input that is null",
        &[start(
            &0.into(),
            &value!({"type": "tool_use", "id": "t", "name": "add", "input": null}),
        )],
        &[("add", "{}")],
    );
    add(
        "no id",
        &[start(
            &0.into(),
            &value!({"type": "tool_use", "name": "add", "input": {}}),
        )],
        &[("add", "{}")],
    );
    add(
        "stops without a start",
        &[
            stop(&3.into()),
            tool(0, "add"),
            stop(&0.into()),
            stop(&0.into()),
        ],
        &[("add", "{}")],
    );
    let strays = stream(&stream_of(
        &[input(3, "{\"x\""), tool(0, "add")],
        "tool_use",
    ));
    add(
        "a block of an unknown type",
        &[
            start(&0.into(), &value!({"type": "hologram", "data": "x"})),
            input(0, "{}"),
            tool(1, "add"),
        ],
        &[("add", "{}")],
    );
    add(
        "a tool of the provider",
        &[
            start(
                &0.into(),
                &value!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
            ),
            input(0, "{\"q\":1}"),
            stop(&0.into()),
            tool(1, "add"),
        ],
        &[("add", "{}")],
    );
    add(
        "a piece of an unknown type",
        &[
            tool(0, "add"),
            delta(&0.into(), &value!({"type": "new_delta", "x": 1})),
        ],
        &[("add", "{}")],
    );
    add(
        "a block that is null",
        &[start(&0.into(), &Value::Null), tool(1, "add")],
        &[("add", "{}")],
    );
    cases.push(Case::new(
        "pieces without a start",
        Asks::Stream,
        strays,
        wrong_arguments,
    ));
    for (name, arguments) in [
        ("cut", "{\"x\": "),
        ("of Python", "{'x': None}"),
        ("that are a list", "[1]"),
        ("that are text", "hello"),
        ("with garbage", "{} trailing"),
        ("with NaN", "{\"x\": NaN}"),
    ] {
        let steps = stream(&stream_of(
            &[tool(0, "add"), input(0, arguments)],
            "tool_use",
        ));
        cases.push(Case::new(
            format!("arguments {name}"),
            Asks::Stream,
            steps,
            wrong_arguments,
        ));
    }
    for (name, input) in [
        ("a list", value!([1])),
        ("text", value!("hello")),
        ("a number", value!(3)),
    ] {
        let block = value!({"type": "tool_use", "id": "t", "name": "add", "input": input});
        let whole = json(&body(std::slice::from_ref(&block), "tool_use").to_string());
        let name = format!("input that is {name}");
        cases.push(Case::new(&name, Asks::Whole, whole, wrong_arguments));
        let steps = stream(&stream_of(&[start(&0.into(), &block)], "tool_use"));
        cases.push(Case::new(name, Asks::Stream, steps, wrong_arguments));
    }
    let deep = "{\"x\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    let steps = stream(&stream_of(&[tool(0, "add"), input(0, &deep)], "tool_use"));
    cases.push(Case::new(
        "deep arguments",
        Asks::Stream,
        steps,
        wrong_arguments,
    ));
    let many: Vec<_> = (0..1_200).map(|index| tool(index, "add")).collect();
    let steps = stream(&stream_of(&many, "tool_use"));
    cases.push(Case::new(
        "many blocks",
        Asks::Stream,
        steps,
        |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.calls().count() == 1_200)
        },
    ));
}

fn whole(cases: &mut Vec<Case>) {
    let mut add = |name: &str, content: &[Value], expected: &'static [(&str, &str)]| {
        let steps = json(&body(content, "tool_use").to_string());
        cases.extend(Case::whole_and_streamed(name, &steps, calls(expected)));
    };
    let tool = |id: Value, input: Value| value!({"type": "tool_use", "id": id, "name": "add", "input": input});
    add(
        "whole calls without ids",
        &[
            tool(Value::Null, value!({})),
            tool(Value::Null, value!({"x": 1})),
        ],
        &[("add", "{}"), ("add", "{\"x\":1}")],
    );
    add(
        "whole calls with one id",
        &[tool("a".into(), value!({})), tool("a".into(), value!({}))],
        &[("add", "{}"), ("add", "{}")],
    );
    add(
        "blocks that are not objects",
        &[
            value!(null),
            value!(3),
            value!("x"),
            tool("a".into(), value!({})),
        ],
        &[("add", "{}")],
    );
    add(
        "unknown blocks",
        &[
            value!({"type": "hologram"}),
            value!({}),
            tool("a".into(), value!({})),
        ],
        &[("add", "{}")],
    );
}

fn odd_fields(cases: &mut Vec<Case>) {
    let good = [value!({"type": "text", "text": "Hello"})];
    for (name, change) in [
        ("no id", value!({"id": null})),
        ("no usage", value!({"usage": null})),
        (
            "a negative usage",
            value!({"usage": {"input_tokens": -5, "output_tokens": -1}}),
        ),
        ("a usage of text", value!({"usage": {"input_tokens": "5"}})),
        (
            "a huge usage",
            value!({"usage": {"input_tokens": u64::MAX, "output_tokens": u64::MAX, "cache_read_input_tokens": 1e300}}),
        ),
        ("a usage that is a list", value!({"usage": [1]})),
        ("no model", value!({"model": 7})),
        ("no reason", value!({"stop_reason": null})),
        (
            "unknown fields",
            value!({"container": {"x": 1}, "context_management": null}),
        ),
    ] {
        let changed = body(&good, "end_turn");
        cases.extend(FORMAT.with_fields(name, changed, &change, |event| event.get_mut("message")));
    }
    for (reason, expected) in [
        ("refusal", FinishReason::Refusal),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("pause_turn", FinishReason::Paused),
        ("brand_new", FinishReason::Other("brand_new".into())),
    ] {
        let expected = move |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.finish.as_ref() == Some(&expected))
        };
        let name = format!("the reason `{reason}`");
        let steps = json(&body(&good, reason).to_string());
        cases.push(Case::new(&*name, Asks::Whole, steps, expected.clone()));
        let steps = stream(&stream_of(&[start(&0.into(), &good[0])], reason));
        cases.push(Case::new(name, Asks::Stream, steps, expected));
    }
    for (name, wrong) in [
        (
            "content that is null",
            value!({"type": "message", "content": null}),
        ),
        (
            "content that is text",
            value!({"type": "message", "content": "x"}),
        ),
        ("no content", value!({"type": "message", "content": []})),
    ] {
        cases.extend(Case::whole_and_streamed(
            name,
            &json(&wrong.to_string()),
            is_malformed("there is no answer"),
        ));
    }
    let no_start = (FORMAT.events)("Hello").split_off(1);
    let steps = stream(&FORMAT.stream(&no_start));
    cases.push(Case::new(
        "no start of the message",
        Asks::Stream,
        steps,
        text("Hello"),
    ));
    let no_reason: Vec<_> = (FORMAT.events)("Hello")
        .into_iter()
        .filter(|event| event["type"] != "message_delta")
        .collect();
    let steps = stream(&FORMAT.stream(&no_reason));
    cases.push(Case::new(
        "no reason but an end",
        Asks::Stream,
        steps,
        text("Hello"),
    ));
    for (name, event) in [
        ("a type that is a number", value!({"type": 3})),
        (
            "a start without a message",
            value!({"type": "message_start"}),
        ),
        ("an end without a reason", value!({"type": "message_delta"})),
        (
            "a piece without a delta",
            value!({"type": "content_block_delta", "index": 0}),
        ),
        ("a delta that is a list", delta(&0.into(), &value!([1]))),
    ] {
        let mut events = (FORMAT.events)("Hello");
        events.insert(2, event);
        let steps = stream(&FORMAT.stream(&events));
        cases.push(Case::new(name, Asks::Stream, steps, text("Hello")));
    }
    let thought = [
        start(
            &0.into(),
            &value!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(
            &0.into(),
            &value!({"type": "thinking_delta", "thinking": "Hm"}),
        ),
        delta(
            &0.into(),
            &value!({"type": "signature_delta", "signature": 7}),
        ),
        start(&1.into(), &good[0]),
    ];
    cases.push(Case::new(
        "a signature that is a number",
        Asks::Stream,
        stream(&stream_of(&thought, "end_turn")),
        text("Hello"),
    ));
    let redacted = [
        start(&0.into(), &value!({"type": "redacted_thinking"})),
        start(&1.into(), &good[0]),
    ];
    cases.push(Case::new(
        "redacted thought without data",
        Asks::Stream,
        stream(&stream_of(&redacted, "end_turn")),
        text("Hello"),
    ));
    cases.push(Case::new(
        "a message without blocks",
        Asks::Stream,
        stream(&stream_of(&[], "end_turn")),
        is_any,
    ));
}
