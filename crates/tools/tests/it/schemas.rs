//! What a model is told about each tool.

use serde_json::{Value, json};
use tools::{Effect, Format, TOOLS, named};

use crate::fixture::Bench;

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

/// Some clients spell out every field that they leave out.
#[tokio::test]
async fn an_optional_argument_may_be_null() {
    for tool in &TOOLS {
        let schema = tool.input_schema();
        let required =
            schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for (name, property) in schema["properties"].as_object().unwrap() {
            let is_required = required.iter().any(|required| required == name);
            let types = property["type"].as_array().cloned().unwrap_or_default();
            let nullable = types.contains(&json!("null")) || property.get("anyOf").is_some();
            assert_eq!(nullable, !is_required, "{} {name}: {property}", tool.name);
        }
    }
    let bench = Bench::stored().await;
    bench.put(&[("/d/f", "x")]).await;
    let nulls = json!({ "path": "/d", "recursive": null, "force": null });
    assert_eq!(bench.err("delete", nulls).await.0, "directory_not_empty");
    let id = json!({ "id": "s", "message": null });
    assert_eq!(bench.ok("snapshot", id).await["message"], "");
    assert_eq!(bench.ok("diff", json!({ "from": "s", "skip": null })).await["changes"], json!([]));
    let settings = json!({ "blockedPaths": null, "readOnly": null, "maxDepth": null });
    assert_eq!(
        serde_json::from_value::<tools::CallSettings>(settings).unwrap(),
        Default::default()
    );
}

#[tokio::test]
async fn a_whole_number_may_have_a_point_and_arguments_are_an_object() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "one\ntwo\n")]).await;
    let arguments = json!({ "path": "/f", "startLine": 2.0, "endLine": 2e0 });
    assert_eq!(bench.ok("read_file", arguments).await["content"], "two\n");
    for wrong in [json!({ "path": "/f", "tail": 1.5 }), json!({ "path": "/f", "tail": -1.0 })] {
        assert_eq!(bench.err("read_file", wrong).await.0, "invalid_argument");
    }
    assert_eq!(bench.ok("list_snapshots", Value::Null).await["snapshots"], json!([]));
    for wrong in [json!(["/f"]), json!("/f"), json!(1)] {
        let (kind, result) = bench.err("read_file", wrong).await;
        assert_eq!(kind, "invalid_argument");
        assert!(result.error.unwrap().contains("object"));
    }
}
