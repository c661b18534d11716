//! The memory that a server serves.

use std::sync::Arc;

use petalflow_memory::{Memory, Namespace};

use crate::builder::ServerBuilder;
use crate::memory::ServedMemory;

impl ServerBuilder {
    /// Serves a long-term memory at `/memory`, which flows and agents of the server use too: clients list, search, read, write and
    /// delete its entries. Callers who may see all threads see all of it, below the namespace of this handle; others see what
    /// [`memory_of`](Self::memory_of) says. The addresses need [`threads`](Self::threads), which sets their authentication.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_memory::{InMemory, Memory};
    /// use petalflow_server::Server;
    ///
    /// let memory = Memory::new(InMemory::new());
    /// let builder = Server::builder(&InMemoryStore::new()).memory(memory);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        let of_label = self.memory.take().and_then(|served| served.of_label);
        self.memory = Some(ServedMemory { memory, of_label });
        self
    }

    /// Serves a part of the [`memory`](Self::memory) to callers who see only the threads with a label
    /// ([`Access::label`](crate::Access::label)): the namespace that the function returns for the name and the value of the label. Such a
    /// caller sees this namespace as the whole memory. Without this setting the response is 403. It has no effect without a memory.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_memory::{InMemory, Memory};
    /// use petalflow_server::{Access, Server};
    ///
    /// let builder = Server::builder(&InMemoryStore::new())
    ///     .memory(Memory::new(InMemory::new()))
    ///     .access(|_| Access::label("user", "ann"))
    ///     .memory_of(|_label, user| ["users", user].into());
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn memory_of(
        mut self,
        namespace: impl Fn(&str, &str) -> Namespace + Send + Sync + 'static,
    ) -> Self {
        if let Some(served) = &mut self.memory {
            served.of_label = Some(Arc::new(namespace));
        }
        self
    }
}
