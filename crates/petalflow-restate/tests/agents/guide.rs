//! The agent of these tests, and what serves it.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::thread::Retention;
use petalflow::tool::{FuncTool, ToolContext};
use petalflow_agent::{Agent, AgentFlow};
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use petalflow_redis::{RedisEvents, RedisOptions};
use petalflow_restate::{Client, Endpoint, RestateFlow, RestateThreads};
use petalflow_server::{A2a, ServedFlow, Server as HttpServer};
use petalflow_test_servers::{Redis, found_or_skip, fresh_name};
use serde_json::{Value, json};

use crate::support::Server;

/// A question of a tool.
#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
pub(super) struct MayOrder {
    pub(super) title: String,
}

/// An agent that does what the last text of the user says. It deletes files once a person has confirmed it, and asks before it
/// orders.
pub(super) fn agent() -> Agent {
    let wipe = FuncTool::new("wipe", "Deletes all files.", |_: Value| async {
        Ok("gone")
    });
    let wipe = wipe.confirm_if(|_| Some("Delete all files?".into()));
    let look = FuncTool::new("look", "Looks around.", |_: Value| async { Ok("a river") });
    let dig = FuncTool::new("dig", "Digs.", |_: Value| async {
        // It ends only if it runs again in a test that kills its process. In others it is cancelled.
        if super::processes::count_start().is_none_or(|starts| starts == 1) {
            std::future::pending::<()>().await;
        }
        Ok("a coin")
    });
    let order = FuncTool::with_context(
        "order",
        "Orders a book.",
        |_: Value, cx: ToolContext| async move {
            let cx = cx.context().ok_or("only within a run")?;
            let title = "Emma".to_string();
            cx.ask(MayOrder { title }).await
        },
    );
    let agent = Agent::new(ScriptedModel::from_fn(answer));
    agent
        .tool(wipe)
        .tool(look)
        .tool(dig)
        .tool(order)
        .streaming()
}

fn answer(request: &LlmRequest) -> Reply {
    let last = request.messages.last().expect("there is a message");
    if last.role == Role::Tool {
        let results = last.tool_results().map(|result| match &result.content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let results = results.collect::<Vec<_>>().join(" and ");
        return Reply::chunks(["I got ", &*format!("{results}.")]);
    }
    match &*last.text() {
        tool @ ("look" | "dig" | "wipe" | "order") => Reply::call(tool, json!({})),
        "both" => Reply::call("look", json!({})).and_call("look", json!({})),
        "count" => Reply::text(request.messages.len().to_string()),
        "slow" => {
            // The first time, the process is killed after the first chunk.
            let is_killed = super::processes::count_start() == Some(1);
            let wait = if is_killed {
                Duration::from_hours(1)
            } else {
                Duration::from_millis(300)
            };
            Reply::chunks(["a ", "b ", "c ", "d ", "e "]).every(wait)
        }
        text => Reply::chunks(["You said ", &*format!("{text}.")]),
    }
}

/// How the agent is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tools {
    /// In the driver.
    Inline,
    /// On a node host.
    Placed,
}

/// The flow of the agent: its events are logged, and its pieces are published.
pub(super) async fn flow(tools: Tools, redis: &str, prefix: &str) -> RestateFlow<AgentFlow> {
    let events = RedisEvents::connect(RedisOptions::new(redis).prefix(prefix)).await;
    let flow = RestateFlow::new(agent().launch()).event_log(200);
    let flow = flow.retention(Retention::max_checkpoints(20));
    let flow = flow.events(events.expect("the server runs"));
    match tools {
        Tools::Inline => flow,
        Tools::Placed => flow.place("call", "tools").expect("it has the node"),
    }
}

/// Everything that serves the agent.
pub(super) struct Guide {
    pub(super) restate: Server,
    pub(super) redis: &'static str,
    pub(super) prefix: String,
    pub(super) flow: RestateFlow<AgentFlow>,
    pub(super) http: Http,
}

impl Guide {
    /// `None` if a server is not installed.
    pub(super) async fn start(tools: Tools) -> Option<Self> {
        let guide = Self::without_tools(tools).await?;
        let other = match tools {
            Tools::Placed => Endpoint::new().nodes(&guide.flow, "tools"),
            Tools::Inline => Endpoint::new().threads(&guide.flow),
        };
        serve(&guide.restate, other.expect("its name is good")).await;
        Some(guide)
    }

    /// The same without the process that runs tools.
    pub(super) async fn without_tools(tools: Tools) -> Option<Self> {
        let redis = &*found_or_skip(Redis::shared())?.url;
        let restate = Server::start().await?;
        let prefix = fresh_name("agents");
        let flow = flow(tools, redis, &prefix).await;
        if tools == Tools::Placed {
            let driver = Endpoint::new().threads(&flow).expect("its name is good");
            serve(&restate, driver).await;
        }
        let http = Http::start(&restate, &flow).await;
        Some(Guide {
            restate,
            redis,
            prefix,
            flow,
            http,
        })
    }
}

/// Serves in this process, until the runtime of the test ends.
async fn serve(restate: &Server, endpoint: Endpoint) {
    let bound = endpoint.bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}", bound.address());
    tokio::spawn(bound.serve());
    restate.admin().register(&url).await.expect("it answers");
}

/// A process that serves the agent over HTTP.
pub(super) struct Http {
    url: String,
    client: reqwest::Client,
}

impl Http {
    /// A server keeps nothing that another one does not have, except for what it remembers of requests in progress.
    pub(super) async fn start(restate: &Server, flow: &RestateFlow<AgentFlow>) -> Self {
        let client = Client::new(flow, restate.ingress());
        let threads = RestateThreads::new(&client, &restate.admin());
        let served = ServedFlow::agent(&agent()).named("guide");
        let server = HttpServer::builder(&InMemoryStore::new())
            .serve_remote(served.question::<MayOrder>(), threads)
            .threads(TriggerAuth::None)
            .openai()
            .ag_ui()
            .a2a(A2a::new("https://example.com/agents"))
            .build()
            .expect("its settings are right");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(server.serve(listener, std::future::pending()));
        Http {
            url,
            client: crate::support::http(),
        }
    }

    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let method = method.parse().expect("a method");
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request = request.header("a2a-version", "1.0");
        let request = request.header("content-type", "application/json");
        let sent = request.body(body.to_string()).send().await;
        let response = sent.expect("it answers");
        let status = response.status().as_u16();
        (status, response.text().await.expect("it ends"))
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, text) = self.send("POST", path, &body).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let (status, text) = self.send("GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Reads the events of a thread until one has this in it.
    pub(super) async fn until_event(&self, thread: &str, part: &str) {
        let url = format!("{}/threads/{thread}/events", self.url);
        let mut response = self.client.get(url).send().await.expect("it answers");
        let mut text = String::new();
        while !text.contains(part) {
            let chunk = response.chunk().await.expect("it can be read");
            let chunk = chunk.unwrap_or_else(|| panic!("it has ended: {text}"));
            text += &String::from_utf8_lossy(&chunk);
        }
    }

    /// The server-sent events of a response.
    pub(super) async fn events(&self, path: &str, body: Value) -> Vec<Value> {
        let (status, text) = self.send("POST", path, &body).await;
        assert_eq!(status, 200, "{path}: {text}");
        let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = lines.filter(|data| data.trim() != "[DONE]");
        data.map(|data| serde_json::from_str(data).expect("JSON"))
            .collect()
    }
}
