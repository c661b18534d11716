//! Whether the server may remove keys when its memory is full.

/// What is wrong with the policy of a server that says this of its memory. `None` if it removes nothing.
pub(crate) fn notice(memory: &str) -> Option<String> {
    let field = |name: &str| {
        let mut lines = memory.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value.trim())
    };
    let policy = field("maxmemory_policy")?;
    let limit = field("maxmemory").unwrap_or("0");
    let removed = match policy {
        "noeviction" => return None,
        // Only the keys that expire.
        policy if policy.starts_with("volatile-") => "claims and events",
        _ => "threads",
    };
    let when = if limit == "0" {
        "if a limit `maxmemory` is set"
    } else {
        "when its memory is full"
    };
    Some(format!(
        "the Redis server has `maxmemory-policy {policy}`, so it removes {removed} {when}: set `maxmemory-policy noeviction`"
    ))
}

#[cfg(test)]
mod tests {
    use super::notice;

    #[test]
    fn policies_that_remove_keys_are_told() {
        let said = |limit: &str, policy: &str| {
            notice(&format!(
                "# Memory\r\nmaxmemory:{limit}\r\nmaxmemory_human:0B\r\nmaxmemory_policy:{policy}\r\n"
            ))
        };
        assert_eq!(said("0", "noeviction"), None);
        assert_eq!(said("1000", "noeviction"), None);
        assert_eq!(notice(""), None);
        for (limit, policy, expected) in [
            (
                "1000",
                "allkeys-lru",
                "it removes threads when its memory is full",
            ),
            (
                "0",
                "allkeys-lfu",
                "it removes threads if a limit `maxmemory` is set",
            ),
            (
                "1000",
                "volatile-ttl",
                "it removes claims and events when its memory is full",
            ),
        ] {
            let said = said(limit, policy).expect("it may remove keys");
            assert!(said.contains(expected), "{said}");
            assert!(said.contains(policy), "{said}");
        }
    }
}
