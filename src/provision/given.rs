//! A server given in the settings. Nothing is contacted here: the address is checked, so that a password is never sent
//! unencrypted or to an unverified server; the store makes the connection and reports its errors.
//!
//! Unencrypted Bolt is allowed on loopback, which is not observable from outside. Everywhere else verified TLS is
//! required, unless `insecure` states that the network itself is trusted.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use secrecy::SecretString;

use super::{Config, Endpoint, Error, Origin};

/// Greatest size of the file of a secret, bytes.
const SECRET_FILE_MAX: u64 = 4_096;
/// The default port of Bolt.
const BOLT_PORT: u16 = 7687;

/// Checks the given address and adds user name, password and database.
pub(super) fn endpoint(config: &Config, uri: &str) -> Result<Endpoint, Error> {
    let address = Address::parse(uri)?;
    if !config.insecure {
        address.safe()?;
    }
    let uri = address.shown();
    let password = password(config)?.ok_or_else(|| Error::NoPassword { uri: uri.clone() })?;
    Ok(Endpoint {
        uri,
        username: config.username.clone(),
        password,
        database: config.database.clone(),
        http: None,
        origin: Origin::Given,
        home: None,
    })
}

/// The password from the settings; a direct value takes precedence over the file.
fn password(config: &Config) -> Result<Option<SecretString>, Error> {
    let Some(path) = config.password_file.as_ref().filter(|_| config.password.is_none()) else {
        return Ok(config.password.clone());
    };
    secret_in(path).map(Some).map_err(|why| Error::PasswordFile { path: path.to_owned(), why })
}

/// The secret in a file, such as a password or a key: its first line.
///
/// # Errors
/// The reason, without the content.
pub fn secret_in(path: &Path) -> Result<SecretString, String> {
    let unread = |e: std::io::Error| e.to_string();
    // A pipe could block, and /dev/zero never ends.
    let found = std::fs::metadata(path).map_err(unread)?;
    if !found.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unread)?;
    file.take(SECRET_FILE_MAX + 1).read_to_string(&mut text).map_err(unread)?;
    if u64::try_from(text.len()).is_ok_and(|bytes| bytes > SECRET_FILE_MAX) {
        return Err(format!("it has more than {SECRET_FILE_MAX} bytes"));
    }
    if found.permissions().mode() & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "other users can read the file of a secret; run: chmod 600");
    }
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned().into()),
        _ => Err("its first line is empty".to_owned()),
    }
}

/// A parsed Neo4j address.
#[derive(Debug, PartialEq, Eq)]
struct Address<'a> {
    scheme: &'a str,
    host: &'a str,
    port: u16,
    query: &'a str,
}

impl<'a> Address<'a> {
    fn parse(uri: &'a str) -> Result<Self, Error> {
        let (scheme, rest) = uri.split_once("://").ok_or_else(|| refused(uri, "it has no scheme"))?;
        if !matches!(scheme, "bolt" | "bolt+s" | "bolt+ssc" | "neo4j" | "neo4j+s" | "neo4j+ssc") {
            let why = format!("\"{scheme}\" is not one of bolt, bolt+s, bolt+ssc, neo4j, neo4j+s, neo4j+ssc");
            return Err(refused(uri, why));
        }
        if rest.contains('@') {
            return Err(refused(
                uri,
                "it contains a user name, and addresses are logged; set NEO4J_USERNAME and NEO4J_PASSWORD",
            ));
        }
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        if authority.contains('/') {
            return Err(refused(uri, "it has a path; set NEO4J_DATABASE to name the database"));
        }
        let (host, port) =
            host_and_port(authority).ok_or_else(|| refused(uri, "its host or port is not valid"))?;
        Ok(Self { scheme, host, port, query })
    }

    /// Refuses an address that would expose data or password to the network.
    fn safe(&self) -> Result<(), Error> {
        if self.loopback() || self.scheme.ends_with("+s") {
            return Ok(());
        }
        let (why, instead) = match self.scheme {
            "bolt" => ("data and password would cross the network unencrypted", "bolt+s"),
            "neo4j" => ("data and password would cross the network unencrypted", "neo4j+s"),
            "bolt+ssc" => ("the server's certificate would not be verified", "bolt+s"),
            _ => ("the server's certificate would not be verified", "neo4j+s"),
        };
        Err(Error::Insecure { uri: self.shown(), why, instead })
    }

