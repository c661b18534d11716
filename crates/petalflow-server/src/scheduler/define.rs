//! Schedules that clients define, change and delete, and planned times that are begun later.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shown::{sees_all, view};
use crate::access;
use crate::keyed_request::{Keyed, Of};
use crate::refusal::Refusal;
use crate::request;
use crate::schedule::{Definition, ReadSchedule};
use crate::server::Inner;

/// How many planned times one request may begin.
const MAX_TIMES: usize = 1_000;

/// Defines a schedule, or changes one that a client has defined.
pub(super) async fn define(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    sees_all(&request)?;
    let limit = server.settings.limits.max_input_bytes;
    let definition: Definition = request::json(request, limit, &server).await?;
    let (schedules, flows) = (&server.settings.schedules, &server.settings.flows);
    let is_new = schedules.define(&name, definition, flows).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let schedule = server.schedule(&name).await?;
    Ok((status, Json(view(&server, &schedule).await?)))
}

/// Deletes a schedule that a client has defined.
pub(super) async fn delete(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<StatusCode, Refusal> {
    sees_all(&request)?;
    server.settings.schedules.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    /// The first and the last time, of RFC 3339.
    from: String,
    to: String,
}

/// Begins the threads of the planned times of a range that has passed. A time whose thread exists begins none.
pub(super) async fn backfill(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    sees_all(&request)?;
    let limit = server.settings.limits.max_answer_bytes;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let body = request::whole(request, limit, &server).await?;
    let range: Range = request::parse(&body)?;
    let of = Of::Repeatable {
        about: name.clone(),
    };
    let keyed = Keyed::of(&server, &access, &headers, ("backfill", &body), of)?;
    let of_task = Arc::clone(&server);
    let begun = async move {
        let schedule = of_task.schedule(&name).await?;
        let now = of_task.settings.schedules.records.now().await?;
        let times = planned(&schedule, &range, now)?;
        let mut begun = Vec::new();
        for time in &times {
            begun.extend(of_task.begin_missed(&schedule.schedule, *time).await?);
        }
        Ok(json!({ "threads": begun, "times": times.len() }))
    };
    let begun = Box::pin(server.once(keyed, begun)).await?;
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

/// The planned times of a range, with its ends.
fn planned(
    schedule: &ReadSchedule,
    range: &Range,
    now: Timestamp,
) -> Result<Vec<Timestamp>, Refusal> {
    let (from, to) = (time("from", &range.from)?, time("to", &range.to)?);
    if to > now {
        let text = format!("`to` is later than now, {now}: only times that have passed are begun");
        return Err(unfit(text));
    }
    // The plan has the times after one.
    let before = from.checked_sub(std::time::Duration::from_nanos(1));
    let times = schedule.plan.after(before.unwrap_or(from));
    let times = times.take_while(|time| *time <= to);
    let times: Vec<Timestamp> = times.take(MAX_TIMES + 1).collect();
    if times.len() > MAX_TIMES {
        return Err(unfit(format!(
            "the range has more than {MAX_TIMES} planned times: send several requests with shorter ranges"
        )));
    }
    Ok(times)
}

fn time(name: &str, text: &str) -> Result<Timestamp, Refusal> {
    text.parse().map_err(|_| {
        unfit(format!(
            "`{name}` is `{}`: write a time as RFC 3339 says, such as `2026-12-24T18:00:00Z`",
            text.escape_debug()
        ))
    })
}

fn unfit(text: String) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text)
}
