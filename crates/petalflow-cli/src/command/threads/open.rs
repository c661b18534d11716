//! Finds a thread in its store, and the document that runs it.

use std::path::PathBuf;
use std::sync::Arc;

use petalflow::checkpoint::{Store, StoreError, ThreadInfo, ThreadQuery};
use petalflow_conversations::ConversationFlow;
use petalflow_documents::builder::EnvelopeFlow;
use petalflow_documents::document::GraphDefinition;

#[cfg(feature = "client")]
use super::served::ServedThread;
use crate::command::chat;
use crate::command::run::DOCUMENT_LABEL;
use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::place::PlaceArgs;
use crate::services::ServiceArgs;

/// A thread, and the document that runs it.
#[derive(Debug, clap::Args)]
pub(super) struct ThreadArgs {
    /// The name of the thread
    pub(super) id: String,

    /// The document. The default is the one that the thread was run with
    file: Option<PathBuf>,

    #[command(flatten)]
    pub(super) place: PlaceArgs,
}

impl ThreadArgs {
    /// The thread on its server, if a server is named.
    #[cfg(feature = "client")]
    pub(super) fn served(&self) -> Result<Option<ServedThread<'_>>> {
        let server = self.place.server()?;
        Ok(server.map(|server| ServedThread::new(server, &self.id, &self.place)))
    }

    /// Opens the store and finds the thread in it.
    pub(super) async fn find(&self) -> Result<(Arc<dyn Store>, ThreadInfo)> {
        let store = self.place.store_args().open().await?;
        let query = ThreadQuery {
            prefix: &self.id,
            limit: Some(1),
            ..ThreadQuery::default()
        };
        let found = store
            .threads(query)
            .await
            .map_err(|error| Failure::new(Exit::Thread, error))?;
        // A thread that has this prefix and a longer name comes after it.
        let found = found.into_iter().find(|info| info.id == self.id);
        if let Some(problem) = found.as_ref().and_then(|info| info.damage.clone()) {
            let thread = self.id.clone();
            return Err(Failure::new(
                Exit::Thread,
                StoreError::Damaged { thread, problem },
            ));
        }
        match found.filter(|info| info.checkpoints > 0) {
            Some(info) => Ok((store, info)),
            None => Err(self.place.unknown_thread(&self.id)),
        }
    }

    /// The graph of the document, and the flow that runs it.
    pub(super) fn flow(
        &self,
        info: &ThreadInfo,
        services: &ServiceArgs,
    ) -> Result<(GraphDefinition, EnvelopeFlow)> {
        let file = self.file(info).ok_or_else(|| {
            Failure::new(
                Exit::File,
                format_args!("the document of thread `{}` is not known", self.id),
            )
            .hint("write it after the name of the thread")
        })?;
        let catalog = services.catalog();
        let read = load::read_graph(&file, &catalog)?;
        let graph = read.definition.clone();
        let flow = load::build(read, &services.services(&graph)?)?;
        Ok((graph, flow))
    }

    /// The graph of the document, to read the thread. `None` if the document is not known.
    pub(super) fn flow_to_read(&self, info: &ThreadInfo) -> Result<Option<EnvelopeFlow>> {
        let Some(file) = self.file(info) else {
            return Ok(None);
        };
        let catalog = ServiceArgs::default().catalog();
        let read = load::read_graph(&file, &catalog)?;
        let flow = load::build_without_services(read);
        flow.map(Some)
            .map_err(|problems| Failure::new(Exit::Invalid, problems.join("; ")))
    }

    /// The conversation of the document, to read the thread. `None` if the document is of another kind.
    pub(super) fn conversation_to_read(
        &self,
        info: &ThreadInfo,
    ) -> Result<Option<ConversationFlow>> {
        let Some(path) = self.file(info) else {
            return Ok(None);
        };
        let file = File::read(&path)?;
        if file.kind() != Kind::Conversation {
            return Ok(None);
        }
        let (_, checked) = load::check_conversation(file)?;
        chat::read_only_flow(checked.conversation).map(Some)
    }

    fn file(&self, info: &ThreadInfo) -> Option<PathBuf> {
        let labelled = || info.labels.get(DOCUMENT_LABEL).map(PathBuf::from);
        self.file.clone().or_else(labelled)
    }
}
