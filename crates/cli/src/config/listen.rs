//! Settings of every server: where it listens, who may call, what it logs.

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

const HOST: &str = "127.0.0.1";
const PORT: u16 = 2468;

/// One source's settings of a server; what is absent is left to the next source.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Listening and logging")]
pub(crate) struct Listen {
    /// Address or name to listen on [default: 127.0.0.1]
    #[arg(short = 'H', long, env = "SANDKEEP_HOST")]
    pub(crate) host: Option<String>,

    /// Port to listen on; 0 lets the system choose one [default: 2468]
    #[arg(short, long, env = "SANDKEEP_PORT")]
    pub(crate) port: Option<u16>,

    /// Token that clients must send; without one, a random token is made and printed
    #[arg(short, long, env = "SANDKEEP_TOKEN")]
    pub(crate) token: Option<String>,

    /// Serve without a token
    #[arg(
        short, long, env = "SANDKEEP_NO_TOKEN", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) no_token: Option<bool>,

    /// Web origin that browsers may call from; repeat it, or separate with commas
    #[arg(
        short = 'O',
        long,
        env = "SANDKEEP_CORS_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub(crate) cors_allow_origin: Option<Vec<String>>,

    /// Method that those origins may use [default: any]
    #[arg(
        short = 'M',
        long,
        env = "SANDKEEP_CORS_ALLOW_METHOD",
        value_name = "METHOD",
        value_delimiter = ','
    )]
    pub(crate) cors_allow_method: Option<Vec<String>>,

    /// Request header that those origins may send [default: any]
    #[arg(
        short = 'A',
        long,
        env = "SANDKEEP_CORS_ALLOW_HEADER",
        value_name = "HEADER",
        value_delimiter = ','
    )]
    pub(crate) cors_allow_header: Option<Vec<String>>,

    /// Let those origins send credentials
    #[arg(
        short = 'C', long, env = "SANDKEEP_CORS_ALLOW_CREDENTIALS", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) cors_allow_credentials: Option<bool>,

    /// What to log: error, warn, info, debug, trace, or a filter such as `info,sandkeep_server=debug`
    /// [default: info]
    #[arg(long, env = "SANDKEEP_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,

    /// How log lines look on stderr [default: text]
    #[arg(long, env = "SANDKEEP_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,

    /// Announce the start as one line of JSON on stdout, for scripts
    #[arg(
        long, env = "SANDKEEP_JSON", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) json: Option<bool>,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Listen {
    /// These settings, and those of `lower` where these say nothing.
    pub(crate) fn over(self, lower: Self) -> Self {
        Self {
            host: self.host.or(lower.host),
            port: self.port.or(lower.port),
            token: self.token.or(lower.token),
            no_token: self.no_token.or(lower.no_token),
            cors_allow_origin: self.cors_allow_origin.or(lower.cors_allow_origin),
            cors_allow_method: self.cors_allow_method.or(lower.cors_allow_method),
            cors_allow_header: self.cors_allow_header.or(lower.cors_allow_header),
            cors_allow_credentials: self.cors_allow_credentials.or(lower.cors_allow_credentials),
            log: self.log.or(lower.log),
            log_format: self.log_format.or(lower.log_format),
            json: self.json.or(lower.json),
        }
    }

    /// The host to listen on.
    pub(crate) fn host(&self) -> &str {
        self.host.as_deref().unwrap_or(HOST)
    }

    /// The port to listen on.
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(PORT)
    }

    /// What holds when nobody says anything.
    pub(crate) fn usual() -> Self {
        Self {
            host: Some(HOST.into()),
            port: Some(PORT),
            no_token: Some(false),
            cors_allow_credentials: Some(false),
            log: Some("info".into()),
            log_format: Some(LogFormat::Text),
            json: Some(false),
            ..Self::default()
        }
    }
}
