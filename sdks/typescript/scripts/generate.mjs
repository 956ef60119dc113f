// Makes src/generated/schemas.ts out of contract/openapi.json: the shapes that the native interface
// speaks of, with names as TypeScript has them. `--check` only looks whether it is current.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { camel, kept } from "./generated.mjs";

const home = fileURLToPath(new URL("..", import.meta.url));
const contract = JSON.parse(readFileSync(`${home}/../../contract/openapi.json`, "utf8"));

/** The routes that this package speaks. */
const ROUTES = /^\/v1\/(sandboxes|keys|audit|fs|health)\b/;

/** What the contract calls otherwise than people who use the package. */
const NAMES = {
  DifferenceBody: "Difference",
  DifferenceWord: "DifferenceChange",
  EditBody: "EditResult",
  EndBody: "SearchEnd",
  EventBody: "AuditEvent",
  EventList: "AuditPage",
  FindingBody: "SearchLine",
  FsActionResponse: "DefaultAction",
  FsEntry: "DefaultEntry",
  FsEntryType: "DefaultEntryType",
  FsMoveRequest: "DefaultMoveRequest",
  FsMoveResponse: "DefaultMove",
  FsStat: "DefaultStat",
  FsUploadBatchResponse: "DefaultUpload",
  FsWriteResponse: "DefaultWrite",
  HealthResponse: "Health",
  KeyBody: "KeyInfo",
  KeyList: "KeyPage",
  Kind: "EntryKind",
  LengthBody: "LengthRequest",
  LineBody: "FoundLine",
  LinkBody: "Link",
  Listing: "ListingPage",
  ModeBody: "ModeRequest",
  NoticeBody: "NoticeData",
  NoticeWord: "NoticeChange",
  SandboxBody: "SandboxInfo",
  SandboxList: "SandboxPage",
  SignedBody: "SignedAddress",
  SnapshotBody: "SnapshotInfo",
  SnapshotList: "SnapshotPage",
  TreeKind: "SandboxKind",
  UnpackedBody: "Unpacked",
  WireAccess: "Access",
  WireLetters: "Letters",
  WireLimits: "Limits",
  WireMode: "BatchWriteMode",
  WireReplacement: "Replacement",
  WireRole: "Role",
  WireStep: "BatchStep",
  WireTarget: "Target",
};
/** Bytes have no shape, and failures are `SandkeepError`s. */
const LEFT_OUT = ["RawBytes", "Refusal", "ProblemDetails", "ProblemMessage", "WatchEvent"];
/** Spoken of by none of the routes' schemas, but by their words. */
const ALSO = ["NoticeBody"];

const schemas = contract.components.schemas;
const maps = new Set();

main();

function main() {
  const shapes = [...reached()].filter((name) => !LEFT_OUT.includes(name)).sort();
  const body = shapes.map((name) => declared(name, schemas[name])).join("\n");
  const fields = [...maps].sort().map((name) => JSON.stringify(name));
  const text = `// Made by \`npm run generate\` from contract/openapi.json. Do not edit.

${body}
/** Fields whose keys are the caller's own words. */
export const FIELDS_WITH_OWN_KEYS: ReadonlySet<string> = new Set([${fields.join(", ")}]);
`;
  kept("src/generated/schemas.ts", "contract/openapi.json", text);
}

/** Every schema that one of the routes leads to. */
function reached() {
  const found = new Set(ALSO);
  const routes = Object.entries(contract.paths).filter(([path]) => ROUTES.test(path));
  const waiting = [routes, ...ALSO.map((name) => schemas[name])];
  while (waiting.length > 0) {
    for (const [, name] of JSON.stringify(waiting.pop()).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    )) {
      if (found.has(name)) continue;
      found.add(name);
      waiting.push(schemas[name]);
    }
  }
  return found;
}

function declared(name, schema) {
  const doc = documented(schema);
  if (schema.type === "object" && schema.properties) {
    return `${doc}export interface ${named(name)} ${fieldsOf(schema)}\n`;
  }
  return `${doc}export type ${named(name)} = ${typeOf(schema)};\n`;
}

function fieldsOf({ properties, required = [] }) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    if (schema.additionalProperties) maps.add(name);
    const mark = required.includes(name) ? "" : "?";
    return `${documented(schema)}${camel(name)}${mark}: ${typeOf(schema)};`;
  });
  return `{\n${fields.join("\n")}\n}`;
}

function typeOf(schema) {
  if (schema.$ref) return named(schema.$ref.split("/").at(-1));
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.oneOf) return schema.oneOf.map(typeOf).join(" | ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  }
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "string":
    case "null":
      return schema.type;
    case "array":
      return `Array<${typeOf(schema.items)}>`;
    case "object":
      if (schema.additionalProperties)
        return `Record<string, ${typeOf(schema.additionalProperties)}>`;
      return fieldsOf(schema);
    default:
      throw new Error(`a schema that is not known here: ${JSON.stringify(schema)}`);
  }
}

function documented({ description, example }) {
  if (!description) return "";
  const words = description.replaceAll("*/", "* /").split("\n");
  if (example !== undefined && typeof example !== "object") words.push(`Such as \`${example}\`.`);
  return `/** ${words.join(" ")} */\n`;
}

function named(name) {
  return NAMES[name] ?? name;
}
