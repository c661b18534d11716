//! One command for all threads that meet conditions. Its progress is the state of a thread of its own, which any process continues.

mod command;
mod commanded;
mod job;

use std::sync::Arc;

use petalflow::checkpoint::Store;

pub(crate) use command::Command;
pub(crate) use commanded::{Commanded, OfServer, Page};
use job::RunCommand;
pub(crate) use job::{Given, PREFIX};

use crate::served::{EventLog, ServedFlow, ServedThreads};

/// The threads that give commands.
pub(crate) struct Bulk {
    pub(crate) threads: Arc<dyn ServedThreads>,
    pub(crate) server: OfServer,
}

impl Bulk {
    pub(crate) fn new(store: &Arc<dyn Store>, log: EventLog) -> Self {
        let server = OfServer::default();
        let mut flow = ServedFlow::reading(RunCommand::new().manage(server.clone()), job::read);
        flow = flow.named(job::NAME);
        flow.forms.state = |job| Ok(job::show(job));
        Bulk {
            threads: Arc::new(flow.with_store(store, log)),
            server,
        }
    }
}
