//! The command line of a bench: flags, some with words after them. Flags of `cargo bench` itself are ignored.

#![allow(dead_code, reason = "each program of this folder uses its own part")]

pub(crate) struct Arguments(Vec<String>);

impl Arguments {
    pub(crate) fn of_process() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.0.iter().any(|word| word == flag)
    }

    /// The words after each occurrence of a flag.
    pub(crate) fn each<'a>(&'a self, flag: &'a str) -> impl Iterator<Item = &'a [String]> {
        self.0.iter().enumerate().filter(move |(_, word)| *word == flag).map(|(at, _)| &self.0[at + 1..])
    }

    /// The word after a flag.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn value<'a>(&'a self, flag: &'a str) -> Option<&'a str> {
        let words = self.each(flag).next()?;
        Some(words.first().unwrap_or_else(|| panic!("{flag} needs a value")))
    }

    /// The whole number after a flag.
    ///
    /// # Panics
    /// If it is none.
    pub(crate) fn number(&self, flag: &str, default: u64) -> u64 {
        self.value(flag).map_or(default, |text| whole(flag, text))
    }
}

/// A whole number that is the value of a flag, or a part of it.
///
/// # Panics
/// If it is none.
pub(crate) fn whole(flag: &str, text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{flag}: {text} is not a whole number"))
}
