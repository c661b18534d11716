//! Behaviour of tools and of the reducer of messages. That of flows is tested in the package of the folder `tests`, which
//! also has stores.

mod messages;
mod tools;
