//! OpenAI's responses: items that arrive in pieces, and once more complete.

use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmErrorKind, ProviderModel};
use serde_json::{Value, json as value};

use super::{
    Asks, Case, Format, Outcome, WORDS, calls, is_any, is_malformed, json, stream, text,
    wrong_arguments,
};

pub(super) const FORMAT: Format = Format {
    name: "responses",
    model: |server| {
        let model = ProviderModel::new("gpt-5-mini").unwrap();
        model.with_base_url(server.url("/v1"))
    },
    whole: |text| body(&[message(text)], "completed"),
    events: |text| {
        let (first, second) = text.split_at(text.char_indices().nth(3).map_or(0, |(at, _)| at));
        let piece = |text: &str| value!({"type": "response.output_text.delta", "output_index": 0, "delta": text});
        vec![
            value!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
            value!({"type": "response.in_progress", "response": {"id": "r", "status": "in_progress"}}),
            value!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}}),
            value!({"type": "response.content_part.added", "output_index": 0, "part": {"type": "output_text", "text": ""}}),
            piece(first),
            piece(second),
            value!({"type": "response.output_text.done", "output_index": 0, "text": text}),
            value!({"type": "response.output_item.done", "output_index": 0, "item": message(text)}),
            value!({"type": "response.completed", "response": body(&[message(text)], "completed")}),
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
    complete_after: 9,
    done: false,
};

