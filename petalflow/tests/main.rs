//! Behaviour of tools. That of flows is tested in the package of the folder `tests`, which also has stores.

mod tools;
