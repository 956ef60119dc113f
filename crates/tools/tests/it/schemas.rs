//! What a model is told about each tool.

use serde_json::{Value, json};
use tools::{Effect, Format, TOOLS, named};

#[test]
fn there_are_the_seven_of_the_specification_and_those_beyond() {
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let seven = [
        "read_file",
        "write_file",
        "list_directory",
        "create_directory",
        "delete",
        "exists",
        "file_info",
    ];
    assert_eq!(names[..7], seven);
    for name in [
        "edit_file",
        "append_file",
        "move",
        "copy",
        "search",
        "tree",
        "batch",
        "snapshot",
        "list_snapshots",
        "restore",
        "diff",
    ] {
        assert!(named(name).is_some(), "{name}");
    }
    assert!(named("rm").is_none());
}

/// Every schema in a schema.
fn all(schema: &Value, found: &mut Vec<Value>) {
    match schema {
        Value::Object(map) => {
            found.push(schema.clone());
            map.values().for_each(|value| all(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| all(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn schemas_are_closed_described_and_without_references() {
    for tool in &TOOLS {
        let schema = Value::Object(tool.input_schema().clone());
        assert!(jsonschema::meta::is_valid(&schema), "{}", tool.name);
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        assert!(
            tool.description().len() > 40 && !tool.description().contains("  "),
            "{}",
            tool.name
        );
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}", tool.name);
        }
        let output = Value::Object(tool.output_schema().clone());
        assert!(jsonschema::meta::is_valid(&output), "{}", tool.name);
        let mut parts = Vec::new();
        all(&schema, &mut parts);
        all(&output, &mut parts);
        assert!(
            parts.iter().all(|part| part.get("$ref").is_none() && part.get("$defs").is_none()),
            "{}",
            tool.name
        );
    }
}

#[test]
fn tools_say_what_they_do_to_files() {
    let effect = |name: &str| named(name).unwrap().effect;
    for name in [
        "read_file",
        "list_directory",
        "exists",
        "file_info",
        "search",
        "tree",
        "diff",
        "list_snapshots",
    ] {
        assert_eq!(effect(name), Effect::Looks, "{name}");
    }
    assert_eq!(effect("delete"), Effect::Replaces { idempotent: true });
    assert_eq!(effect("append_file"), Effect::Adds { idempotent: false });
}

#[test]
fn the_list_is_spelled_for_whoever_reads_it() {
    let tool = named("exists").unwrap();
    let open_ai = Format::named("openai").unwrap().spell(tool);
    assert_eq!(open_ai["type"], "function");
    assert_eq!(open_ai["function"]["name"], "exists");
    assert_eq!(open_ai["function"]["parameters"]["required"], json!(["path"]));
    let anthropic = Format::named("anthropic").unwrap().spell(tool);
    assert_eq!(anthropic["input_schema"]["type"], "object");
    let own = Format::named("json-schema").unwrap().spell(tool);
    assert_eq!(own["annotations"]["readOnlyHint"], true);
    assert_eq!(own["outputSchema"]["required"], json!(["success", "data", "error", "metadata"]));
    assert!(Format::named("yaml").is_none());
}
