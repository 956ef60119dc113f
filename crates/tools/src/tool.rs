//! What a tool is, and which there are.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use engine::Workspace;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata};
use crate::tools::{
    AppendFile, Batch, Copy, CreateDirectory, Delete, Diff, EditFile, Exists, FileInfo,
    ListDirectory, ListSnapshots, Move, ReadFile, Restore, Search, TakeSnapshot, Tree, WriteFile,
};

/// Every tool, in the order in which they are offered. A new one is one line.
pub static TOOLS: [ToolEntry; 18] = [
    ToolEntry::of::<ReadFile>(),
    ToolEntry::of::<WriteFile>(),
    ToolEntry::of::<ListDirectory>(),
    ToolEntry::of::<CreateDirectory>(),
    ToolEntry::of::<Delete>(),
    ToolEntry::of::<Exists>(),
    ToolEntry::of::<FileInfo>(),
    ToolEntry::of::<EditFile>(),
    ToolEntry::of::<AppendFile>(),
    ToolEntry::of::<Move>(),
    ToolEntry::of::<Copy>(),
    ToolEntry::of::<Search>(),
    ToolEntry::of::<Tree>(),
    ToolEntry::of::<Batch>(),
    ToolEntry::of::<TakeSnapshot>(),
    ToolEntry::of::<ListSnapshots>(),
    ToolEntry::of::<Restore>(),
    ToolEntry::of::<Diff>(),
];

/// A tool: its fields are its arguments, its doc comment is its description.
pub(crate) trait Tool: DeserializeOwned + JsonSchema + Send + Sized + 'static {
    /// What it is called.
    const NAME: &'static str;
    /// What people call it.
    const TITLE: &'static str;
    /// What it does to files.
    const EFFECT: Effect;
    /// What the tree must be able to do.
    const NEEDS: Needs = Needs::Nothing;
    /// What it gives.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// Does it.
    fn run(self, call: &Call) -> impl Future<Output = Result<Done<Self::Output>, Failure>> + Send;
}

/// What a tool does to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It looks, and changes nothing.
    Looks,
    /// It adds something, and takes nothing away. `again`: whether a second time changes nothing more.
    Adds {
        /// Whether a second time changes nothing more.
        idempotent: bool,
    },
    /// It may replace or remove what is there.
    Replaces {
        /// Whether a second time changes nothing more.
        idempotent: bool,
    },
}

/// What a tree must be able to do for a tool to be of use there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing that not every tree can do.
    Nothing,
    /// To take many steps as one.
    Batches,
    /// To keep snapshots.
    Snapshots,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Done<Value>, Failure>> + Send + 'a>>;

/// A tool of the list.
pub struct ToolEntry {
    /// What it is called.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What it does to files.
    pub effect: Effect,
    pub(crate) needs: Needs,
    pub(crate) run: fn(Value, &Call) -> Running<'_>,
    schemas: fn() -> Schemas,
    made: OnceLock<Schemas>,
}

struct Schemas {
    description: String,
    input: Map<String, Value>,
    output: Map<String, Value>,
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ToolEntry {
    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            effect: T::EFFECT,
            needs: T::NEEDS,
            run: run::<T>,
            schemas: schemas::<T>,
            made: OnceLock::new(),
        }
    }

    /// What a model reads about it.
    pub fn description(&self) -> &str {
        &self.schemas().description
    }

    /// The JSON Schema of its arguments, without references.
    pub fn input_schema(&self) -> &Map<String, Value> {
        &self.schemas().input
    }

    /// The JSON Schema of its result: of the whole [`ToolResult`](crate::ToolResult).
    pub fn output_schema(&self) -> &Map<String, Value> {
        &self.schemas().output
    }

    /// Whether it changes nothing.
    pub fn only_looks(&self) -> bool {
        self.effect == Effect::Looks
    }

    fn schemas(&self) -> &Schemas {
        self.made.get_or_init(self.schemas)
    }
}

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static ToolEntry> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools that are of use in a sandbox: those that its tree is able to do, and only those that
/// look, if nothing may be changed.
pub async fn offered(workspace: &Workspace, read_only: bool) -> Vec<&'static ToolEntry> {
    let has_batches = workspace.can_batch().await;
    let has_snapshots = workspace.has_snapshots();
    let fits = |tool: &&ToolEntry| {
        let able = match tool.needs {
            Needs::Nothing => true,
            Needs::Batches => has_batches,
            Needs::Snapshots => has_snapshots,
        };
        able && (tool.only_looks() || !read_only)
    };
    TOOLS.iter().filter(fits).collect()
}

fn run<T: Tool>(arguments: Value, call: &Call) -> Running<'_> {
    Box::pin(async move {
        let tool: T = serde_path_to_error::deserialize(arguments)
            .map_err(|err| Failure::bad_arguments(&err, T::NAME))?;
        let Done { data, metadata, text } = tool.run(call).await?;
        let data = serde_json::to_value(data).map_err(|err| Failure::unspeakable(&err))?;
        Ok(Done { data, metadata, text })
    })
}

fn schemas<T: Tool>() -> Schemas {
    let mut input = schema_of::<T>(Contract::Deserialize);
    let description = input.remove("description");
    let description = description.and_then(|text| text.as_str().map(one_line)).unwrap_or_default();
    for odd in ["$schema", "title"] {
        input.remove(odd);
    }
    // Some clients insist on the word, even where there are none.
    input.entry("properties").or_insert_with(|| json!({}));
    Schemas { description, input, output: envelope(schema_of::<T::Output>(Contract::Serialize)) }
}

fn schema_of<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    // Not every model's maker follows references.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    schema.as_object().cloned().unwrap_or_default()
}

/// The schema of a result, made of that of its data.
fn envelope(mut data: Map<String, Value>) -> Map<String, Value> {
    data.remove("$schema");
    data.remove("title");
    let mut metadata = schema_of::<Metadata>(Contract::Serialize);
    metadata.remove("$schema");
    metadata.remove("title");
    let whole = json!({
        "type": "object",
        "properties": {
            "success": { "type": "boolean", "description": "Whether it was done." },
            "data": {
                "description": "What it gave; null if it failed.",
                "anyOf": [Value::Object(data), { "type": "null" }]
            },
            "error": {
                "description": "What went wrong and what to do next; null if it was done.",
                "type": ["string", "null"]
            },
            "metadata": Value::Object(metadata)
        },
        "required": ["success", "data", "error", "metadata"],
        "additionalProperties": false
    });
    whole.as_object().cloned().unwrap_or_default()
}

/// A doc comment as one text: its lines are broken where the source is, which means nothing.
fn one_line(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}
