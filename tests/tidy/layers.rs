//! A module uses only modules that stand before it in the table.

use std::collections::BTreeSet;

use crate::{report, rules, source};

#[test]
fn modules_use_only_lower_ones() {
    let mut errors = Vec::new();
    let mut unneeded: BTreeSet<(&str, &str, &str)> =
        rules::KNOWN_UPWARD_USES.iter().copied().collect();
    for (package, source) in source::crates() {
        let Some((_, order)) = rules::MODULES.iter().find(|(name, _)| name == package) else {
            continue;
        };
        let rank = |module: &str| order.iter().position(|name| *name == module);
        let modules: BTreeSet<&str> = source
            .modules
            .iter()
            .filter_map(|module| module.top())
            .collect();
        errors.extend(modules.iter().filter(|module| rank(module).is_none()).map(|module| {
            format!("{package}: `{module}` has no place among the layers: add it to `MODULES` in tests/tidy/rules.rs, above all that it uses")
        }));
        errors.extend(order.iter().filter(|module| !modules.contains(*module)).map(|module| {
            format!("{package}: there is no module `{module}`: delete it from `MODULES` in tests/tidy/rules.rs")
        }));
        for one in source.uses() {
            let (from, to) = (&source.modules[one.from], &source.modules[one.to]);
            let (Some(lower), Some(higher)) = (from.top(), to.top()) else {
                continue;
            };
            if rank(lower) >= rank(higher) {
                continue;
            }
            if let Some(known) = rules::KNOWN_UPWARD_USES
                .iter()
                .find(|known| **known == (&**package, lower, higher))
            {
                unneeded.remove(known);
                continue;
            }
            errors.push(format!(
                "{}:{}: module `{lower}` uses `{higher}`, which is above it in tests/tidy/rules.rs: move what it needs of `{}` down to `{lower}` or below, or let `{higher}` hand it over",
                from.file.display(),
                one.line,
                to.path.join("::"),
            ));
        }
    }
    errors.extend(unneeded.iter().map(|(package, from, to)| {
        format!("{package}: `{from}` no longer uses `{to}`: delete the pair from `KNOWN_UPWARD_USES` in tests/tidy/rules.rs")
    }));
    report(&errors);
}
