//! The prompts of our server.

use petalflow::tool::ToolSet;
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::{ChatMessage, Part, Role};
use petalflow_mcp::{self as mcp, McpClient, McpError, McpServer, Prompt, PromptArgument};
use petalflow_test_support::assert_contains;
use serde_json::json;
use tokio::net::TcpListener;

use super::resourced::by_hand;
use super::{connect_in_process, http};

fn dot() -> Part {
    Part::Media(Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("iVBORw==".into()),
        origin: None,
    })
}

fn review() -> Prompt {
    Prompt::new("review")
        .with_title("Review")
        .with_description("Reviews code.")
        .with_argument(PromptArgument::required("code").with_description("The code."))
        .with_argument(PromptArgument::optional("language"))
}

pub(super) fn reviews() -> McpServer {
    with_reviews(mcp::serve(ToolSet::new()))
}

/// The server with prompts.
pub(super) fn with_reviews(server: McpServer) -> McpServer {
    server
        .prompt(review(), |arguments| async move {
            let language = arguments.get("language").map_or("code", |it| it);
            let question = format!("Review this {language}: {}", arguments["code"]);
            Ok(vec![
                ChatMessage::new(Role::User, vec![Part::text(question), dot()]),
                ChatMessage::assistant("It looks like this."),
            ])
        })
        .prompt(Prompt::new("system"), async |_| {
            Ok(vec![ChatMessage::system("Be short.")])
        })
        .prompt(Prompt::new("lost"), async |_| {
            Err("the template is lost".into())
        })
}

async fn check(server: &McpClient) {
    let listed = server.prompts().await.unwrap();
    assert_eq!(listed[0], review());
    assert_eq!(listed.len(), 3);
    let messages = server.prompt("review", [("code", "1 + 1")]).await.unwrap();
    // A message of MCP has one part.
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0], ChatMessage::user("Review this code: 1 + 1"));
    assert_eq!(messages[1], ChatMessage::new(Role::User, vec![dot()]));
    assert_eq!(messages[2], ChatMessage::assistant("It looks like this."));
    let arguments = [("code", "1 + 1"), ("language", "Rust")];
    let messages = server.prompt("review", arguments).await.unwrap();
    assert_eq!(messages[0].text(), "Review this Rust: 1 + 1");
    for (name, problem) in [
        (
            "none",
            "unknown prompt `none`; there are `review`, `system`, `lost`",
        ),
        (
            "review",
            "prompt `review` needs arguments that are missing: `code`",
        ),
        (
            "system",
            "prompt `system` cannot be written: a prompt of MCP has no messages of the role `system`",
        ),
        (
            "lost",
            "prompt `lost` cannot be written: the template is lost",
        ),
    ] {
        let error = server
            .prompt(name, [("language", "Rust")])
            .await
            .unwrap_err();
        assert!(matches!(error, McpError::Refused { .. }), "{error}");
        assert_contains(&error.to_string(), problem);
    }
}

#[tokio::test]
async fn prompts_are_listed_and_written() {
    let (server, _) = connect_in_process(reviews());
    check(&server).await;
}

#[tokio::test]
async fn prompts_are_listed_and_written_over_http() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = http::client(listener.local_addr().unwrap());
    tokio::spawn(reviews().http(listener, []));
    check(&server).await;
}

#[tokio::test]
async fn both_generations_of_the_protocol_get_prompts() {
    for generation in [1, 2] {
        let get = async |params| by_hand(reviews(), generation, "prompts/get", params).await;
        let got = get(json!({ "name": "review", "arguments": { "code": "x" } })).await;
        assert_eq!(got["result"]["description"], "Reviews code.", "{got}");
        let text = &got["result"]["messages"][0]["content"]["text"];
        assert_eq!(text, "Review this code: x", "{got}");
        for params in [
            json!({ "name": "none" }),
            json!({ "name": "review" }),
            json!({ "name": "review", "arguments": { "code": 7 } }),
        ] {
            let refused = get(params).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
    }
}

#[tokio::test]
async fn long_lists_of_prompts_have_all_items() {
    let mut serve = mcp::serve(ToolSet::new());
    for n in 0..201 {
        serve = serve.prompt(Prompt::new(format!("{n}")), async |_| Ok(Vec::new()));
    }
    let (server, _) = connect_in_process(serve);
    let names = server
        .prompts()
        .await
        .unwrap()
        .into_iter()
        .map(|it| it.name);
    assert!(names.eq((0..201).map(|n| format!("{n}"))));
}

#[tokio::test]
async fn a_server_with_wrong_names_does_not_start() {
    let serve = |prompts: &[Prompt]| {
        prompts
            .iter()
            .fold(mcp::serve(ToolSet::new()), |serve, prompt| {
                serve.prompt(prompt.clone(), async |_| Ok(Vec::new()))
            })
    };
    let argument = |name: &str| PromptArgument::optional(name);
    for (server, problem) in [
        (serve(&[Prompt::new(" ")]), "a prompt has no name"),
        (
            serve(&[Prompt::new("a"), Prompt::new("a")]),
            "two prompts are called `a`",
        ),
        (
            serve(&[Prompt::new("a").with_argument(argument(""))]),
            "an argument of prompt `a` has no name",
        ),
        (
            serve(&[Prompt::new("a")
                .with_argument(argument("b"))
                .with_argument(argument("b"))]),
            "two arguments of prompt `a` are called `b`",
        ),
    ] {
        let (_ours, theirs) = tokio::io::duplex(64);
        let error = server.over(theirs).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot serve over MCP: {problem}")
        );
    }
}
