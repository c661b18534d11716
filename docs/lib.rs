//! The programs of the guides and of the reference, as tests.
#![cfg(doctest)]

macro_rules! pages {
    ($($name:ident: $file:literal,)*) => {
        $(#[doc = include_str!($file)] pub mod $name {})*
    };
}

pages! {
    agents: "guide/agents.md",
    deployment: "guide/deployment.md",
    errors: "guide/errors.md",
    models: "guide/models.md",
    observability: "guide/observability.md",
    other_systems: "guide/other-systems.md",
    rules: "reference/rules.md",
    testing: "guide/testing.md",
    threads: "guide/threads.md",
    tutorial: "guide/tutorial.md",
    upgrades: "guide/upgrades.md",
}
