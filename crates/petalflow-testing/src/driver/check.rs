//! Compares what two drivers have stored.

use petalflow::engine::ThreadRecords;
use petalflow::state::Storable;
use petalflow::{BoxError, Flow};

use super::case::{Driver, DriverCase};
use super::local;

/// A driver that has not ended then does not end.
const LONGEST: std::time::Duration = std::time::Duration::from_mins(2);

/// Runs the case with the local driver and with this one.
///
/// # Errors
///
/// A driver failed, or what they have stored differs.
pub(super) async fn check<F: Flow<State: Storable>>(
    case: &DriverCase<F>,
    driver: &impl Driver,
) -> Result<(), BoxError> {
    let expected = local::drive(case).await?;
    let found = tokio::time::timeout(LONGEST, driver.drive(case)).await;
    let found = found.map_err(|_| {
        format!(
            "case `{}`: the driver has not ended after {LONGEST:?}: a pass that does not commit, request, wait or fail is an error",
            case.name
        )
    })??;
    let (status, found_status) = (expected.status()?, found.status()?);
    if status.0 != found_status.0 {
        return Err(format!(
            "case `{}`: the thread is {}, and with the local driver {}",
            case.name, found_status.0, status.0
        )
        .into());
    }
    let (expected, found) = (compared(case, &expected)?, compared(case, &found)?);
    for (one, other) in expected.iter().zip(&found) {
        if one != other {
            return Err(format!(
                    "case `{}`: checkpoint {} of flow `{}` is\n{}\nand with the local driver it is checkpoint {} of flow `{}`\n{}",
                    case.name,
                    other.1,
                    other.0,
                    text(&other.2),
                    one.1,
                    one.0,
                    text(&one.2),
                )
                .into());
        }
    }
    if expected.len() == found.len() {
        return Ok(());
    }
    Err(format!(
        "case `{}`: {} checkpoints were compared, and with the local driver there are {}",
        case.name,
        found.len(),
        expected.len()
    )
    .into())
}

/// The checkpoints that have to be equal.
fn compared<F: Flow>(
    case: &DriverCase<F>,
    records: &ThreadRecords,
) -> Result<Vec<(String, u64, Vec<u8>)>, BoxError> {
    let all = records.checkpoints()?;
    if !case.has_times {
        return Ok(all);
    }
    let is_last = |at: usize| all.get(at + 1).is_none_or(|next| next.0 != all[at].0);
    let last = (0..all.len()).filter(|at| is_last(*at));
    Ok(last.map(|at| all[at].clone()).collect())
}

/// A payload that a person can read.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
