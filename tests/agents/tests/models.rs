//! Messages, requests and answers.

use petalflow::llm::{ChatMessage, LlmResponse, Role, TokenUsage};

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
}

#[test]
fn p027_usage_adds_up_in_all_fields() {
    let one = TokenUsage {
        input: 1,
        output: 2,
        total: 3,
        cached: 1,
        reasoning: 1,
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
            reasoning: 2,
            cost: 1.0
        }
    );
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
