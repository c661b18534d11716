//! Messages, requests and answers.

use petalflow::tool::ToolCall;
use petalflow_llm::usage::Budget;
use petalflow_llm::{ChatMessage, LlmErrorKind, LlmRequest, LlmResponse, Part, Role, TokenUsage};
use serde_json::{Value, json};

#[test]
fn i002_four_roles_are_known_by_name_and_any_other_is_an_error() {
    for role in [Role::System, Role::User, Role::Assistant, Role::Tool] {
        assert_eq!(role.as_str().parse::<Role>().unwrap(), role);
    }
    let error = "robot".parse::<Role>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown role `robot`; roles are `system`, `user`, `assistant` and `tool`"
    );
    let read = serde_json::from_value::<ChatMessage>(json!({"role": "robot"}));
    assert!(read.unwrap_err().to_string().contains("robot"));
}

#[test]
fn p027_usage_adds_up_in_all_fields() {
    let one = TokenUsage {
        input: 1,
        output: 2,
        total: 3,
        cached: 1,
        cache_writes: 3,
        cache_writes_1h: 2,
        input_audio: 4,
        reasoning: 1,
        output_audio: 5,
        cost: 0.5,
    };
    let all: TokenUsage = [one, one].into_iter().sum();
    assert_eq!(
        all,
        TokenUsage {
            input: 2,
            output: 4,
            total: 6,
            cached: 2,
            cache_writes: 6,
            cache_writes_1h: 4,
            input_audio: 8,
            reasoning: 2,
            output_audio: 10,
            cost: 1.0
        }
    );
    let most = TokenUsage {
        input: u64::MAX,
        ..one
    };
    assert_eq!((most + one).input, u64::MAX, "a sum does not overflow");
}

#[test]
fn p094_each_limit_of_a_budget_is_kept_and_0_is_none() {
    let used = TokenUsage {
        input: 10,
        output: 20,
        total: 30,
        cost: 0.5,
        ..TokenUsage::default()
    };
    assert!(Budget::UNLIMITED.check(&used).is_ok());
    let exactly = Budget {
        input: 10,
        output: 20,
        total: 30,
        cost: 0.5,
    };
    assert!(exactly.check(&used).is_ok());
    let tight = [
        (
            Budget {
                input: 9,
                ..exactly
            },
            "10 input tokens are more than the budget of 9",
        ),
        (
            Budget {
                output: 19,
                ..exactly
            },
            "20 output tokens are more than the budget of 19",
        ),
        (
            Budget {
                total: 29,
                ..exactly
            },
            "30 total tokens are more than the budget of 29",
        ),
        (
            Budget {
                cost: 0.4,
                ..exactly
            },
            "$0.5 is more than the budget of $0.4",
        ),
    ];
    for (budget, message) in tight {
        let error = budget.check(&used).unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Budget);
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn a_message_is_stored_and_read_as_it_was() {
    let response = LlmResponse {
        message: Some(ChatMessage::assistant("hello")),
        ..LlmResponse::default()
    };
    let text = serde_json::to_string(&response).unwrap();
    assert_eq!(
        serde_json::from_str::<LlmResponse>(&text).unwrap(),
        response
    );
}

#[test]
fn a_request_is_stored_and_read_as_it_was() {
    let request = LlmRequest {
        system: Some("be brief".into()),
        ..LlmRequest::new(vec![ChatMessage::user("hello")])
    };
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<LlmRequest>(&text).unwrap(), request);
}

#[test]
fn i010_an_answer_without_an_id_has_none() {
    let stored = serde_json::to_value(LlmResponse::default()).unwrap();
    assert_eq!(stored.get("id"), None);
    let named = LlmResponse {
        id: "r1".into(),
        ..LlmResponse::default()
    };
    assert_eq!(serde_json::to_value(named).unwrap()["id"], "r1");
}

fn calling(arguments: Value) -> LlmResponse {
    let call = ToolCall {
        id: "c1".into(),
        name: "search".into(),
        arguments,
        ..ToolCall::default()
    };
    LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, vec![Part::Call(call)])),
        ..LlmResponse::default()
    }
}

#[test]
fn i012_arguments_that_are_not_an_object_are_an_error_with_id_and_tool_and_the_answer() {
    let request = LlmRequest::default();
    for (arguments, shown) in [
        (json!("{\"for\": \n"), "`{\\\"for\\\": \\n`"),
        (json!([1]), "`[1]`"),
        (json!(7), "`7`"),
    ] {
        let error = calling(arguments.clone()).checked(&request).unwrap_err();
        let message = error.to_string();
        assert_eq!(
            message,
            format!("arguments of call `c1` of tool `search` are not a JSON object: {shown}")
        );
        let LlmErrorKind::Arguments { response } = error.kind else {
            panic!("{message}");
        };
        assert_eq!(response.calls().next().unwrap().arguments, arguments);
    }
}

#[test]
fn i012_empty_arguments_are_an_empty_object() {
    for empty in [Value::Null, json!(""), json!(" \n")] {
        let response = calling(empty).checked(&LlmRequest::default()).unwrap();
        assert_eq!(response.calls().next().unwrap().arguments, json!({}));
    }
}

#[test]
fn enormous_wrong_arguments_make_a_short_error() {
    let error = calling(json!("é".repeat(10_000_000)))
        .checked(&LlmRequest::default())
        .unwrap_err();
    assert!(error.to_string().len() < 300);
    assert!(error.to_string().ends_with("é…`"));
}

#[test]
fn i013_with_a_schema_an_object_is_read_and_anything_else_is_not_an_error() {
    let request = LlmRequest::default().with_schema(json!({"type": "object"}));
    let read = |text: &str| LlmResponse::text_only(text).checked(&request).unwrap().json;
    assert_eq!(read(" {\"a\": 1}\n"), Some(json!({"a": 1})));
    assert_eq!(read("[1]"), None);
    assert_eq!(read("sorry"), None);
    let without = LlmRequest::default();
    let response = LlmResponse::text_only("{}").checked(&without).unwrap();
    assert_eq!(response.json, None);
}

#[test]
fn i014_the_conversation_continues_with_the_reply_but_not_with_system_and_input() {
    let request = LlmRequest {
        system: Some("be brief".into()),
        input_text: Some("now".into()),
        ..LlmRequest::new(vec![ChatMessage::user("before")])
    };
    let reply = calling(json!({}));
    assert_eq!(
        request.messages_with(&reply),
        [ChatMessage::user("before"), reply.message.clone().unwrap()]
    );
    let silent = LlmResponse::default();
    assert_eq!(
        request.messages_with(&silent),
        [ChatMessage::user("before")]
    );
}

#[test]
fn i026_clients_are_used_through_pointers() {
    fn takes(_: Option<&dyn petalflow_llm::LlmClient>) {}
    takes(None);
}
