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
    APPEND = ("damage.lua", "fence.lua", "thread.lua", "changes.lua") "append.lua";
    WRITE = ("damage.lua", "fence.lua", "thread.lua", "changes.lua") "write.lua";
    APPLY = ("damage.lua", "fence.lua", "thread.lua", "changes.lua") "apply.lua";
    READ = ("damage.lua", "thread.lua") "read.lua";
    WRITES = ("damage.lua", "thread.lua") "writes.lua";
    HISTORY = ("damage.lua", "thread.lua") "history.lua";
    NAMESPACES = ("damage.lua", "thread.lua") "namespaces.lua";
    PRUNE = ("damage.lua", "fence.lua", "thread.lua") "prune.lua";
    THREADS = ("damage.lua") "threads.lua";
    SET_STATUS = ("damage.lua", "fence.lua") "set_status.lua";
    SET_LABELS = ("damage.lua", "fence.lua") "set_labels.lua";
    DELETE = ("damage.lua", "fence.lua") "delete.lua";
    CLAIM = ("damage.lua") "claim.lua";
    CONFIRM = ("damage.lua") "confirm.lua";
    RELEASE = ("damage.lua") "release.lua";
    COUNT = ("damage.lua") "count.lua";
    LAYOUT = ("damage.lua") "layout.lua";
    NOW = () "now.lua";
}

#[cfg(feature = "events")]
scripts! {
    PUBLISH = () "publish.lua";
}
