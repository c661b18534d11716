//! Gives a command to all threads that meet conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use crate::access::{self, Access};
use crate::bulk::{Command, Given};
use crate::refusal::Refusal;
use crate::request;
use crate::served::Labels;
use crate::server::Inner;
use crate::threads::conditions::{Conditions, checked_flow_ids, wrong};
use crate::threads::labels::is_reserved;
use crate::threads::start::{self, Start, Starter};
use crate::wait;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    command: String,
    /// Those of the command `label`.
    labels: Option<BTreeMap<String, Option<String>>>,
    /// Whether the command is for all threads.
    #[serde(default)]
    all: bool,
}

/// Starts a thread that gives the command, and answers when it is stored, or when it has ended if the client waits for it.
pub(crate) async fn start(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Response, Refusal> {
    let (access, headers) = (access::of(&request), request.headers().clone());
    let conditions = request.uri().query().unwrap_or_default().to_string();
    let body = request::whole(request, server.settings.limits.max_answer_bytes, &server).await?;
    let body: Body = request::parse(&body)?;
    check_conditions(&server, &conditions, body.all)?;
    let given = Given {
        command: command(body, &access)?,
        conditions,
        label: access
            .required()
            .map(|(name, value)| (name.to_string(), value.to_string())),
    };
    let input = json!(given);
    let starter = Starter::of(&server, access, &headers, input.to_string().as_bytes())?;
    let start = Start {
        id: None,
        input: input.into(),
        labels: Labels::new(),
        own_labels: Labels::new(),
        at: None,
    };
    let flow = Arc::clone(&server.settings.bulk.threads);
    let begun = start::begin(Arc::clone(&server), Arc::clone(&flow), start, starter);
    let thread = server.run_detached(begun).await?;
    wait::respond(&server, &*flow, &thread, &headers).await
}

/// Fails if the conditions are wrong, or if there are none and the request does not say that it means all threads.
fn check_conditions(server: &Inner, conditions: &str, all: bool) -> Result<(), Refusal> {
    let read = Conditions::of_query(conditions)?;
    checked_flow_ids(server, &read)?;
    if read.has_page() {
        let text = "a command is for all threads that meet the conditions: send it without `order`, `after` and `limit`";
        return Err(wrong(text.into()));
    }
    match (read.is_empty(), all) {
        (true, false) => Err(wrong(
            "the command has no condition: send conditions, or `\"all\": true` if it is for all threads".into(),
        )),
        (false, true) => Err(wrong(
            "the command has conditions, and is for all threads: send the conditions without `all`".into(),
        )),
        _ => Ok(()),
    }
}

fn command(body: Body, access: &Access) -> Result<Command, Refusal> {
    let unfit = |text: String| Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text));
    let command = match (&*body.command, body.labels) {
        ("label", Some(labels)) if !labels.is_empty() => Command::Label(labels),
        ("label", _) => {
            return unfit("the command `label` has no `labels`: send those to set, and `null` for those to remove".into());
        }
        (other, Some(_)) => {
            return unfit(format!(
                "the command `{other}` has no labels: only `label` has"
            ));
        }
        ("cancel", None) => Command::Cancel,
        ("hold", None) => Command::Hold,
        ("resume", None) => Command::Resume,
        ("delete", None) => Command::Delete,
        (other, None) => {
            return unfit(format!(
                "there is no command `{other}`: there are `cancel`, `hold`, `resume`, `delete` and `label`"
            ));
        }
    };
    if let Command::Label(labels) = &command {
        if let Some(name) = labels.keys().find(|name| is_reserved(name)) {
            return unfit(format!(
                "the label `{name}` cannot be set: the server sets it"
            ));
        }
        if let Some((name, _)) = access.required()
            && labels.contains_key(name)
        {
            return unfit(format!(
                "the label `{name}` cannot be set: it says whose thread it is"
            ));
        }
    }
    Ok(command)
}
