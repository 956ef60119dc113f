//! The list of tools as others spell it.

use serde_json::{Value, json};

use crate::tool::{Effect, ToolEntry};

/// Who reads the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Names, descriptions, both schemas and what each tool does to files.
    JsonSchema,
    /// The `tools` of the chat completions of OpenAI, and of those who copy them.
    OpenAi,
    /// The `tools` of the messages of Anthropic.
    Anthropic,
}

impl Format {
    /// What a word names.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "json-schema" => Some(Self::JsonSchema),
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            _ => None,
        }
    }

    /// A tool in this format.
    pub fn spell(self, tool: &ToolEntry) -> Value {
        let (name, description) = (tool.name, tool.description());
        match self {
            Self::JsonSchema => json!({
                "name": name,
                "title": tool.title,
                "description": description,
                "inputSchema": tool.input_schema(),
                "outputSchema": tool.output_schema(),
                "annotations": annotations(tool),
            }),
            Self::OpenAi => json!({
                "type": "function",
                "function": {
                    "name": name,
                    "description": description,
                    "parameters": tool.input_schema(),
                },
            }),
            Self::Anthropic => json!({
                "name": name,
                "description": description,
                "input_schema": tool.input_schema(),
            }),
        }
    }
}

/// What a tool does to files, in the words of MCP.
fn annotations(tool: &ToolEntry) -> Value {
    let (destructive, idempotent) = match tool.effect {
        Effect::Looks => (false, true),
        Effect::Adds { idempotent } => (false, idempotent),
        Effect::Replaces { idempotent } => (true, idempotent),
    };
    json!({
        "title": tool.title,
        "readOnlyHint": tool.only_looks(),
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::TOOLS;

    /// Clients are made of this file: see `sdks/typescript/scripts/generate_tools.mjs`.
    #[test]
    fn the_committed_list_is_the_list() {
        let tools: Vec<Value> = TOOLS.iter().map(|tool| Format::JsonSchema.spell(tool)).collect();
        let list = format!("{}\n", serde_json::to_string_pretty(&tools).unwrap());
        let committed = include_str!("../../../contract/tools.json");
        assert!(committed == list, "contract/tools.json should be:\n{list}");
    }
}
