//! Runs the cases of a graph or an agent workflow.

use petalflow_documents::document::ReadGraph;
use petalflow_documents::{Envelope, Trace, WireEnvelope};
use petalflow_llm::ScriptedModel;

use super::compare::{self, Difference, difference};
use super::runner::Runner;
use super::suite::Case;
use crate::answers::AnswerArgs;
use crate::drive::{Driver, End};
use crate::events::{View, ViewMode};
use crate::exit::{Exit, Result};
use crate::services::ServiceArgs;
use crate::{load, script};

/// How a case ended.
enum Outcome {
    Finished(Box<Envelope>),
    Failed(String),
}

/// Runs a case in the memory of the process. Returns how its end differs from what the case expects.
pub(super) async fn run_case(
    case: &Case,
    graph: &ReadGraph,
    services: &ServiceArgs,
    runner: &Runner<'_>,
) -> Result<Vec<Difference>> {
    let model = script::model(
        case.replies.clone().into(),
        &format!("replies of {}", case.name),
    )?;
    let envelope = match outcome(case, graph, services, &model, runner).await? {
        Outcome::Failed(message) => return Ok(compare::failure(case, &message)),
        Outcome::Finished(_) if case.fails.is_some() => return Ok(vec![compare::has_not_failed()]),
        Outcome::Finished(envelope) => envelope,
    };
    let found = |path: &String| envelope.get_var_nested(path);
    let expected = case.expect.iter();
    let mut differences: Vec<Difference> = expected
        .filter_map(|(path, expected)| difference(path, Some(expected), found(path)))
        .collect();
    if let Some(golden) = &case.golden {
        let mut wire = serde_json::to_value(WireEnvelope::from(&*envelope)).unwrap_or_default();
        differences.extend(runner.compare_golden(case, golden, wire["vars"].take())?);
    }
    differences.extend(compare::unused_replies(model.remaining()));
    Ok(differences)
}

async fn outcome(
    case: &Case,
    graph: &ReadGraph,
    services: &ServiceArgs,
    model: &ScriptedModel,
    runner: &Runner<'_>,
) -> Result<Outcome> {
    let given = AnswerArgs {
        answers: case.answers.clone(),
        ..AnswerArgs::default()
    };
    given.check(&graph.definition)?;
    let services = services
        .without_models(&graph.definition.needs())
        .any_model(model.clone());
    let flow = load::build(graph.clone(), &services)?;
    let store = petalflow::checkpoint::InMemoryStore::new();
    let launch = runner
        .settings
        .launch(&flow, &graph.definition, runner.token);
    let thread = launch.store(&store).thread(&case.name);
    let mut envelope = Envelope::new();
    envelope.vars.extend(case.input.clone());
    envelope.trace = Trace {
        run_id: case.name.clone(),
        ..Trace::now()
    };
    let mut driver = Driver {
        thread: &thread,
        view: View::new(thread.id(), ViewMode::Quiet),
        answers: given,
        store_options: None,
        may_ask: false,
        options: "",
    };
    let end = driver.drive(thread.run(envelope)).await;
    Ok(match end {
        Ok(End::Finished(envelope)) => match &driver.answers.answers[..] {
            [] => Outcome::Finished(envelope),
            unused => Outcome::Failed(format!(
                "no question needed the answer `{}`",
                unused.join("`, `")
            )),
        },
        Ok(End::Waiting(interrupts)) => {
            let nodes: Vec<String> = interrupts
                .iter()
                .map(|it| format!("`{}`", it.node))
                .collect();
            Outcome::Failed(format!(
                "no answer for {}: add it to `answers`",
                nodes.join(", ")
            ))
        }
        Ok(End::Sleeping(_)) => Outcome::Failed("the run sleeps".into()),
        Err(failure) if failure.exit == Exit::Stopped => return Err(failure),
        Err(failure) => Outcome::Failed(failure.message),
    })
}
