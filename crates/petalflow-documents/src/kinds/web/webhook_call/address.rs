//! The rule for addresses that may be called: public ones only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use petalflow::BoxError;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Whether the host is a name, or a public address. A name is checked when it is resolved.
pub(super) fn is_public_host(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    literal.parse().map_or(true, is_public)
}

/// A resolver that refuses names with an address in a private network.
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses = only_public(name.as_str(), found.collect())?;
            // The client connects to one of these, and does not resolve the name again.
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// The addresses of a name. One private address is enough to refuse: otherwise the order of the answers would decide.
fn only_public(name: &str, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, BoxError> {
    if addresses.iter().all(|address| is_public(address.ip())) {
        return Ok(addresses);
    }
    let problem = format!("`{name}` is in a private network: set `allow_private` to call it");
    Err(problem.into())
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        // Shared by a provider's customers, protocol assignments, benchmarks, reserved.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        // Relays from IPv6 to IPv4.
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // IPv4 in IPv6: mapped, translated, and 6to4.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // Documentation.
        [0x2001, 0xdb8, ..] => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Protocol assignments, among them Teredo, which has an IPv4 address in it.
        [0x2001, second, ..] if second < 0x200 => false,
        // Only these are assigned to public networks.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_not_public() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:db8::1",
            "192.88.99.1",
            "2001:0:7f00:1::",
            "2001:2::1",
            "3fff::1",
            "64:ff9b:1::1",
        ] {
            assert!(
                !is_public(address.parse().expect("an address")),
                "{address}"
            );
        }
        for address in [
            "8.8.8.8",
            "93.184.216.34",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn a_name_with_one_private_address_is_refused() {
        let all = |texts: &[&str]| -> Vec<SocketAddr> {
            let addresses = texts.iter().map(|text| text.parse().expect("an address"));
            addresses.collect()
        };
        let public = all(&["8.8.8.8:0", "[2606:4700::1111]:0"]);
        assert_eq!(only_public("a.example", public.clone()).ok(), Some(public));
        for mixed in [
            all(&["8.8.8.8:0", "10.0.0.1:0"]),
            all(&["[::1]:0", "8.8.8.8:0"]),
        ] {
            let error = only_public("a.example", mixed).expect_err("one is private");
            assert!(
                error
                    .to_string()
                    .starts_with("`a.example` is in a private network")
            );
        }
    }

    #[test]
    fn addresses_in_urls_are_checked_in_all_spellings() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
        ] {
            assert!(!is_public_host(&Url::parse(url).expect("a URL")), "{url}");
        }
        assert!(is_public_host(
            &Url::parse("http://example.com/").expect("a URL")
        ));
    }
}
