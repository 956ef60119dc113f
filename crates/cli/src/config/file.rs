//! `sandkeep.toml`: where it is found, and what it may hold.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Attach, Confine, Listen, Many, Sharing, ToolLimits, surroundings};

/// The table of what concerns the tools, and how its flags begin.
pub(super) const TOOLS: &str = "tools";

/// What a configuration file says.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    /// Settings of the server.
    pub(crate) listen: Listen,
    /// Settings of the served tree.
    pub(crate) confine: Confine,
    /// Settings of containers.
    pub(crate) attach: Attach,
    /// How a store is used.
    pub(crate) sharing: Sharing,
    /// How other sandboxes are kept.
    pub(crate) many: Many,
    /// How much the tools may do.
    pub(crate) tools: ToolLimits,
    /// The keys that it holds.
    pub(crate) keys: Vec<String>,
    /// Where it was read, if there is one.
    pub(crate) source: Option<FoundFile>,
}

/// A configuration file that was read.
#[derive(Debug)]
pub(crate) struct FoundFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Whether the operator named it, or it was found in a usual place.
    pub(crate) named: bool,
}

impl ConfigFile {
    /// Reads the named file, or the first that is found: `./sandkeep.toml`, then
    /// `sandkeep/sandkeep.toml` in the user's configuration directory. None is fine.
    pub(crate) fn load(named: Option<&Path>) -> Result<Self> {
        if let Some(path) = named {
            let text = read(path)?.with_context(|| {
                format!("the configuration file {} does not exist", path.display())
            })?;
            return Self::parse(&text, path, true);
        }
        let usual = [
            Some(PathBuf::from("sandkeep.toml")),
            surroundings::config_dir().map(|dir| dir.join("sandkeep.toml")),
        ];
        for path in usual.into_iter().flatten() {
            if let Some(text) = read(&path)? {
                return Self::parse(&text, &path, false);
            }
        }
        Ok(Self::default())
    }

    fn parse(text: &str, path: &Path, named: bool) -> Result<Self> {
        let place = || format!("in the configuration file {}", path.display());
        let table: toml::Table = parse(text).with_context(place)?;
        refuse_unknown(&table).with_context(place)?;
        refuse_wrong_token(&table).with_context(place)?;
        let listen: Listen = parse(text).with_context(place)?;
        let confine: Confine = parse(text).with_context(place)?;
        let attach: Attach = parse(text).with_context(place)?;
        let sharing: Sharing = parse(text).with_context(place)?;
        let many: Many = parse(text).with_context(place)?;
        let tables: Tables = parse(text).with_context(place)?;
        // Paths in a file mean the same whichever directory the server is started in.
        let base = path.parent().unwrap_or(Path::new(""));
        let source = Some(FoundFile { path: path.into(), named });
        let keys = flags_of(&table);
        let (confine, sharing) = (confine.relative_to(base), sharing.relative_to(base));
        let (many, attach) = (many.relative_to(base), attach.relative_to(base));
        let tools = tables.tools;
        Ok(Self { listen, confine, attach, sharing, many, tools, keys, source })
    }
}

/// The tables of a file.
#[derive(Deserialize)]
struct Tables {
    #[serde(default)]
    tools: ToolLimits,
}

/// The flags that a file speaks for.
fn flags_of(table: &toml::Table) -> Vec<String> {
    let inner = table.get(TOOLS).and_then(toml::Value::as_table);
    let inner = inner.into_iter().flat_map(toml::Table::keys).map(|key| format!("{TOOLS}-{key}"));
    table.keys().filter(|key| *key != TOOLS).cloned().chain(inner).collect()
}

/// Every key of the table of the tools: the long name of the flag, without how they all begin.
pub(crate) fn tool_keys() -> Vec<String> {
    let flags = ToolLimits::augment_args(clap::Command::new("serve"));
    let names = flags.get_arguments().map(|flag| flag.get_id().as_str().replace('_', "-"));
    names.filter_map(|name| name.strip_prefix("tools-").map(ToOwned::to_owned)).collect()
}

/// Every key that a file may hold outside of a table: the long name of the flag.
pub(crate) fn keys() -> Vec<String> {
    let flags = clap::Command::new("serve");
    let flags = Attach::augment_args(Confine::augment_args(flags));
    let flags = Many::augment_args(Sharing::augment_args(flags));
    let flags = Listen::augment_args(flags);
    flags.get_arguments().map(|flag| flag.get_id().as_str().replace('_', "-")).collect()
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|err| {
        let start = err.span().map_or(0, |span| span.start);
        let line = text.get(..start).unwrap_or_default().lines().count().max(1);
        anyhow!("line {line}: {}", err.message())
    })
}

