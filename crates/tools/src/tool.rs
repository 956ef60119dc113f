//! What a tool is, and which there are.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use engine::Workspace;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
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

/// What the widths of numbers are called by those who make schemas of types.
const WIDTHS: [&str; 5] = ["uint", "uint32", "uint64", "int64", "double"];

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

    /// Whether a second time changes nothing more.
    pub(crate) fn may_be_repeated(&self) -> bool {
        match self.effect {
            Effect::Looks => true,
            Effect::Adds { idempotent } | Effect::Replaces { idempotent } => idempotent,
        }
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
        let arguments = object(arguments).ok_or_else(|| Failure::no_object(T::NAME))?;
        let tool: T = serde_path_to_error::deserialize(arguments)
            .map_err(|err| Failure::bad_arguments(&err, T::NAME))?;
        let Done { data, metadata, text } = tool.run(call).await?;
        let data = serde_json::to_value(data).map_err(|err| Failure::unspeakable(&err))?;
        Ok(Done { data, metadata, text })
    })
}

/// Arguments as they are read. Who sends none means that there are none, and `2.0` is a whole number
/// in JSON, as the schema has it.
fn object(arguments: Value) -> Option<Value> {
    match arguments {
        Value::Null => Some(json!({})),
        Value::Object(_) => Some(whole_numbers(arguments)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn whole_numbers(value: Value) -> Value {
    // Beyond it, not every whole number has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(name, one)| (name, whole_numbers(one))).collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

fn schemas<T: Tool>() -> Schemas {
    let mut input = schema_of::<T>(Contract::Deserialize);
    let description = input.remove("description");
    let description =
        description.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default();
    for odd in ["$schema", "title"] {
        input.remove(odd);
    }
    // Some clients insist on the word, even where there are none.
    input.entry("properties").or_insert_with(|| json!({}));
    Schemas { description, input, output: envelope(schema_of::<T::Output>(Contract::Serialize)) }
}

/// The schema of what is read, or of what is written: there, fields that are left out are not required.
fn schema_of<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // Not every model's maker follows references.
        settings.inline_subschemas = true;
        settings.contract = contract;
        settings.transforms.push(Box::new(RecursiveTransform(without_width)));
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    join_lines(&mut schema);
    schema.as_object().cloned().unwrap_or_default()
}

/// Makes one line of every description in a schema.
fn join_lines(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (name, value) in map {
                match (name.as_str(), value) {
                    ("description", Value::String(text)) => *text = one_line(text),
                    (_, value) => join_lines(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(join_lines),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Leaves out how wide a number is here: those are no formats of the standard, and validators complain of
/// each.
fn without_width(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| WIDTHS.contains(&format)) {
        schema.remove("format");
    }
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
