//! The rules of the program, and those that clients have set, which are in the store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::Store;
use petalflow::prelude::*;

use super::rule::ThreadRetention;
use crate::definitions::{Definitions, Stored, keep};
use crate::refusal::Refusal;
use crate::repeated::Repeated;

/// What the ids of all rules begin with.
const PREFIX: &str = "petalflow.retention:";

/// How often threads are looked for that are not kept.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

flow!(RetentionRule(Stored) { keep });

/// Which threads of which flows are kept.
pub(crate) struct Rules {
    of_program: BTreeMap<String, ThreadRetention>,
    of_clients: Definitions<RetentionRule>,
    /// When threads are looked for that are not kept.
    pub(crate) sweep: Repeated,
}

/// The rule of a flow, and who has set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) retention: ThreadRetention,
    pub(crate) source: &'static str,
}

impl Rules {
    pub(crate) fn new(
        of_program: BTreeMap<String, ThreadRetention>,
        store: &Arc<dyn Store>,
    ) -> Self {
        Rules {
            of_program,
            of_clients: Definitions::new(RetentionRule::new(), PREFIX, store),
            sweep: Repeated::every(SWEEP_INTERVAL),
        }
    }

    /// The rule of a flow. What a client has set comes before what the program says.
    pub(crate) async fn of(&self, flow: &str) -> Result<Rule, Refusal> {
        if let Some(retention) = self.of_clients.find(flow).await? {
            return Ok(Rule {
                retention,
                source: "client",
            });
        }
        Ok(self.of_program.get(flow).map_or(
            Rule {
                retention: ThreadRetention::default(),
                source: "default",
            },
            |retention| Rule {
                retention: *retention,
                source: "program",
            },
        ))
    }

    /// The flows with rules.
    pub(crate) async fn flows(&self) -> Result<Vec<String>, Refusal> {
        let mut flows = self.of_clients.names().await?;
        flows.extend(self.of_program.keys().cloned());
        flows.sort();
        flows.dedup();
        Ok(flows)
    }

    /// Sets the rule of a flow, for all processes with the store.
    pub(crate) async fn set(&self, flow: &str, retention: ThreadRetention) -> Result<(), Refusal> {
        self.of_clients.set(flow, &retention).await?;
        self.sweep.do_next();
        Ok(())
    }

    /// Goes back to what the program says. Nothing happens if no client has set a rule.
    pub(crate) async fn reset(&self, flow: &str) -> Result<(), Refusal> {
        self.of_clients.delete(flow).await?;
        self.sweep.do_next();
        Ok(())
    }
}
