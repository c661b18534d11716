//! The errors of a memory as responses.

use axum::http::StatusCode;
use petalflow_memory::MemoryError;

use crate::refusal::Refusal;

pub(super) fn refused(error: &MemoryError) -> Refusal {
    let text = error.to_string();
    match error {
        MemoryError::Unavailable(_) | MemoryError::Embedding(_) => Refusal::busy(text),
        MemoryError::Refused(_) => Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text),
        MemoryError::NoVectors => Refusal::new(
            StatusCode::CONFLICT,
            "the memory of this server has no vector search: list its entries with a `filter`",
        ),
        _ => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text),
    }
}
