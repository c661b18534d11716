//! A thread, its checkpoints, and its history.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse;
use petalflow::thread::HistoryQuery;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::request;
use crate::served::no_thread;
use crate::server::Inner;

/// What is known of a thread.
pub(crate) async fn show(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let flow = server.reader(&thread).await?;
    let created = server.created_elsewhere(&thread);
    let (view, created) = tokio::try_join!(flow.view(&thread, None), created)?;
    let mut view = view.ok_or_else(no_thread)?;
    if let Some(created) = created {
        view["created_ms"] = created.into();
    }
    Ok(Json(view))
}

/// The thread at a checkpoint.
pub(crate) async fn checkpoint(
    State(server): State<Arc<Inner>>,
    Path((thread, checkpoint)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let flow = server.reader(&thread).await?;
    let checkpoint = number(&checkpoint)?;
    let view = flow.view(&thread, Some(checkpoint)).await?;
    view.map(Json).ok_or_else(no_thread)
}

fn number(text: &str) -> Result<u64, Refusal> {
    text.parse().map_err(|_| {
        let text = format!("`{text}` is no number of a checkpoint");
        Refusal::new(StatusCode::BAD_REQUEST, text)
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Query {
    before: Option<u64>,
    limit: Option<usize>,
}

/// A page of the checkpoints of a thread, newest first.
pub(crate) async fn history(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    uri: Uri,
) -> Result<Json<Value>, Refusal> {
    let query: Query = request::query(&uri)?;
    let flow = server.reader(&thread).await?;
    if server.info(&thread).await?.is_none() {
        return Err(no_thread());
    }
    let limit = request::page_size(query.limit);
    let page = HistoryQuery::all().limit(limit);
    let page = match query.before {
        Some(before) => page.before(before),
        None => page,
    };
    let checkpoints = flow.history(&thread, page).await?;
    let next = checkpoints.get(limit - 1).map(|last| last.checkpoint);
    Ok(Json(json!({ "checkpoints": checkpoints, "next": next })))
}

/// The thread as one file, which a test replays.
pub(crate) async fn export(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
) -> Result<impl IntoResponse, Refusal> {
    let flow = server.reader(&thread).await?;
    let file = flow.export(&thread).await?;
    let name = file_name(&thread);
    let headers = [
        (CONTENT_TYPE, "application/json".to_string()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}.thread.json\""),
        ),
    ];
    Ok((headers, format!("{file}\n")))
}

/// A name for the file of a thread that every file system takes.
fn file_name(thread: &str) -> String {
    let letters = thread.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || "-_".contains(letter) => letter,
        _ => '_',
    });
    letters.take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f44_the_name_of_a_file_has_no_special_character() {
        assert_eq!(file_name("refunds:ann"), "refunds_ann");
        assert_eq!(file_name("../a\"\r\nb ü"), "___a___b__");
        assert_eq!(file_name(&"x".repeat(300)).len(), 100);
    }
}
