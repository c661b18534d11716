//! OpenAI's chat completions, as compatible servers send them.

use petalflow_llm::ProviderModel;
use petalflow_llm::response::FinishReason;
use serde_json::{Value, json as value};

use super::{
    Asks, Case, Format, Outcome, calls, is_any, is_connection_error, is_malformed, json, stream,
    text, wrong_arguments,
};

pub(super) const FORMAT: Format = Format {
    name: "chat",
    model: |server| ProviderModel::openai_compatible(server.url("/v1"), "tiny"),
    whole: |text| body(&value!({"role": "assistant", "content": text}), "stop"),
    events: |text| {
        let (first, second) = text.split_at(text.char_indices().nth(3).map_or(0, |(at, _)| at));
        vec![
            delta(&value!({"role": "assistant", "content": ""})),
            delta(&value!({"content": first})),
            delta(&value!({"content": second})),
            value!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            value!({"id": "c", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
        ]
    },
    error: |status, words| {
        let kind = if status == 429 {
            "rate_limit_exceeded"
        } else {
            "server_error"
        };
        value!({"error": {"message": words, "type": kind, "param": null, "code": null}})
    },
    complete_after: 4,
    done: true,
};

fn body(message: &Value, reason: &str) -> Value {
    value!({
        "id": "c", "object": "chat.completion", "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    })
}

fn delta(delta: &Value) -> Value {
    value!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
}

/// Pieces of calls, and the reason.
fn pieces(pieces: &[Value]) -> Vec<Value> {
    let deltas = pieces
        .iter()
        .map(|piece| delta(&value!({"tool_calls": [piece]})));
    let last = value!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
    deltas.chain([last]).collect()
}

fn function(name: &Value, arguments: &Value) -> Value {
    value!({"name": name, "arguments": arguments})
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    streamed_calls(&mut cases);
    whole_calls(&mut cases);
    odd_fields(&mut cases);
    cases
}

fn streamed_calls(cases: &mut Vec<Case>) {
    let mut add = |name: &str, events: &[Value], expected: &'static [(&str, &str)]| {
        let steps = stream(&FORMAT.stream(&pieces(events)));
        cases.push(Case::new(name, Asks::Stream, steps, calls(expected)));
    };
    let start = |index: Value, id: Value, name: &str, arguments: &str| value!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let more = |index: Value, arguments: &str| value!({"index": index, "function": {"arguments": arguments}});
    add(
        "a call in pieces",
        &[
            start(0.into(), "a".into(), "add", ""),
            more(0.into(), "{\"x\""),
            more(0.into(), ": 1}"),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "interleaved calls",
        &[
            start(0.into(), "a".into(), "add", "{\"x\":"),
            start(1.into(), "b".into(), "sub", "{\"y\":"),
            more(0.into(), "1}"),
            more(1.into(), "2}"),
        ],
        &[("add", "{\"x\":1}"), ("sub", "{\"y\":2}")],
    );
    add(
        "calls in another order",
        &[
            start(7.into(), "b".into(), "sub", "{}"),
            start(2.into(), "a".into(), "add", "{}"),
        ],
        &[("sub", "{}"), ("add", "{}")],
    );
    add(
        "the same index for all",
        &[
            start(0.into(), "a".into(), "add", "{}"),
            start(0.into(), "b".into(), "sub", "{\"y\": 2}"),
        ],
        &[("add", "{}"), ("sub", "{\"y\":2}")],
    );
    add(
        "no index",
        &[
            start(Value::Null, "a".into(), "add", "{\"x\""),
            value!({"function": {"arguments": ":1}"}}),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "an index that is text",
        &[
            start("0".into(), "a".into(), "add", "{\"x\""),
            more("0".into(), ":1}"),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "a huge index",
        &[
            start(u64::MAX.into(), "a".into(), "add", "{\"x\""),
            more(u64::MAX.into(), ":1}"),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "a negative index",
        &[
            start((-1).into(), "a".into(), "add", "{\"x\""),
            more((-1).into(), ":1}"),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "no ids",
        &[
            start(0.into(), Value::Null, "add", "{}"),
            start(1.into(), Value::Null, "sub", "{}"),
        ],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "a late id",
        &[
            start(0.into(), "".into(), "add", "{\"x\""),
            start(0.into(), "a".into(), "", ":1}"),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "the same id twice",
        &[
            start(0.into(), "a".into(), "add", "{}"),
            start(1.into(), "a".into(), "sub", "{}"),
        ],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "an id with each piece",
        &[
            start(0.into(), "a".into(), "add", "{\"x\""),
            start(0.into(), "a".into(), "add", ":1}"),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "a name in pieces",
        &[
            start(0.into(), "a".into(), "se", ""),
            start(0.into(), Value::Null, "arch", ""),
            more(0.into(), "{}"),
        ],
        &[("search", "{}")],
    );
    add(
        "arguments that are an object",
        &[value!({"index": 0, "id": "a", "function": function(&"add".into(), &value!({"x": 1}))})],
        &[("add", "{\"x\":1}")],
    );
    add(
        "no arguments",
        &[value!({"index": 0, "id": "a", "function": {"name": "now"}})],
        &[("now", "{}")],
    );
    add(
        "arguments of white space",
        &[start(0.into(), "a".into(), "now", " \n ")],
        &[("now", "{}")],
    );
    add(
        "pieces without a function",
        &[
            start(0.into(), "a".into(), "now", "{}"),
            value!({"index": 0}),
            value!(null),
            value!(3),
        ],
        &[("now", "{}")],
    );
    add(
        "a function that is text",
        &[value!({"index": 0, "function": "add"})],
        &[],
    );
    for (name, arguments) in [
        ("cut", "{\"x\": "),
        ("of Python", "{'x': None}"),
        ("that are a list", "[1]"),
        ("that are text", "hello"),
        ("with garbage", "{} trailing"),
        ("with NaN", "{\"x\": NaN}"),
    ] {
        let events = pieces(&[start(0.into(), "a".into(), "add", arguments)]);
        let steps = stream(&FORMAT.stream(&events));
        cases.push(Case::new(
            format!("arguments {name}"),
            Asks::Stream,
            steps,
            wrong_arguments,
        ));
    }
    let deep = "{\"x\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    let events = pieces(&[start(0.into(), "a".into(), "add", &deep)]);
    let steps = stream(&FORMAT.stream(&events));
    cases.push(Case::new(
        "deep arguments",
        Asks::Stream,
        steps,
        wrong_arguments,
    ));
    // Quadratic work would take minutes.
    let many: Vec<_> = (0..1_200)
        .map(|n| start(n.into(), n.to_string().into(), "add", ""))
        .collect();
    let steps = stream(&FORMAT.stream(&pieces(&many)));
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
    let long: Vec<_> = (0..1_200)
        .map(|n| start(0.into(), "a".into(), &format!("{n:05}"), ""))
        .collect();
    let steps = stream(&FORMAT.stream(&pieces(&long)));
    cases.push(Case::new(
        "a name in many pieces",
        Asks::Stream,
        steps,
        |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.calls().all(|call| call.name.len() < 600))
        },
    ));
}

fn whole_calls(cases: &mut Vec<Case>) {
    let mut add = |name: &str, message: &Value, expected: &'static [(&str, &str)]| {
        let steps = json(&body(message, "tool_calls").to_string());
        cases.extend(Case::whole_and_streamed(name, &steps, calls(expected)));
    };
    let call = |id: Value, arguments: Value| value!({"id": id, "function": {"name": "add", "arguments": arguments}});
    add(
        "whole calls without ids",
        &value!({"tool_calls": [call(Value::Null, "{}".into()), call("".into(), "{}".into())]}),
        &[("add", "{}"), ("add", "{}")],
    );
    add(
        "whole calls with one id",
        &value!({"tool_calls": [call("a".into(), "{}".into()), call("a".into(), "{\"x\": 1}".into())]}),
        &[("add", "{}"), ("add", "{\"x\":1}")],
    );
    add(
        "the older format",
        &value!({"function_call": {"name": "add", "arguments": "{}"}}),
        &[("add", "{}")],
    );
    add(
        "calls that are null",
        &value!({"content": "x", "tool_calls": null, "function_call": null}),
        &[],
    );
    add(
        "calls that are an object",
        &value!({"content": "x", "tool_calls": {}}),
        &[],
    );
}

fn odd_fields(cases: &mut Vec<Case>) {
    let good = value!({"role": "assistant", "content": "Hello"});
    for (name, change) in [
        ("no id", value!({"id": null})),
        ("an id that is a number", value!({"id": 7})),
        ("no usage", value!({"usage": null})),
        (
            "a negative usage",
            value!({"usage": {"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6}}),
        ),
        (
            "a usage of text",
            value!({"usage": {"prompt_tokens": "5", "completion_tokens": "x"}}),
        ),
        (
            "a huge usage",
            value!({"usage": {"prompt_tokens": u64::MAX, "completion_tokens": 1e300}}),
        ),
        ("a usage that is a list", value!({"usage": [1]})),
        ("no model", value!({"model": null})),
        (
            "unknown fields",
            value!({"x": {"y": [1, 2]}, "service_tier": null}),
        ),
    ] {
        let changed = body(&good, "stop");
        cases.extend(FORMAT.with_fields(name, changed, &change, |event| Some(event)));
    }
    for (reason, expected) in [
        ("content_filter", FinishReason::ContentFilter),
        ("length", FinishReason::Length),
        ("model_length", FinishReason::Length),
        ("eos_token", FinishReason::Stop),
    ] {
        let steps = json(&body(&good, reason).to_string());
        let name = format!("the reason `{reason}`");
        let case = Case::new(name, Asks::Whole, steps, move |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.finish.as_ref() == Some(&expected))
        });
        cases.push(case);
    }
    let refusal = body(&value!({"content": null, "refusal": "No."}), "stop");
    cases.extend(Case::whole_and_streamed(
        "a refusal",
        &json(&refusal.to_string()),
        text("No."),
    ));
    let parts = body(
        &value!({"content": [{"type": "text", "text": "Hel"}, {"type": "new"}, {"text": "lo"}, 3]}),
        "stop",
    );
    cases.extend(Case::whole_and_streamed(
        "typed content",
        &json(&parts.to_string()),
        text("Hello"),
    ));
    for (name, wrong) in [
        ("choices that are null", value!({"choices": null})),
        ("choices that are an object", value!({"choices": {}})),
        ("no choices", value!({"choices": []})),
        (
            "a message that is a list",
            value!({"choices": [{"message": []}]}),
        ),
        (
            "a message that is null",
            value!({"choices": [{"message": null}]}),
        ),
        (
            "another choice alone",
            value!({"choices": [{"index": 1, "message": {"content": "x"}}]}),
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
    let empty = stream(&FORMAT.stream(&[delta(&value!({})), delta(&Value::Null)]));
    cases.push(Case::new(
        "events without content",
        Asks::Stream,
        empty,
        is_malformed("there is no answer"),
    ));
    let two = value!({"choices": [{"index": 1, "delta": {"content": "X"}}, {"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]});
    let steps = stream(&FORMAT.stream(&[two]));
    cases.push(Case::new("two choices", Asks::Stream, steps, text("Hello")));
    let steps = stream(&FORMAT.stream(&[value!({"choices": [1, null, [[]]]})]));
    cases.push(Case::new(
        "choices that are not objects",
        Asks::Stream,
        steps,
        is_any,
    ));
}
