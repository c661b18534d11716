//! A support agent with skills: `cargo run --bin helpdesk -- "My lamp arrived broken. The order is A-17."`
//!
//! The model reads the names of two skills, and the instructions of the one that it needs. A person decides about large sums:
//! `--yes` and `--no` are the decision, in any later process. The conversation is in one SQLite file, and each payment is a file
//! in the folder `payments`, which is there once although the program is killed.
//!
//! Without a model (see the crate's `choose`) a script answers about the orders A-17, B-2 and C-5.

use std::path::PathBuf;

use petalflow::prelude::*;
use petalflow::thread::{OnBusy, Outcome, Thread};
use petalflow_agent::skills::{Skill, Skills};
use petalflow_agent::{Agent, AgentFlow, Conversation, ConversationInput, Pending};
use petalflow_agent_examples::{Newest, choose, newest};
use petalflow_llm::{LlmClient, LlmRequest, Reply, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use serde::Serialize;
use serde_json::json;

const WITHOUT_A_PERSON: u64 = 50;

#[derive(Clone, Copy, Debug, Serialize)]
struct Order {
    id: &'static str,
    euros: u64,
    arrived: bool,
}

const ORDERS: [Order; 3] = [
    Order {
        id: "A-17",
        euros: 80,
        arrived: true,
    },
    Order {
        id: "B-2",
        euros: 20,
        arrived: true,
    },
    Order {
        id: "C-5",
        euros: 35,
        arrived: false,
    },
];

fn known(order: &str) -> petalflow::Result<Order> {
    let found = ORDERS.into_iter().find(|known| known.id == order);
    found.ok_or_else(|| {
        format!("there is no order `{order}`; ask the customer for the number").into()
    })
}

/// Finds an order.
#[tool]
fn find_order(
    /// Its number, such as A-17.
    order: String,
) -> petalflow::Result<Order> {
    known(&order)
}

/// Where payments are made.
struct Bank(PathBuf);

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "every argument comes as a reference to it"
)]
fn is_large(order: &str, euros: &u64) -> Option<String> {
    (*euros > WITHOUT_A_PERSON).then(|| format!("Pay {euros} euros back for {order}?"))
}

/// Pays money back. A second payment of the same order changes nothing.
#[tool(confirm = is_large)]
fn pay_back(order: String, euros: u64, bank: Managed<Bank>) -> petalflow::Result<String> {
    let order = known(&order)?.id;
    std::fs::create_dir_all(&bank.0)?;
    // The name is the key of the payment: a process that was killed behind it pays once.
    std::fs::write(bank.0.join(order), format!("{euros} euros\n"))?;
    Ok(format!("paid {euros} euros back for {order}"))
}

fn skills() -> petalflow::Result<Skills> {
    let refunds = Skill::embedded(
        "refunds",
        [
            ("SKILL.md", include_str!("../../skills/refunds/SKILL.md")),
            (
                "references/limits.md",
                include_str!("../../skills/refunds/references/limits.md"),
            ),
        ],
    )?;
    let delivery = Skill::embedded(
        "delivery",
        [("SKILL.md", include_str!("../../skills/delivery/SKILL.md"))],
    )?;
    Ok(Skills::new().with(refunds)?.with(delivery)?)
}

fn helpdesk(model: impl LlmClient) -> petalflow::Result<Agent> {
    Ok(Agent::new(model)
        .name("helpdesk")
        .instructions("You are the support of a shop for lamps. Load the skill for the customer's problem and do what it says.")
        .skills(skills()?)
        .tools(tools![find_order, pay_back]))
}

/// The number of the order that the customer has named last.
fn order_in(request: &LlmRequest) -> &'static str {
    let named = request.messages.iter().rev().find_map(|message| {
        let text = message.text();
        ORDERS.into_iter().find(|order| text.contains(order.id))
    });
    named.map_or("A-17", |order| order.id)
}

/// Does what the skills say, by the newest message.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| match newest(request) {
        Newest::User(text) if text.contains("broken") || text.contains("money") => {
            Reply::call("load_skill", json!({ "skill": "refunds" }))
        }
        Newest::User(text) if text.contains("where") || text.contains("Where") => {
            Reply::call("load_skill", json!({ "skill": "delivery" }))
        }
        Newest::User(_) => Reply::text("What can I do for you?"),
        Newest::Result { tool, .. } if tool == "load_skill" => {
            Reply::call("find_order", json!({ "order": order_in(request) }))
        }
        Newest::Result { tool, content } if tool == "find_order" => {
            if content["arrived"] == true {
                let payment = json!({ "order": content["id"], "euros": content["euros"] });
                Reply::call("pay_back", payment)
            } else {
                Reply::text("It arrives tomorrow.")
            }
        }
        Newest::Result { content, .. } => match content.as_str() {
            Some(paid) => Reply::text(format!("Done: I have {paid}.")),
            None => Reply::text("I am sorry: we do not pay it back."),
        },
    })
}

/// Continues what another process has begun. If there is nothing, it decides what waits, or answers the customer.
async fn continue_talk(
    thread: &Thread<AgentFlow>,
    line: Option<String>,
    decision: Option<bool>,
) -> petalflow::Result<Conversation> {
    let outcome = match thread.snapshot().await? {
        Some(known) if !known.is_finished() => thread.resume(()).await?,
        Some(known) if !known.state.pending().is_empty() => match decision {
            None => Outcome::Finished(known.state),
            Some(yes) => {
                let waiting = known.state.pending();
                let decide =
                    |input: ConversationInput, call: &Pending| input.confirm(call.id(), yes);
                thread
                    .run(waiting.iter().fold(ConversationInput::default(), decide))
                    .await?
            }
        },
        known => match (line, known) {
            (Some(line), _) => thread.run(line).await?,
            (None, Some(known)) => Outcome::Finished(known.state),
            (None, None) => return Err(USAGE.into()),
        },
    };
    Ok(outcome.into_finished()?)
}

const USAGE: &str = "usage: helpdesk [--db FILE] [MESSAGE | --yes | --no]";

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    use lexopt::prelude::*;
    let (mut file, mut line, mut decision) = (PathBuf::from("helpdesk.db"), None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("db") => file = parser.value()?.into(),
            Long("yes") => decision = Some(true),
            Long("no") => decision = Some(false),
            Value(words) => line = Some(words.string()?),
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    let choice = choose(script())?;
    println!("{}", choice.description);
    let store = SqliteStore::open(&file).await?;
    let launch = helpdesk(choice.model)?.launch();
    // The run before this one may still release the thread.
    let threads = launch
        .manage(Bank("payments".into()))
        .store(&store)
        .on_busy(OnBusy::Queue);
    let talk = continue_talk(&threads.thread("customer"), line, decision).await?;
    for waiting in talk.pending() {
        if let Pending::Confirmation { hint, .. } = waiting {
            println!("{hint} Call it again with --yes or --no.");
        }
    }
    println!("{}", talk.answer());
    Ok(())
}
