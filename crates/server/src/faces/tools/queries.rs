//! What is said in the query.

use serde::Deserialize;
use tools::{CallSettings, Format};
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::query::{FromParams, Params};

/// How the tools are spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireFormat {
    /// Names, descriptions, the schemas of arguments and results, and what each does to files.
    #[default]
    JsonSchema,
    /// As the chat completions of OpenAI take them.
    #[serde(rename = "openai")]
    OpenAi,
    /// As the messages of Anthropic take them.
    Anthropic,
}

impl From<WireFormat> for Format {
    fn from(format: WireFormat) -> Self {
        match format {
            WireFormat::JsonSchema => Self::JsonSchema,
            WireFormat::OpenAi => Self::OpenAi,
            WireFormat::Anthropic => Self::Anthropic,
        }
    }
}

/// How the tools are spelled.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FormatQuery {
    /// Who reads it: `json-schema` without it.
    #[param(inline, nullable = false)]
    pub(super) format: Option<WireFormat>,
}

impl FromParams for FormatQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { format: params.word("format")? })
    }
}

impl FormatQuery {
    /// Who reads it.
    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or_default().into()
    }
}

/// How much one call may do: less than the server allows, and never more.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[expect(dead_code, reason = "the description of what `CallQuery` reads")]
pub(super) struct CallParams {
    /// How text is written and read where the arguments do not say: a name such as `utf-8` or
    /// `shift_jis`, `base64`, or `auto`.
    #[param(nullable = false)]
    default_encoding: Option<String>,
    /// The longest file that is read whole or written, in bytes.
    #[param(required = false, value_type = u128, minimum = 1)]
    max_file_size: Option<u64>,
    /// How many bytes of content the answer holds.
    #[param(required = false, value_type = u128, minimum = 1)]
    max_result_bytes: Option<u64>,
    /// A file or directory that may be looked at and changed, with what is beneath it; may be given
    /// several times.
    #[param(nullable = false)]
    allowed_paths: Option<Vec<String>>,
    /// One that may not; may be given several times.
    #[param(nullable = false)]
    blocked_paths: Option<Vec<String>>,
    /// How long the call may take, in milliseconds.
    #[param(required = false, value_type = u128, minimum = 1)]
    timeout_ms: Option<u64>,
    /// How many levels are looked at beneath a directory.
    #[param(required = false, value_type = u128, minimum = 1)]
    max_depth: Option<u64>,
    /// How many entries the answer holds.
    #[param(required = false, value_type = u128, minimum = 1)]
    max_entries: Option<u64>,
    /// Whether nothing may be changed.
    #[param(nullable = false)]
    read_only: Option<bool>,
}

/// The same, as it was read.
#[derive(Clone, Debug)]
pub(super) struct CallQuery(pub(super) CallSettings);

impl FromParams for CallQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let count = |name: &str| -> Result<Option<usize>, Problem> {
            let number = params.number(name)?;
            Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        let list = |name: &str| -> Result<Option<Vec<String>>, Problem> {
            params.has(name).then(|| params.all(name)).transpose()
        };
        Ok(Self(CallSettings {
            default_encoding: params.optional("defaultEncoding")?,
            max_file_size: params.number("maxFileSize")?,
            max_result_bytes: params.number("maxResultBytes")?,
            allowed_paths: list("allowedPaths")?,
            blocked_paths: list("blockedPaths")?.unwrap_or_default(),
            timeout_ms: params.number("timeoutMs")?,
            max_depth: count("maxDepth")?,
            max_entries: count("maxEntries")?,
            read_only: params.flag("readOnly")?.unwrap_or_default(),
        }))
    }
}