fn refuse_unknown(table: &toml::Table) -> Result<()> {
    let known = keys().into_iter().chain([TOOLS.to_owned()]).collect::<Vec<_>>();
    refuse_others(table, &known)?;
    match table.get(TOOLS) {
        None => Ok(()),
        Some(toml::Value::Table(inner)) => {
            refuse_others(inner, &tool_keys()).with_context(|| format!("in the table [{TOOLS}]"))
        }
        Some(_) => bail!("`{TOOLS}` is a table: write [{TOOLS}] on a line of its own"),
    }
}

fn refuse_others(table: &toml::Table, known: &[String]) -> Result<()> {
    let Some(unknown) = table.keys().find(|key| !known.contains(key)) else {
        return Ok(());
    };
    let near = |key: &&String| strsim::jaro(unknown, key) > 0.7;
    let closeness = |key: &&String| (strsim::jaro(unknown, key) * 1e6) as u64;
    match known.iter().filter(near).max_by_key(closeness) {
        Some(near) => bail!("unknown key `{unknown}`; did you mean `{near}`?"),
        None => bail!("unknown key `{unknown}`; the keys are {}", known.join(", ")),
    }
}

/// The parser's own words for a wrong type repeat the value, which is a secret here.
fn refuse_wrong_token(table: &toml::Table) -> Result<()> {
    match table.get("token") {
        Some(toml::Value::String(_)) | None => Ok(()),
        Some(_) => bail!("the value of `token` is not a text in quotes"),
    }
}

fn read(path: &Path) -> Result<Option<String>> {
    #[expect(clippy::disallowed_methods, reason = "the operator's own file, read at start")]
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err).with_context(|| format!("{} cannot be read", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ConfigFile> {
        ConfigFile::parse(text, Path::new("/etc/sandkeep/sandkeep.toml"), true)
    }

    fn refusal(text: &str) -> String {
        format!("{:#}", parsed(text).unwrap_err())
    }

    #[test]
    fn a_misspelt_key_is_refused_with_the_nearest_name() {
        assert!(refusal("prot = 1").contains("unknown key `prot`; did you mean `port`?"));
        assert!(refusal("max_file_size = 1").contains("did you mean `max-file-size`?"));
    }

    #[test]
    fn a_key_of_the_tools_is_in_their_table() {
        let file = parsed("port = 1\n[tools]\nmax-depth = 3").unwrap();
        assert_eq!(file.tools.max_depth.map(std::num::NonZero::get), Some(3));
        assert_eq!(file.keys, ["port", "tools-max-depth"]);
        let told = refusal("[tools]\nmax-dpeth = 3");
        assert!(told.contains("in the table [tools]"), "{told}");
        assert!(told.contains("did you mean `max-depth`?"), "{told}");
        assert!(refusal("tools = 3").contains("`tools` is a table"));
        assert!(refusal("tools-max-depth = 3").contains("unknown key"));
    }

    #[test]
    fn a_strange_key_is_refused_with_all_names() {
        assert!(refusal("zzz = 1").contains("the keys are dir, store, sandbox,"));
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_line() {
        let refusal = refusal("host = \"x\"\nport = \"many\"");
        assert!(refusal.contains("line 2"), "{refusal}");
    }

    #[test]
    fn a_token_of_the_wrong_type_is_refused_without_its_value() {
        for value in ["12345", "[\"12345\"]", "12345 trailing", "'12345"] {
            let refusal = refusal(&format!("token = {value}"));
            assert!(!refusal.contains("12345"), "{refusal}");
        }
        assert!(refusal("token = 12345").contains("`token` is not a text in quotes"));
    }

    #[test]
    fn relative_paths_begin_at_the_file() {
        let file = parsed("dir = \"work\"\nstaging = \"/tmp/s\"").unwrap();
        assert_eq!(file.confine.dir(), Path::new("/etc/sandkeep/work"));
        assert_eq!(file.confine.staging.as_deref(), Some(Path::new("/tmp/s")));
        let file = parsed("store = \"file:./store\"").unwrap();
        assert_eq!(file.confine.store.unwrap().to_string(), "file:/etc/sandkeep/./store");
    }

    #[test]
    fn the_sample_in_the_manual_is_right_and_names_every_key() {
        let manual = include_str!("../../../../docs/configuration.md");
        let (_, sample) = manual.split_once("```toml\n").unwrap();
        let (sample, _) = sample.split_once("```").unwrap();
        parsed(sample).unwrap();
        // A key without a default is shown as a comment.
        let uncommented = |line: &str| match line.strip_prefix("# ") {
            Some(key) if key.contains(" = ") => format!("{key}\n"),
            _ => format!("{line}\n"),
        };
        let named: String = sample.lines().map(uncommented).collect();
        let named: toml::Table = toml::from_str(&named).unwrap();
        let missing = |table: &toml::Table, keys: Vec<String>| -> Vec<String> {
            keys.into_iter().filter(|key| !table.contains_key(key)).collect()
        };
        assert_eq!(missing(&named, keys()), Vec::<String>::new());
        let tools = named["tools"].as_table().unwrap();
        assert_eq!(missing(tools, tool_keys()), Vec::<String>::new());
    }
}
