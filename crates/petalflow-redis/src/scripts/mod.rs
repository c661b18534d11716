//! The scripts. Each call of the store is one script. The server runs a script without other commands in between, and stores
//! either all of its changes or none.
//!
//! A script is sent by its hash, and in full only if the server does not know it yet.

use std::sync::LazyLock;

use redis::Script;

macro_rules! scripts {
    ($($name:ident = $file:literal;)*) => {
        $(pub(super) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(include_str!($file)));)*
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
