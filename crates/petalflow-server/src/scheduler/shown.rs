//! Schedules as clients see them, and who sees them.

use axum::extract::Request;
use serde_json::Value;

use crate::access;
use crate::refusal::Refusal;
use crate::schedule::ReadSchedule;
use crate::server::Inner;

/// A schedule with its next times.
pub(super) async fn view(server: &Inner, schedule: &ReadSchedule) -> Result<Value, Refusal> {
    let records = &server.settings.schedules.records;
    let now = records.now().await?;
    let record = records.load(schedule.schedule.name(), now).await?;
    Ok(schedule.view(now, &record))
}

/// The threads of schedules belong to no user.
pub(super) fn sees_all(request: &Request) -> Result<(), Refusal> {
    access::must_see_all(request, "schedules")
}
