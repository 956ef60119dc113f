//! What a store needs besides its address: credentials and endpoints, from a file or from the
//! environment. Never from the address itself if it can be helped: addresses are seen by others.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use crate::{Error, ErrorKind, Result, blocking};

/// Values by the names that environment variables have. A file lies over the environment.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    file: HashMap<String, String>,
}

impl Settings {
    /// What a file of `NAME=VALUE` lines says.
    pub(crate) async fn read(path: &str) -> Result<Self> {
        let path = path.to_owned();
        blocking::run(move || Self::parse(&text(Path::new(&path))?)).await
    }

    /// Empty lines, and those that begin with `#`, say nothing; a value may stand in quotes.
    fn parse(text: &str) -> Result<Self> {
        let mut file = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = line.strip_prefix("export ").unwrap_or(line);
            // The line itself is not told: it may be a password.
            let Some((name, value)) = line.split_once('=') else {
                let message =
                    format!("line {} of the credentials file is not NAME=VALUE", number + 1);
                return Err(Error::new(ErrorKind::InvalidUrl, message));
            };
            file.insert(name.trim().to_owned(), unquoted(value.trim()).to_owned());
        }
        Ok(Self { file })
    }

    /// The value of a name, unless it is empty or there is none.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        #[expect(clippy::disallowed_methods, reason = "stores have their usual variables")]
        let value = self.file.get(name).cloned().or_else(|| std::env::var(name).ok());
        value.filter(|value| !value.is_empty())
    }

    /// The value of the first of several names that has one.
    pub(crate) fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.value(name))
    }

    /// The values of names that belong together: those of the file if it has any of them, else
    /// those of the environment. A key of one place does not go with a token of the other.
    pub(crate) fn together<const N: usize>(&self, names: [&str; N]) -> [Option<String>; N] {
        let is_of_file = names.iter().any(|name| self.is_in_file(name));
        names.map(|name| self.value(name).filter(|_| !is_of_file || self.is_in_file(name)))
    }

    /// Whether the file has a value for a name.
    pub(crate) fn is_in_file(&self, name: &str) -> bool {
        self.file.get(name).is_some_and(|value| !value.is_empty())
    }

    /// Every name and value, of the file and of the environment.
    pub(crate) fn all(&self) -> impl Iterator<Item = (String, String)> {
        let file = self.file.clone();
        let around = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let mut all: HashMap<String, String> = around.collect();
        all.extend(file);
        all.into_iter()
    }
}

/// What they say is nobody's business.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

fn text(path: &Path) -> Result<String> {
    #[expect(clippy::disallowed_methods, reason = "the operator named this file")]
    std::fs::read_to_string(path).map_err(|err| {
        Error::new(ErrorKind::InvalidUrl, "the credentials file cannot be read").because(err)
    })
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_lines_of_names_and_values() {
        let text = "# keys\n\nexport A=1\n B = two words \nC=\"x=y\"\nD='q'\nE=\n";
        let settings = Settings::parse(text).unwrap();
        let value = |name| settings.value(name);
        assert_eq!(value("A").as_deref(), Some("1"));
        assert_eq!(value("B").as_deref(), Some("two words"));
        assert_eq!(value("C").as_deref(), Some("x=y"));
        assert_eq!(value("D").as_deref(), Some("q"));
        assert_eq!(value("E"), None);
        assert_eq!(settings.first(&["E", "NO_SUCH_NAME", "A"]).as_deref(), Some("1"));
    }

    #[test]
    fn what_belongs_together_comes_from_one_place() {
        // Cargo gives every test this variable.
        let around = "CARGO_PKG_NAME";
        let settings = Settings::parse("KEY=1\nEMPTY=\n").unwrap();
        assert!(settings.value(around).is_some());
        let key = || Some("1".to_owned());
        assert_eq!(settings.together(["KEY", around]), [key(), None]);
        assert_eq!(settings.together(["EMPTY", around]), [None, settings.value(around)]);
    }

    #[test]
    fn a_line_that_is_none_is_refused_without_being_told() {
        let err = Settings::parse("A=1\nhunter2\n").unwrap_err();
        assert_eq!(err.to_string(), "line 2 of the credentials file is not NAME=VALUE");
    }

    #[test]
    fn nobody_sees_what_it_says() {
        let settings = Settings::parse("PASSWORD=hunter2").unwrap();
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
