//! Functions whose results are the answer, and checks of answers that need the run.

use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_agent::guardrail::{self, Verdict};
use petalflow_agent::{Agent, ConversationInput, Mode};
use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
use petalflow_test_support::assert_contains;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{constant_tool, failure, results, scripted_agent};

#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Ticket {
    number: u32,
}

/// The bookings of a test.
#[derive(Default)]
struct Bookings(AtomicUsize);

/// Books a seat.
#[tool]
async fn book(seat: u32, bookings: Managed<Bookings>, cx: Context) -> Result<Ticket, String> {
    assert_eq!(cx.node(), "call");
    if seat > 80 {
        return Err(format!("there is no seat {seat}"));
    }
    bookings.0.fetch_add(1, Ordering::Relaxed);
    Ok(Ticket {
        number: 1000 + seat,
    })
}

/// Gives up.
#[tool]
fn give_up(reason: String) -> String {
    format!("no ticket: {reason}")
}

fn booking(seat: u32) -> Reply {
    Reply::call("book", json!({ "seat": seat }))
}

#[tokio::test]
async fn f44_4_the_result_of_an_output_function_is_the_answer() {
    let (agent, model) = scripted_agent([booking(99), booking(7)]);
    let agent = agent.output_function(book {}).output_function(give_up {});
    let launch = agent.launch().manage(Bookings::default());
    let talk = launch.run("A seat.").await.unwrap();
    assert_eq!(talk.output::<Ticket>().unwrap(), Ticket { number: 1007 });
    assert_eq!(talk.answer(), r#"{"number":1007}"#);
    assert_eq!(results(&talk)[0]["error"], "there is no seat 99");
    let repairs = talk.events.iter().filter_map(|event| event.repair.as_ref());
    assert_eq!(repairs.map(|repair| repair.number).collect::<Vec<_>>(), [1]);
    assert_eq!(
        model.requests().len(),
        2,
        "the model does not put it into words"
    );
    let request = &model.requests()[0];
    assert_contains(
        &request.system.clone().unwrap(),
        "calling `book` or `give_up`",
    );
    // The model knows how the turn has ended.
    let talk = agent.clone().model(ScriptedModel::from_fn(|request| {
        let last = request.messages.iter().rev().nth(1);
        last.map(ChatMessage::text).unwrap_or_default()
    }));
    assert!(talk.has_output());
}

#[tokio::test]
async fn f44_4_a_text_is_the_answer_as_it_is() {
    let (agent, _) = scripted_agent([Reply::call("give_up", json!({ "reason": "it is full" }))]);
    let talk = agent
        .output_function(give_up {})
        .run("A seat.")
        .await
        .unwrap();
    assert_eq!(talk.answer(), "no ticket: it is full");
    assert_eq!(talk.output::<String>().unwrap(), "no ticket: it is full");
}

#[tokio::test]
async fn f44_4_errors_of_an_output_function_are_limited() {
    let (agent, _) = scripted_agent([booking(99), booking(98), booking(97)]);
    let launch = agent
        .output_function(book {})
        .launch()
        .manage(Bookings::default());
    let error = format!("{:?}", launch.run("A seat.").await.unwrap_err());
    assert_contains(&error, "in 3 attempts: there is no seat 97");
}

#[tokio::test]
async fn f44_4_an_answer_that_is_no_call_goes_back_to_the_model() {
    let (agent, model) = scripted_agent([
        "I would like to.".into(),
        Reply::call("give_up", json!({ "reason": "it is full" })),
    ]);
    let talk = agent
        .output_function(give_up {})
        .run("A seat.")
        .await
        .unwrap();
    assert_eq!(talk.answer(), "no ticket: it is full");
    let asked = model.requests()[1].messages.last().unwrap().text();
    assert_contains(&asked, "Give the answer by calling `give_up`.");
}

#[tokio::test]
async fn f44_4_of_several_calls_the_first_one_is_made() {
    let (agent, _) = scripted_agent([booking(7).and_call("book", json!({ "seat": 8 }))]);
    let bookings = std::sync::Arc::new(Bookings::default());
    let agent = agent.output_function(book {});
    let launch = agent.launch().manage_with(std::sync::Arc::clone(&bookings));
    let talk = launch.run("A seat.").await.unwrap();
    assert_eq!(talk.output::<Ticket>().unwrap(), Ticket { number: 1007 });
    assert_eq!(bookings.0.load(Ordering::Relaxed), 1);
    assert_contains(
        &results(&talk)[1]["error"].as_str().unwrap(),
        "was not called",
    );
}

#[tokio::test]
async fn f44_4_a_person_decides_first_also_after_a_restart() {
    /// Books a seat.
    #[tool(confirm)]
    fn reserve(seat: u32) -> Ticket {
        Ticket { number: seat }
    }
    let store = InMemoryStore::new();
    let call = Reply::call("reserve", json!({ "seat": 7 }));
    let agent = |model| Agent::new(model).output_function(reserve {}).max_repairs(0);
    let thread = agent(ScriptedModel::new([call]))
        .store(&store)
        .thread("ann");
    let talk = thread
        .run("A seat.")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let id = talk.pending()[0].id().to_string();
    let restarted = agent(ScriptedModel::new(Vec::<Reply>::new()));
    let thread = restarted.store(&store).thread("ann");
    let yes = ConversationInput::default().confirm(id, true);
    let talk = thread.run(yes).await.unwrap().into_finished().unwrap();
    assert_eq!(talk.output::<Ticket>().unwrap(), Ticket { number: 7 });
}

#[tokio::test]
async fn f44_4_a_sub_agent_answers_with_its_output_function() {
    let model = ScriptedModel::new([
        Reply::call("clerk", json!({ "request": "a seat" })),
        booking(5),
        "You have it.".into(),
    ]);
    let clerk = Agent::named("clerk")
        .mode(Mode::SingleTurn)
        .output_function(book {});
    let launch = Agent::new(model)
        .sub_agent(clerk)
        .launch()
        .manage(Bookings::default());
    let talk = launch.run("A seat.").await.unwrap();
    let of_clerk = results(&talk)
        .into_iter()
        .find(|result| result["result"]["number"] == 1005);
    assert!(of_clerk.is_some(), "{:?}", results(&talk));
}

#[tokio::test]
async fn f44_4_guardrails_check_what_an_output_function_answers() {
    let (agent, _) = scripted_agent([Reply::call("give_up", json!({ "reason": "secret" }))]);
    let hide = |message: ChatMessage| async move {
        let text = message.text().replace("secret", "…");
        Ok(Verdict::Rewrite(ChatMessage::assistant(text)))
    };
    let agent = agent
        .output_function(give_up {})
        .guardrail(guardrail::on_output("hide", hide));
    let talk = agent.run("A seat.").await.unwrap();
    assert_eq!(talk.answer(), "no ticket: …");
}

#[tokio::test]
async fn f44_4_what_cannot_be_an_output_function_is_an_error() {
    /// Works for days.
    #[tool(long_running)]
    fn slow(seat: u32) -> u32 {
        seat
    }
    let (agent, _) = scripted_agent([booking(1)]);
    assert_contains(
        &failure(&agent.output_function(slow {}), "?").await,
        "output function `slow` cannot give the answer of agent `agent`: its result comes later",
    );
    let (agent, _) = scripted_agent([booking(1)]);
    let task = Agent::named("clerk")
        .mode(Mode::Task)
        .output_function(give_up {});
    assert_contains(
        &failure(&agent.sub_agent(task), "?").await,
        "an agent that works on tasks ends them with `finish_task`",
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Trip {
    from: String,
    to: String,
}

struct Stations(Vec<&'static str>);

/// Checks that both places have a station.
#[tool]
async fn have_stations(trip: Trip, stations: Managed<Stations>, cx: Context) -> Result<(), String> {
    tokio::task::yield_now().await;
    assert!(["ask", "call"].contains(&cx.node()));
    for place in [&trip.from, &trip.to] {
        if !stations.0.contains(&place.as_str()) {
            return Err(format!("`{place}` has no station"));
        }
    }
    Ok(())
}

/// Checks the fields of a trip.
#[tool]
fn leads_away(from: String, to: String) -> Result<(), String> {
    if from == to {
        return Err("a trip leads to another place".into());
    }
    Ok(())
}

fn trip(from: &str, to: &str) -> Value {
    json!({ "from": from, "to": to })
}

#[tokio::test]
async fn f44_4_validators_send_answers_back_in_both_forms_of_output() {
    let trips = || {
        [
            trip("Ghent", "Oz"),
            trip("Ghent", "Ghent"),
            trip("Ghent", "Bruges"),
        ]
    };
    let texts = ScriptedModel::new(trips().map(|trip| trip.to_string()));
    let calls = ScriptedModel::new(trips().map(|trip| Reply::call("set_model_response", trip)));
    for agent in [
        Agent::new(texts),
        Agent::new(calls).tool(constant_tool("look", json!(1))),
    ] {
        let agent = agent
            .output::<Trip>()
            .output_validator(have_stations {})
            .output_validator(leads_away {});
        let launch = agent.launch().manage(Stations(vec!["Ghent", "Bruges"]));
        let talk = launch.run("A trip.").await.unwrap();
        assert_eq!(talk.output::<Trip>().unwrap().to, "Bruges");
        let events = talk.events.iter();
        let mut problems: Vec<_> = events
            .filter_map(|event| event.repair.as_ref())
            .map(|repair| (repair.number, repair.problem.clone()))
            .collect();
        problems.dedup();
        let problem = |number, text: &str| (number, text.to_string());
        assert_eq!(
            problems,
            [
                problem(1, "`Oz` has no station"),
                problem(2, "a trip leads to another place")
            ]
        );
    }
}

#[tokio::test]
async fn f44_4_validators_are_limited_and_their_values_are_checked_at_the_start() {
    let oz = trip("Oz", "Oz").to_string();
    let (agent, model) = scripted_agent([&*oz, &*oz, &*oz]);
    let agent = agent.output::<Trip>().output_validator(have_stations {});
    assert_contains(
        &failure(&agent, "A trip.").await,
        "tool `have_stations` of agent `agent` takes managed",
    );
    assert!(model.requests().is_empty(), "nothing was paid");
    let launch = agent.launch().manage(Stations(Vec::new()));
    let error = format!("{:?}", launch.run("A trip.").await.unwrap_err());
    assert_contains(&error, "in 3 attempts: `Oz` has no station");
}

#[tokio::test]
async fn f44_4_a_validator_of_another_type_is_a_mistake_of_the_program() {
    let (agent, _) = scripted_agent([r#"{"number": 3}"#]);
    let agent = agent.output::<Ticket>().output_validator(leads_away {});
    let error = failure(&agent, "A ticket.").await;
    assert_contains(
        &error,
        "validator `leads_away` does not take the answers of agent `agent`",
    );
    let (agent, _) = scripted_agent(["hello"]);
    let error = failure(&agent.output_validator(leads_away {}), "?").await;
    assert_contains(&error, "add `.output::<T>()`");
}

#[tokio::test]
async fn f44_4_a_validator_checks_the_result_of_a_task() {
    let model = ScriptedModel::new([
        Reply::call("planner", json!({ "request": "a trip" })),
        Reply::call("finish_task", trip("Ghent", "Ghent")),
        Reply::call("finish_task", trip("Ghent", "Bruges")),
        "Go to Bruges.".into(),
    ]);
    let planner = Agent::named("planner")
        .mode(Mode::Task)
        .output::<Trip>()
        .output_validator(leads_away {});
    let talk = Agent::new(model)
        .sub_agent(planner)
        .run("A trip.")
        .await
        .unwrap();
    assert_eq!(talk.answer(), "Go to Bruges.");
    let outputs: Vec<&Value> = talk
        .events
        .iter()
        .filter_map(|event| event.output.as_ref())
        .collect();
    assert_eq!(outputs, [&trip("Ghent", "Bruges")]);
}
