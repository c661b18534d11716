//! One command for all threads that meet conditions. Its progress is the state of a thread of its own, which any process continues.

mod command;
pub(crate) mod http;
mod job;

use std::sync::{Arc, OnceLock, Weak};

use petalflow::checkpoint::Store;

pub(crate) use job::PREFIX;
use job::RunCommand;

use crate::served::{EventLog, ServedFlow, ServedThreads};
use crate::server::Inner;

/// The server whose threads get the commands. It exists after the flow that gives them.
#[derive(Clone, Default)]
pub(crate) struct OfServer(Arc<OnceLock<Weak<Inner>>>);

impl OfServer {
    pub(crate) fn set(&self, server: &Arc<Inner>) {
        // A server is built once.
        let _ = self.0.set(Arc::downgrade(server));
    }

    /// `None` once the server has been dropped.
    fn get(&self) -> Option<Arc<Inner>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

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
