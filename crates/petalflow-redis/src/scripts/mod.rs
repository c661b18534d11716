//! The scripts. Each call of the store is one script. The server runs a script without other commands in between, and stores
//! either all of its changes or none.
//!
//! A script is sent by its hash, and in full only if the server does not know it yet.
//!
//! A script that changes a thread checks first that its keys have the right types and contents: the server does not undo what a
//! script has done before it failed. An error that begins with `DAMAGED` says what is damaged.

use std::sync::LazyLock;

use redis::Script;

macro_rules! scripts {
    ($($name:ident = $file:literal;)*) => {
        $(pub(super) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(concat!(include_str!("damage.lua"), include_str!($file))));)*
    };
}

scripts! {
    APPEND = "append.lua";
    WRITE = "write.lua";
    READ = "read.lua";
    WRITES = "writes.lua";
    HISTORY = "history.lua";
    THREADS = "threads.lua";
    NAMESPACES = "namespaces.lua";
    SET_STATUS = "set_status.lua";
    SET_LABELS = "set_labels.lua";
    PRUNE = "prune.lua";
    DELETE = "delete.lua";
    CLAIM = "claim.lua";
    RELEASE = "release.lua";
    LAYOUT = "layout.lua";
}
