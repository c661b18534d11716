//! An evaluation as a program: `cargo run --bin evaluate`. It fails if a case fails.
//!
//! The answers of the model are recorded in a folder, and replayed from then on. Without a model in the environment (see the
//! crate's `choose`), a script answers.
//!
//! ```sh
//! cargo run --bin evaluate -- --cassettes cassettes --junit report.xml
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use petalflow::prelude::*;
use petalflow_agent::Agent;
use petalflow_agent_examples::choose;
use petalflow_eval::{Case, Evaluation, scorer};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use serde_json::json;

/// The weather in a city.
#[tool]
fn weather(city: String) -> String {
    match &*city {
        "Kyoto" => "sunny, 24 degrees".into(),
        _ => "rain, 11 degrees".into(),
    }
}

fn cases() -> [Case; 2] {
    let case = |name: &str, city: &str, wear: &str| {
        Case::new(name).turn(
            format!("What shall I wear in {city}? In one word."),
            |turn| turn.output(wear).call("weather", json!({ "city": city })),
        )
    };
    [
        case("sun", "Kyoto", "sunglasses|hat|t-shirt"),
        case("rain", "Bergen", "umbrella|raincoat"),
    ]
}

/// A script that answers like a model.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        let text = request.messages[0].text();
        let city = if text.contains("Kyoto") {
            "Kyoto"
        } else {
            "Bergen"
        };
        match request.messages.last().map(|message| message.role) {
            Some(Role::Tool) if city == "Kyoto" => Reply::text("sunglasses"),
            Some(Role::Tool) => Reply::text("umbrella"),
            _ => Reply::call("weather", json!({ "city": city })),
        }
    })
}

#[tokio::main]
async fn main() -> petalflow::Result<ExitCode> {
    let (mut cassettes, mut junit) = (None, None);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Long("cassettes") => cassettes = Some(PathBuf::from(arguments.value()?)),
            lexopt::Arg::Long("junit") => junit = Some(PathBuf::from(arguments.value()?)),
            other => return Err(other.unexpected().into()),
        }
    }
    let report = Evaluation::new(cases())
        .name("weather")
        .scorer(scorer::matches())
        .scorer(scorer::calls_in_order())
        .run(|run| {
            let agent = match &cassettes {
                Some(folder) => Agent::new(run.cassette(folder, || Ok(choose(script())?.model))?),
                None => Agent::new(choose(script())?.model),
            };
            Ok(agent
                .tool(weather {})
                .instructions("Ask for the weather before you answer."))
        })
        .await;
    print!("{report}");
    if let Some(file) = junit {
        std::fs::write(file, report.to_junit())?;
    }
    Ok(if report.passed() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
