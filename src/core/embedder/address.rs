//! The address of an embedder: scheme, host, port and path, without credentials, so that it can be logged.

use std::fmt;
use std::net::IpAddr;

/// An address such as `http://127.0.0.1:11434/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Checks an address.
    ///
    /// # Errors
    /// The rule that it breaks, as the end of a sentence.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().trim_end_matches('/');
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let rest = rest.ok_or(RULE)?;
        if rest.contains('@') {
            return Err("it must not contain a user or password; set embedding.api_key_file");
        }
        let (host, port) = split(rest);
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = match inner {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)),
        };
        let is_plain = rest.chars().all(|c| c.is_ascii_graphic() && !"?#\"<>\\^`{|}".contains(c));
        (is_port && is_host && is_plain).then(|| Self(text.to_owned())).ok_or(RULE)
    }

    /// Whether what is sent there can be read on the way: it leaves this machine, without TLS.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        let Some(rest) = self.0.strip_prefix("http://") else { return false };
        let host = split(rest).0.trim_start_matches('[').trim_end_matches(']');
        let is_own = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        !is_own
    }

    /// Whether it uses TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.0.starts_with("https://")
    }
}

const RULE: &str = "it must be the base address of an API, such as http://127.0.0.1:11434/v1, without ? or #";

/// Host and port of an address without its scheme.
fn split(rest: &str) -> (&str, Option<&str>) {
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_base_without_credentials() {
        for (text, shown) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            (" https://api.openai.com/v1/ ", "https://api.openai.com/v1"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown);
        }
        for text in ["", "localhost:11434", "ftp://x", "http://", "http://a:0", "http://a:x", "http://a b/v1"]
        {
            assert_eq!(Address::parse(text), Err(RULE), "{text}");
        }
        assert_eq!(Address::parse("https://a/v1?key=x"), Err(RULE));
        assert!(Address::parse("https://me:secret@a/v1").unwrap_err().contains("api_key_file"));
    }

    #[test]
    fn only_unencrypted_addresses_of_other_machines_are_exposed() {
        let is_exposed = |text: &str| Address::parse(text).unwrap().is_exposed();
        for own in ["http://localhost:1/v1", "http://127.8.0.1", "http://[::1]:1", "https://example.org"] {
            assert!(!is_exposed(own), "{own}");
        }
        for other in ["http://10.0.0.1/v1", "http://localhost.example.org", "http://[2001:db8::1]:1"] {
            assert!(is_exposed(other), "{other}");
        }
    }
}
