//! Nodes take a memory as a managed value.

use petalflow::prelude::*;
use petalflow_memory::{InMemory, Memory, MemoryError, VectorIndex};

use super::vectors::embed_letters;

#[state]
struct Chat {
    #[key(input)]
    user: String,
    reply: String,
}

#[node(Chat)]
async fn greet(user: &str, memory: Managed<Memory>) -> petalflow::Result<ChatReply> {
    let own = memory.within(["users", user]);
    let visits = own.get_as::<u32>("visits").await?.unwrap_or(0) + 1;
    own.put("visits", visits).await?;
    Ok(ChatReply(format!("{user}: {visits}")))
}

flow!(Greet(Chat) { greet });

/// A node may also ask for the very backend.
#[node(Chat)]
async fn recall(
    user: &str,
    memory: Managed<VectorIndex<InMemory, ByLetters>>,
) -> petalflow::Result<ChatReply> {
    let near = petalflow_memory::VectorMemory::search(
        &*memory,
        user,
        petalflow_memory::Query::new().limit(1),
    );
    let near = near.await?;
    Ok(ChatReply(
        near.first()
            .map_or_else(String::new, |near| near.entry.key.clone()),
    ))
}

type ByLetters = fn(Vec<String>) -> std::future::Ready<Result<Vec<Vec<f32>>, petalflow::BoxError>>;

flow!(Recall(Chat) { recall });

#[tokio::test]
async fn runs_remember_what_others_learned() {
    let launch = Greet::new().manage(Memory::new(InMemory::new()));
    for expected in ["ann: 1", "ann: 2"] {
        let chat = launch
            .clone()
            .run("ann".to_string())
            .await
            .expect("it runs");
        assert_eq!(chat.reply, expected);
    }
    let chat = launch.run("bo".to_string()).await.expect("it runs");
    assert_eq!(chat.reply, "bo: 1", "users are apart");
    let error = Greet::run("ann".to_string())
        .await
        .err()
        .expect("no memory");
    assert!(error.to_string().contains("Memory"), "{error}");
}

#[tokio::test]
async fn a_node_may_take_the_backend_itself() {
    let backend = InMemory::new();
    let memory = Memory::new(backend.clone());
    memory.put("a", "aaa").await.expect("it is written");
    memory.put("b", "bbb").await.expect("it is written");
    let embedded = VectorIndex::new(backend, embed_letters as ByLetters);
    let chat = Recall::new().manage(embedded).run("ab b".to_string()).await;
    assert_eq!(chat.expect("it runs").reply, "b");
    let error = memory.search("b", 1).await.expect_err("it has no vectors");
    assert!(matches!(error, MemoryError::NoVectors), "{error}");
}
