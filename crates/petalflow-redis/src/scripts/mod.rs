//! The scripts. Each call of the store is one script. The server runs a script without other commands in between, and stores
//! either all of its changes or none.
//!
//! A script is sent by its hash, and in full only if the server does not know it yet.
//!
//! A script that changes a thread checks first that its keys have the right types and contents: the server does not undo what a
//! script has done before it failed. An error that begins with `DAMAGED` says what is damaged.

use std::sync::LazyLock;

use redis::Script;

/// Makes a script of the files in parentheses, which its own file uses, and of that file.
macro_rules! scripts {
    ($($name:ident = ($($before:literal),*) $file:literal;)*) => {
        $(pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(concat!($(include_str!($before),)* include_str!($file)))
        });)*
    };
}

scripts! {
    APPEND = ("damage.lua", "shard.lua", "fence.lua", "thread.lua", "changes.lua") "append.lua";
    WRITE = ("damage.lua", "shard.lua", "fence.lua", "thread.lua", "changes.lua") "write.lua";
    APPLY = ("damage.lua", "shard.lua", "fence.lua", "thread.lua", "changes.lua") "apply.lua";
    READ = ("damage.lua", "shard.lua", "thread.lua") "read.lua";
    WRITES = ("damage.lua", "shard.lua", "thread.lua") "writes.lua";
    HISTORY = ("damage.lua", "shard.lua", "thread.lua") "history.lua";
    NAMESPACES = ("damage.lua", "shard.lua", "thread.lua") "namespaces.lua";
    PRUNE = ("damage.lua", "shard.lua", "fence.lua", "thread.lua", "changes.lua") "prune.lua";
    THREADS = ("damage.lua", "shard.lua") "threads.lua";
    SET_STATUS = ("damage.lua", "shard.lua", "fence.lua", "describe.lua") "set_status.lua";
    SET_LABELS = ("damage.lua", "shard.lua", "fence.lua", "describe.lua") "set_labels.lua";
    DELETE = ("damage.lua", "shard.lua", "fence.lua") "delete.lua";
    CLAIM = ("damage.lua") "claim.lua";
    CONFIRM = ("damage.lua") "confirm.lua";
    RELEASE = ("damage.lua") "release.lua";
    COUNT = ("damage.lua", "shard.lua") "count.lua";
    LAYOUT = ("damage.lua") "layout.lua";
    NOW = () "now.lua";
}

#[cfg(feature = "events")]
scripts! {
    PUBLISH = () "publish.lua";
}