fn message(text: &str) -> Value {
    value!({"type": "message", "id": "msg", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn body(output: &[Value], status: &str) -> Value {
    value!({
        "id": "r", "object": "response", "status": status, "error": null, "incomplete_details": null,
        "model": "gpt-5-mini", "output": output, "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    })
}

fn item_added(index: &Value, item: &Value) -> Value {
    value!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn item_done(index: &Value, item: &Value) -> Value {
    value!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn piece(index: &Value, text: &str) -> Value {
    value!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": text})
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    value!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments})
}

/// A stream with these events. The last one has no output, as with some servers.
fn stream_of(events: &[Value]) -> String {
    let last = value!({"type": "response.completed", "response": body(&[], "completed")});
    FORMAT.stream(&[events, &[last]].concat())
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    items(&mut cases);
    last_event(&mut cases);
    whole(&mut cases);
    statuses(&mut cases);
    odd_fields(&mut cases);
    cases
}

fn items(cases: &mut Vec<Case>) {
    let mut add = |name: &str, events: &[Value], expected: &'static [(&str, &str)]| {
        cases.push(Case::new(
            name,
            Asks::Stream,
            stream(&stream_of(events)),
            calls(expected),
        ));
    };
    let (zero, one) = (Value::from(0), Value::from(1));
    let empty = Value::from("");
    add(
        "arguments in pieces",
        &[
            item_added(&zero, &call("a", "add", &empty)),
            piece(&zero, "{\"x\""),
            piece(&zero, ":1}"),
            item_done(&zero, &call("a", "add", &"{\"x\":1}".into())),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "interleaved items",
        &[
            item_added(&zero, &call("a", "add", &empty)),
            item_added(&one, &call("b", "sub", &empty)),
            piece(&one, "{\"y\":"),
            piece(&zero, "{\"x\":"),
            piece(&one, "2}"),
            piece(&zero, "1}"),
        ],
        &[("add", "{\"x\":1}"), ("sub", "{\"y\":2}")],
    );
    add(
        "a complete item alone",
        &[item_done(&zero, &call("a", "add", &"{\"x\":1}".into()))],
        &[("add", "{\"x\":1}")],
    );
    add(
        "an item that is never complete",
        &[
            item_added(&zero, &call("a", "add", &empty)),
            piece(&zero, "{}"),
        ],
        &[("add", "{}")],
    );
    add(
        "a complete item with more",
        &[
            item_added(&zero, &call("a", "add", &empty)),
            piece(&zero, "{\"x\""),
            item_done(&zero, &call("a", "add", &"{\"x\":1}".into())),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "a complete item with less",
        &[
            item_added(&zero, &call("a", "add", &empty)),
            piece(&zero, "{\"x\":1}"),
            item_done(&zero, &call("a", "add", &empty)),
        ],
        &[("add", "{\"x\":1}")],
    );
    add(
        "an item twice",
        &[
            item_done(&zero, &call("a", "add", &"{}".into())),
            item_done(&zero, &call("a", "add", &"{}".into())),
        ],
        &[("add", "{}")],
    );
    add(
        "no index",
        &[
            item_added(&Value::Null, &call("a", "add", &empty)),
            piece(&Value::Null, "{}"),
        ],
        &[("add", "{}")],
    );
    add(
        "a huge index",
        &[
            item_added(&u64::MAX.into(), &call("a", "add", &empty)),
            piece(&u64::MAX.into(), "{}"),
        ],
        &[("add", "{}")],
    );
    add(
        "an index that is text",
        &[
            item_added(&"0".into(), &call("a", "add", &empty)),
            piece(&"0".into(), "{}"),
        ],
        &[("add", "{}")],
    );
    add(
        "arguments that are an object",
        &[item_done(&zero, &call("a", "add", &value!({"x": 1})))],
        &[("add", "{\"x\":1}")],
    );
    add(
        "arguments that are null",
        &[item_done(&zero, &call("a", "add", &Value::Null))],
        &[("add", "{}")],
    );
    add(
        "the same id twice",
        &[
            item_done(&zero, &call("a", "add", &"{}".into())),
            item_done(&one, &call("a", "sub", &"{}".into())),
        ],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "an item of an unknown type",
        &[
            item_added(&zero, &value!({"type": "hologram"})),
            item_done(&zero, &value!({"type": "hologram"})),
            item_done(&one, &call("a", "add", &"{}".into())),
        ],
        &[("add", "{}")],
    );
    add(
        "an item that is null",
        &[
            item_added(&zero, &Value::Null),
            item_done(&zero, &Value::Null),
            item_done(&one, &call("a", "add", &"{}".into())),
        ],
        &[("add", "{}")],
    );
    add(
        "a tool of the provider",
        &[
            item_done(
                &zero,
                &value!({"type": "web_search_call", "id": "w", "status": "completed"}),
            ),
            item_done(&one, &call("a", "add", &"{}".into())),
        ],
        &[("add", "{}")],
    );
    for (name, arguments) in [
        ("cut", "{\"x\": "),
        ("of Python", "{'x': None}"),
        ("that are a list", "[1]"),
        ("that are text", "hello"),
        ("with garbage", "{} trailing"),
        ("with NaN", "{\"x\": NaN}"),
    ] {
        let steps = stream(&stream_of(&[item_done(
            &zero,
            &call("a", "add", &arguments.into()),
        )]));
        cases.push(Case::new(
            format!("arguments {name}"),
            Asks::Stream,
            steps,
            wrong_arguments,
        ));
    }
    // The complete item has fewer bytes than its pieces, and another character at their end.
    let events = [
        item_added(&zero, &call("a", "add", &empty)),
        piece(&zero, "{\"x\":\"a"),
        item_done(&zero, &call("a", "add", &"{\"x\":\"日\"}".into())),
    ];
    cases.push(Case::new(
        "pieces that end in a character",
        Asks::Stream,
        stream(&stream_of(&events)),
        is_any,
    ));
    let deep = "{\"x\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    let steps = stream(&stream_of(&[item_done(
        &zero,
        &call("a", "add", &deep.into()),
    )]));
    cases.push(Case::new(
        "deep arguments",
        Asks::Stream,
        steps,
        wrong_arguments,
    ));
    let many: Vec<_> = (0..1_200)
        .map(|n| item_added(&n.into(), &call("a", "add", &empty)))
        .collect();
    cases.push(Case::new(
        "many items",
        Asks::Stream,
        stream(&stream_of(&many)),
        |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_ok_and(|response| response.calls().count() == 1_200)
        },
    ));
}

/// Content that only the end of an item or the last event has.
fn last_event(cases: &mut Vec<Case>) {
    let piece_of_text = |index: u64, text: &str| value!({"type": "response.output_text.delta", "output_index": index, "delta": text});
    let completed = |output: &[Value]| value!({"type": "response.completed", "response": body(output, "completed")});
    let add_call = call("a", "add", &"{\"x\":1}".into());
    let sub_call = call("b", "sub", &"{}".into());
    let (zero, one) = (Value::from(0), Value::from(1));
    let texts = [
        (
            "text at the end of its item only",
            vec![item_done(&zero, &message("Hello")), completed(&[])],
        ),
        (
            "text at the end of its item and in the last event",
            vec![
                item_done(&zero, &message("Hello")),
                completed(&[message("Hello")]),
            ],
        ),
        (
            "the rest of a text in the last event",
            vec![piece_of_text(0, "Hel"), completed(&[message("Hello")])],
        ),
        (
            "a message in the last event only",
            vec![
                piece_of_text(0, "Hel"),
                completed(&[message("Hel"), message("lo")]),
            ],
        ),
        (
            "the first message in the last event only",
            vec![
                item_done(&one, &message("lo")),
                completed(&[message("Hel"), message("lo")]),
            ],
        ),
        (
            "items with one number",
            vec![
                piece_of_text(0, "Hello"),
                item_done(&zero, &message("Hello")),
                completed(&[value!({"type": "reasoning"}), message("Hello")]),
            ],
        ),
        (
            "the number of an item only at its end",
            vec![
                piece_of_text(0, "Hello"),
                item_done(&one, &message("Hello")),
                completed(&[value!({"type": "reasoning"}), message("Hello")]),
            ],
        ),
    ];
    for (name, events) in texts {
        let expected = if name.starts_with("the first") {
            "loHel"
        } else {
            "Hello"
        };
        let steps = stream(&FORMAT.stream(&events));
        cases.push(Case::new(name, Asks::Stream, steps, text(expected)));
    }
    let both: &[_] = &[("add", "{\"x\":1}"), ("sub", "{}")];
    for (name, events, expected) in [
        (
            "a call in the last event only",
            vec![
                piece_of_text(0, "Hm"),
                completed(&[message("Hm"), add_call.clone()]),
            ],
            &both[..1],
        ),
        (
            "a second call in the last event only",
            vec![
                item_done(&zero, &add_call),
                completed(&[add_call.clone(), sub_call.clone()]),
            ],
            both,
        ),
        (
            "calls with one number",
            vec![
                item_added(&zero, &call("a", "add", &"".into())),
                piece(&zero, "{\"x\":1}"),
                item_done(&zero, &add_call),
                item_added(&zero, &call("b", "sub", &"".into())),
                piece(&zero, "{}"),
                item_done(&zero, &sub_call),
                completed(&[message("Hm"), add_call.clone(), sub_call.clone()]),
            ],
            both,
        ),
    ] {
        let steps = stream(&FORMAT.stream(&events));
        cases.push(Case::new(name, Asks::Stream, steps, calls(expected)));
    }
}

fn whole(cases: &mut Vec<Case>) {
    let mut add = |name: &str, output: &[Value], expected: &'static [(&str, &str)]| {
        let steps = json(&body(output, "completed").to_string());
        cases.extend(Case::whole_and_streamed(name, &steps, calls(expected)));
    };
    add(
        "whole calls without ids",
        &[
            value!({"type": "function_call", "name": "add", "arguments": "{}"}),
            value!({"type": "function_call", "name": "sub", "arguments": "{}"}),
        ],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "whole calls with one id",
        &[
            call("a", "add", &"{}".into()),
            call("a", "sub", &"{}".into()),
        ],
        &[("add", "{}"), ("sub", "{}")],
    );
    add(
        "items that are not objects",
        &[value!(null), value!(3), call("a", "add", &"{}".into())],
        &[("add", "{}")],
    );
    let refusal = value!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    cases.extend(Case::whole_and_streamed(
        "a refusal",
        &json(&body(&[refusal], "completed").to_string()),
        text("No."),
    ));
}

