//! The operations of protocols, whose messages their own specifications describe.

use super::operations::Operation;

/// An address of a protocol: its operation, and where the protocol is specified.
pub(super) struct OfProtocol {
    pub(super) operation: Operation,
    pub(super) specification: &'static str,
}

/// For a server that speaks none.
pub(super) const NONE: &[OfProtocol] = &[];

#[cfg(not(feature = "openai"))]
#[allow(dead_code, reason = "only the test of ids reads it")]
pub(super) const OPENAI: &[OfProtocol] = &[];

#[cfg(feature = "openai")]
pub(super) const OPENAI: &[OfProtocol] = {
    const SPECIFICATION: &str = "https://platform.openai.com/docs/api-reference";
    const fn of(operation: Operation) -> OfProtocol {
        OfProtocol {
            operation,
            specification: SPECIFICATION,
        }
    }
    &[
        of(read(
            "openai_list_models",
            "/v1/models",
            "The agents and conversations, as models.",
        )),
        of(read(
            "openai_get_model",
            "/v1/models/{model}",
            "An agent or a conversation, as a model.",
        )),
        of(Operation {
            keyed: true,
            ..send(
                "openai_create_chat_completion",
                "/v1/chat/completions",
                "any or a stream",
                "A turn, by Chat Completions.",
            )
        }),
        of(Operation {
            keyed: true,
            ..send(
                "openai_create_response",
                "/v1/responses",
                "any or a stream",
                "A turn, by Responses.",
            )
        }),
        of(Operation {
            query: &["stream", "starting_after"],
            response: ("200", "any or a stream"),
            ..read("openai_get_response", "/v1/responses/{response}", "A turn.")
        }),
        of(Operation {
            method: "delete",
            ..read(
                "openai_delete_response",
                "/v1/responses/{response}",
                "Deletes the last turn of a thread.",
            )
        }),
        of(Operation {
            method: "post",
            ..read(
                "openai_cancel_response",
                "/v1/responses/{response}/cancel",
                "Cancels a turn.",
            )
        }),
    ]
};

#[cfg(not(feature = "a2a"))]
#[allow(dead_code, reason = "only the test of ids reads it")]
pub(super) const A2A: &[OfProtocol] = &[];

#[cfg(feature = "a2a")]
pub(super) const A2A: &[OfProtocol] = {
    const SPECIFICATION: &str = "https://a2a-protocol.org/latest/specification/";
    const fn of(operation: Operation) -> OfProtocol {
        OfProtocol {
            operation,
            specification: SPECIFICATION,
        }
    }
    &[
        of(Operation {
            is_public: true,
            ..read(
                "a2a_get_root_card",
                "/.well-known/agent-card.json",
                "The card of the agent of the host.",
            )
        }),
        of(Operation {
            is_public: true,
            ..read(
                "a2a_get_card",
                "/a2a/{agent}/.well-known/agent-card.json",
                "The card of an agent.",
            )
        }),
        of(send(
            "a2a_call",
            "/a2a/{agent}",
            "any or a stream",
            "A call of JSON-RPC.",
        )),
        of(send(
            "a2a_send_message",
            "/a2a/{agent}/message:send",
            "any",
            "A message: a turn.",
        )),
        of(send(
            "a2a_stream_message",
            "/a2a/{agent}/message:stream",
            "a stream",
            "A message, with what happens.",
        )),
        of(read(
            "a2a_list_tasks",
            "/a2a/{agent}/tasks",
            "The turns of the caller.",
        )),
        of(read("a2a_get_task", "/a2a/{agent}/tasks/{task}", "A turn.")),
        of(send(
            "a2a_act_on_task",
            "/a2a/{agent}/tasks/{task}",
            "any or a stream",
            "Cancels a turn, or sends what happens in it: the id ends with `:cancel` or `:subscribe`.",
        )),
    ]
};

#[cfg(not(feature = "ag-ui"))]
#[allow(dead_code, reason = "only the test of ids reads it")]
pub(super) const AG_UI: &[OfProtocol] = &[];

#[cfg(feature = "ag-ui")]
pub(super) const AG_UI: &[OfProtocol] = &[OfProtocol {
    operation: send(
        "ag_ui_run",
        "/ag-ui/{agent}",
        "a stream",
        "A run: a turn, with its events.",
    ),
    specification: "https://docs.ag-ui.com",
}];

#[cfg(not(feature = "mcp"))]
#[allow(dead_code, reason = "only the test of ids reads it")]
pub(super) const MCP: &[OfProtocol] = &[];

#[cfg(feature = "mcp")]
pub(super) const MCP: &[OfProtocol] = {
    const fn of(operation: Operation) -> OfProtocol {
        OfProtocol {
            operation,
            specification: "https://modelcontextprotocol.io/specification",
        }
    }
    &[
        of(send(
            "mcp_call",
            "/mcp",
            "any or a stream",
            "A message of JSON-RPC.",
        )),
        of(Operation {
            response: ("200", "a stream"),
            ..read(
                "mcp_listen",
                "/mcp",
                "The messages of the server to a session.",
            )
        }),
        of(Operation {
            method: "delete",
            response: ("202", ""),
            ..read("mcp_end_session", "/mcp", "Ends a session.")
        }),
    ]
};

/// An address that is only read. Each protocol has errors of its own.
#[cfg(any(feature = "a2a", feature = "mcp", feature = "openai"))]
const fn read(id: &'static str, path: &'static str, summary: &'static str) -> Operation {
    Operation {
        refusals: &[],
        ..super::operations::get(id, path, "any", summary)
    }
}

/// An address to which a client sends a message.
#[cfg(any(
    feature = "a2a",
    feature = "ag-ui",
    feature = "mcp",
    feature = "openai"
))]
const fn send(
    id: &'static str,
    path: &'static str,
    response: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        body: Some("any"),
        // Messages of protocols have ids of their own.
        keyed: false,
        refusals: &[],
        ..super::operations::post(id, path, ("200", response), summary)
    }
}