    /// Whether the host is this machine, by loopback address or as `localhost`.
    fn loopback(&self) -> bool {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    fn shown(&self) -> String {
        let Self { scheme, host, port, query } = self;
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        format!("{scheme}://{host}:{port}{query}")
    }
}

/// Host (IPv6 in brackets) and port, 7687 by default; `None` if either is malformed.
fn host_and_port(authority: &str) -> Option<(&str, u16)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok().filter(|port| *port != 0)?),
        _ => (authority, BOLT_PORT),
    };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let sound = match inner {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)),
    };
    sound.then_some((host, port))
}

fn refused(uri: &str, why: impl Into<String>) -> Error {
    Error::Uri { uri: shown(uri), why: why.into() }
}

/// An address for display: without its user part.
pub(super) fn shown(uri: &str) -> String {
    match (uri.split_once("://"), uri.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        _ => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn check(uri: &str) -> Result<String, String> {
        let address = Address::parse(uri).map_err(|e| e.to_string())?;
        address.safe().map_err(|e| e.to_string())?;
        Ok(address.shown())
    }

    #[test]
    fn loopback_may_be_unencrypted_and_the_port_is_filled_in() {
        assert_eq!(check("bolt://127.0.0.1").unwrap(), "bolt://127.0.0.1:7687");
        assert_eq!(check("neo4j://localhost:9000/").unwrap(), "neo4j://localhost:9000");
        assert_eq!(check("bolt://[::1]:7688").unwrap(), "bolt://[::1]:7688");
        assert_eq!(check("bolt+ssc://127.8.0.1").unwrap(), "bolt+ssc://127.8.0.1:7687");
    }

    #[test]
    fn beyond_loopback_only_verified_tls_passes() {
        assert_eq!(
            check("neo4j+s://x.example.org?policy=eu").unwrap(),
            "neo4j+s://x.example.org:7687?policy=eu"
        );
        for (uri, word) in [
            ("bolt://db.example.org", "unencrypted"),
            ("neo4j://10.0.0.1", "unencrypted"),
            ("bolt+ssc://db.example.org", "not be verified"),
            ("neo4j+ssc://[2001:db8::1]:7687", "not be verified"),
            ("bolt://localhost.example.org", "unencrypted"),
            ("bolt://127.0.0.1.example.org", "unencrypted"),
        ] {
            let said = check(uri).unwrap_err();
            assert!(said.contains(word) && said.contains("--insecure"), "{uri}: {said}");
        }
    }

    #[test]
    fn a_password_file_is_a_small_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let read = |path: &Path| secret_in(path).map(|word| word.expose_secret().to_owned());
        let path = folder.path().join("password");
        let mut all = "word\n".to_owned();
        std::fs::write(&path, &all).unwrap();
        assert_eq!(read(&path).unwrap(), "word");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link).unwrap(), "word", "secrets are often mounted as links");
        all.push_str(&"x".repeat(4_096));
        std::fs::write(&path, &all).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("more than 4096 bytes"));
        for odd in ["/dev/zero", "/dev/null", "/"] {
            let said = read(Path::new(odd)).unwrap_err().to_string();
            assert!(said.contains("not a regular file"), "{odd}: {said}");
        }
    }

    #[test]
    fn unusable_addresses_are_named_without_their_password() {
        for uri in [
            "127.0.0.1:7687",
            "http://127.0.0.1:7474",
            "bolt://",
            "bolt://h:0",
            "bolt://h:99999",
            "bolt://a b",
            "bolt://h/db",
            "bolt://[zz]",
        ] {
            assert!(check(uri).is_err(), "{uri} passed");
        }
        for uri in [
            "bolt://neo4j:s3cret@127.0.0.1",
            "bolt://neo4j:s3@cret@127.0.0.1",
            "bolt://neo4j:1?s3cret@h",
            "neo4j:s3cret@127.0.0.1",
        ] {
            let said = check(uri).unwrap_err();
            assert!(!said.contains("cret") && !said.contains("s3"), "{said}");
        }
    }
}