fn statuses(cases: &mut Vec<Case>) {
    let failed = |error: &Value| {
        let mut response = body(&[], "failed");
        response["error"] = error.clone();
        response
    };
    let says = |outcome: &Outcome| {
        outcome
            .as_ref()
            .is_err_and(|error| error.to_string().contains(WORDS))
    };
    let error = value!({"code": "server_error", "message": WORDS});
    let response = failed(&error);
    cases.extend(Case::whole_and_streamed(
        "a response that failed",
        &json(&response.to_string()),
        says,
    ));
    let event = value!({"type": "response.failed", "response": response});
    cases.push(Case::new(
        "an event that it failed",
        Asks::Stream,
        stream(&FORMAT.stream(&[event])),
        says,
    ));
    let event = value!({"type": "response.failed", "response": failed(&Value::Null)});
    cases.push(Case::new(
        "a failure without an error",
        Asks::Stream,
        stream(&FORMAT.stream(&[event])),
        |outcome: &Outcome| {
            outcome
                .as_ref()
                .is_err_and(|error| matches!(error.kind, LlmErrorKind::Provider { .. }))
        },
    ));
    let event =
        value!({"type": "error", "code": "rate_limit_exceeded", "message": WORDS, "param": null});
    cases.push(Case::new(
        "an error event",
        Asks::Stream,
        stream(&FORMAT.stream(&[event])),
        |outcome: &Outcome| {
            outcome.as_ref().is_err_and(|error| {
                error.kind == LlmErrorKind::RateLimited { retry_after: None }
                    && error.to_string().contains(WORDS)
            })
        },
    ));
    for (details, expected) in [
        ("max_output_tokens", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("brand_new", FinishReason::Other("brand_new".into())),
    ] {
        let mut response = body(&[message("Hel")], "incomplete");
        response["incomplete_details"] = value!({"reason": details});
        let expected = move |outcome: &Outcome| {
            outcome.as_ref().is_ok_and(|response| {
                response.finish.as_ref() == Some(&expected) && response.text() == "Hel"
            })
        };
        let name = format!("incomplete because of `{details}`");
        cases.push(Case::new(
            &*name,
            Asks::Whole,
            json(&response.to_string()),
            expected.clone(),
        ));
        let event = value!({"type": "response.incomplete", "response": response});
        cases.push(Case::new(
            name,
            Asks::Stream,
            stream(&FORMAT.stream(&[event])),
            expected,
        ));
    }
    for status in ["cancelled", "queued", "in_progress", "brand_new"] {
        let steps = json(&body(&[message("Hel")], status).to_string());
        cases.extend(Case::whole_and_streamed(
            &format!("the status `{status}`"),
            &steps,
            text("Hel"),
        ));
    }
}

fn odd_fields(cases: &mut Vec<Case>) {
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
            value!({"usage": {"input_tokens": u64::MAX, "output_tokens": 1e300}}),
        ),
        ("a usage that is a list", value!({"usage": [1]})),
        ("no model", value!({"model": 7})),
        (
            "unknown fields",
            value!({"billing": {"payer": "x"}, "truncation": null}),
        ),
        (
            "details that are text",
            value!({"incomplete_details": "none"}),
        ),
    ] {
        let changed = body(&[message("Hello")], "completed");
        cases.extend(FORMAT.with_fields(name, changed, &change, |event| event.get_mut("response")));
    }
    for (name, wrong) in [
        ("output that is null", value!({"output": null})),
        ("output that is an object", value!({"output": {}})),
        ("no output", value!({"output": []})),
    ] {
        cases.extend(Case::whole_and_streamed(
            name,
            &json(&wrong.to_string()),
            is_malformed("there is no answer"),
        ));
    }
    for (name, event) in [
        ("a type that is a number", value!({"type": 3})),
        (
            "a creation without a response",
            value!({"type": "response.created"}),
        ),
        (
            "a piece without a delta",
            value!({"type": "response.output_text.delta"}),
        ),
        (
            "a delta that is a list",
            value!({"type": "response.output_text.delta", "delta": [1]}),
        ),
        (
            "an unknown event",
            value!({"type": "response.hologram.delta", "delta": "x"}),
        ),
    ] {
        let mut events = (FORMAT.events)("Hello");
        events.insert(2, event);
        let steps = stream(&FORMAT.stream(&events));
        cases.push(Case::new(name, Asks::Stream, steps, text("Hello")));
    }
    let last = (FORMAT.events)("Hello").split_off(8);
    cases.push(Case::new(
        "the last event alone",
        Asks::Stream,
        stream(&FORMAT.stream(&last)),
        text("Hello"),
    ));
    let thought = [
        item_done(
            &0.into(),
            &value!({"type": "reasoning", "id": 7, "summary": "x", "encrypted_content": null}),
        ),
        item_done(
            &1.into(),
            &value!({"type": "reasoning", "summary": [null, 3, {"text": 4}]}),
        ),
    ];
    cases.push(Case::new(
        "reasoning of another shape",
        Asks::Stream,
        stream(&stream_of(&thought)),
        is_any,
    ));
}
