//! The ids of threads that clients choose. Each caller has ids of its own.

use axum::http::StatusCode;

use crate::access::Access;
use crate::digest::digest;
use crate::refusal::Refusal;
use crate::served::Facts;
use crate::server::{Inner, prefix};

/// The largest number of bytes of the part of an id that a client chooses.
const MAX_ID: usize = 128;

impl Access {
    /// What the ids that the caller chooses begin with, after the name of the flow. No other caller has it, so nobody can take the
    /// id of another caller's thread, or find out that it exists. Empty for a caller that may see all threads.
    fn scope(&self) -> String {
        match self.required() {
            Some((name, value)) => format!("{}:", digest(format!("{name}\0{value}"))),
            None => String::new(),
        }
    }

    /// The part of a thread's id after the name of its flow, as the caller has chosen it.
    #[cfg(feature = "a2a")]
    pub(crate) fn chosen<'a>(&self, own: &'a str) -> &'a str {
        own.strip_prefix(&*self.scope()).unwrap_or(own)
    }
}

impl Inner {
    /// The part of a thread's id after the name of its flow, for an id that the caller chooses. A thread of the caller that the
    /// program has begun with this id keeps it.
    ///
    /// Fails if the text cannot be an id.
    pub(crate) async fn own_id(
        &self,
        access: &Access,
        flow: &Facts,
        id: &str,
    ) -> Result<String, Refusal> {
        check(id)?;
        if access.required().is_none() {
            return Ok(id.to_string());
        }
        let info = self.info(&format!("{}{id}", prefix(flow))).await?;
        let is_of_caller = info.is_some_and(|info| access.allows(&info.labels));
        let scope = if is_of_caller {
            String::new()
        } else {
            access.scope()
        };
        Ok(format!("{scope}{id}"))
    }

    /// The id of the thread of a flow for which the caller chooses this id.
    pub(crate) async fn own_thread(
        &self,
        access: &Access,
        flow: &Facts,
        id: &str,
    ) -> Result<String, Refusal> {
        let own = self.own_id(access, flow, id).await?;
        Ok(format!("{}{own}", prefix(flow)))
    }
}

fn check(id: &str) -> Result<(), Refusal> {
    let is_readable = |c: char| !c.is_control() && c != '/';
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(is_readable) {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!(
                "`{}` cannot be an id: use 1 to {MAX_ID} bytes, without `/` and control characters",
                id.escape_debug()
            ),
        ));
    }
    Ok(())
}
