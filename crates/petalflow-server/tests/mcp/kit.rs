//! A server with flows and an agent, and clients of it.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::tool::{FuncTool, ToolContext, ToolError};
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_mcp::{Elicited, McpClient};
use petalflow_server::{ServedFlow, Server, ServerBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Verdict {
    pays: bool,
    reason: Option<String>,
}

#[derive(Serialize, Ask)]
#[ask(answer = Verdict)]
struct MayPay {
    cents: u64,
}

/// A refund.
#[state(schema)]
struct Refund {
    #[key(input)]
    cents: u64,
    #[key(secret, default)]
    account: String,
    paid: bool,
}

#[node(Refund)]
async fn review(cents: &u64, cx: Context) -> petalflow::Result<(RefundPaid, RefundAccount)> {
    if *cents == 0 {
        return Err("there is nothing to pay".into());
    }
    cx.emit("I look at it");
    let verdict = cx.ask(MayPay { cents: *cents }).await?;
    Ok((RefundPaid(verdict.pays), RefundAccount("4242".into())))
}

flow!(PayRefund(Refund) { review });

#[state]
struct Work {
    #[key(input)]
    n: u64,
    done: bool,
}

/// What a slow node tells, and what it waits for.
#[derive(Clone, Default)]
pub(crate) struct Slow {
    pub(crate) begun: Arc<Notify>,
    pub(crate) may_end: Arc<Notify>,
}

impl Slow {
    async fn run(&self) -> WorkDone {
        self.begun.notify_one();
        self.may_end.notified().await;
        WorkDone(true)
    }
}

#[node(Work)]
async fn work(n: &u64, slow: Managed<Slow>) -> WorkDone {
    let _ = n;
    slow.run().await
}

flow!(DoWork(Work) { work });

/// An agent with a tool that a person must confirm.
pub(crate) fn helper() -> Agent {
    let model = ScriptedModel::from_fn(|request| {
        let last = request.messages.last().expect("there is a message");
        match &*last.text() {
            "tidy" => Reply::call("delete", json!({ "prefix": "tmp" })),
            "count" => Reply::text(request.messages.len().to_string()),
            "" => Reply::text("It is gone."),
            text => Reply::text(format!("You said {text}.")),
        }
    });
    let delete = FuncTool::new("delete", "Deletes files.", |_: Value| async {
        Ok("deleted")
    });
    Agent::new(model).tool(delete.confirm_if(|_| Some("Really?".into())))
}

pub(crate) fn builder(slow: &Slow) -> ServerBuilder {
    let refunds = ServedFlow::new(PayRefund::new()).named("refunds").schemas();
    let refunds = refunds.description("Pays a refund.").question::<MayPay>();
    Server::builder(&InMemoryStore::new())
        .serve_flow(refunds)
        .flow(DoWork::new().manage(slow.clone()))
        .agent("helper", &helper())
        .threads(TriggerAuth::HeaderToken {
            header: "X-Token".into(),
            token: "secret".into(),
        })
        .mcp()
}

/// A server of this process.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) server: Server,
    serving: JoinHandle<()>,
}

impl Served {
    pub(crate) async fn start(builder: ServerBuilder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it has one"));
        let server = builder.build().expect("the settings are right");
        let serving = server.clone();
        let serving = tokio::spawn(async move {
            serving
                .serve(listener, std::future::pending())
                .await
                .expect("it serves");
        });
        Served {
            url,
            server,
            serving,
        }
    }

    /// A client without elicitation.
    pub(crate) fn client(&self) -> McpClient {
        let url = format!("{}/mcp", self.url);
        McpClient::http(url, [("authorization", "Bearer secret")])
    }

    /// A client whose user answers each question with this.
    pub(crate) fn asking(&self, answer: Elicited) -> McpClient {
        self.client().elicit(move |_| {
            let answer = answer.clone();
            async move { answer }
        })
    }

    /// The thread, as another client sees it.
    pub(crate) async fn thread(&self, id: &str) -> Value {
        let request = axum::http::Request::get(format!("/threads/{id}"))
            .header("x-token", "secret")
            .body(axum::body::Body::empty())
            .expect("a request");
        crate::kit::send(&self.server.router(), request)
            .await
            .json()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The structured result of a call.
pub(crate) async fn call(client: &McpClient, tool: &str, arguments: Value) -> Value {
    let result = try_call(client, tool, arguments).await;
    let mut result = result.expect("the call succeeds");
    result["output"].take()
}

pub(crate) async fn try_call(
    client: &McpClient,
    tool: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    let tools = client.tools().await.expect("the tools are listed");
    let tool = tools.get(tool).expect("there is such a tool");
    tool.call(arguments, &ToolContext::new("call-1")).await
}
