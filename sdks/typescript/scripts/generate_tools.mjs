// Makes src/generated/tools.ts out of contract/tools.json: a zod schema of every tool's arguments and
// of what it gives. `--check` only looks whether it is current.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { camel, kept } from "./generated.mjs";

const contract = new URL("../../../contract/tools.json", import.meta.url);
const tools = JSON.parse(readFileSync(fileURLToPath(contract), "utf8"));

/** Texts of which more is known than the contract says, by field; or by tool and field. */
const MEANINGS = {
  path: "path",
  encoding: "encoding",
  content: "text",
  oldText: "text",
  newText: "text",
  "edit_file.encoding": "textEncoding",
  "move.from": "path",
  "move.to": "path",
  "copy.from": "path",
  "copy.to": "path",
  "batch.to": "path",
  "list_directory.after": "path",
  "tree.after": "path",
};
const FIELDS = [...new Set(Object.values(MEANINGS)), "count"].sort();

/** Results: a newer server may tell more. */
const reading = { object: "z.object", text: () => undefined };

kept("src/generated/tools.ts", "contract/tools.json", text());

function text() {
  const metadata = tools[0].outputSchema.properties.metadata;
  return `// Made by \`npm run generate\` from contract/tools.json. Do not edit.

import { z } from "zod/v4";
import { ${FIELDS.join(", ")} } from "../tools/fields.js";

/** ${metadata.description} */
export const metadata = ${zod(metadata, reading)};

/** Every tool: what it is called, what it takes and what it gives. */
export const DEFINITIONS = {
${tools.map(definition).join("\n")}
};

${tools.map(types).join("\n")}
`;
}

function definition({ name, title, description, inputSchema, outputSchema, annotations }) {
  const data = outputSchema.properties.data.anyOf[0];
  const { readOnlyHint: onlyLooks, destructiveHint: mayReplace, idempotentHint } = annotations;
  return `${camel(name)}: {
    name: ${JSON.stringify(name)},
    title: ${JSON.stringify(title)},
    description: ${JSON.stringify(description)},
    onlyLooks: ${onlyLooks},
    mayReplace: ${mayReplace},
    isIdempotent: ${idempotentHint},
    parameters: ${zod(inputSchema, writing(name))},
    data: ${zod(data, reading)},
  },`;
}

function types({ name }) {
  const key = camel(name);
  const type = key[0].toUpperCase() + key.slice(1);
  return `/** What \`${name}\` takes. */
export type ${type}Arguments = z.input<typeof DEFINITIONS.${key}.parameters>;
/** What \`${name}\` gives. */
export type ${type}Data = z.output<typeof DEFINITIONS.${key}.data>;`;
}

/** Arguments: unknown fields are refused, and texts are looked at. */
function writing(tool) {
  return { object: "z.strictObject", text: (at) => MEANINGS[`${tool}.${at}`] ?? MEANINGS[at] };
}

/** A schema as zod has it. `at` is the field that it is of. */
function zod(schema, manner, at) {
  const described = (code) =>
    schema.description ? `${code}.describe(${JSON.stringify(schema.description)})` : code;
  const [nullable, plain] = withoutNull(schema);
  const code = plainZod(plain, manner, at);
  return described(nullable ? `${code}.nullable()` : code);
}

function plainZod(schema, manner, at) {
  const words = wordsOf(schema);
  if (words !== undefined) return `z.enum(${JSON.stringify(words)})`;
  switch (schema.type) {
    case "string":
      return manner.text(at) ?? "z.string()";
    case "boolean":
      return "z.boolean()";
    case "number":
      return "z.number()";
    case "integer":
      return schema.minimum === 0 ? "count" : `z.int().min(${schema.minimum})`;
    case "array":
      return `z.array(${zod(schema.items, manner, at)})${bounds(schema)}`;
    case "object":
      if (schema.additionalProperties === true) return "z.record(z.string(), z.unknown())";
      return `${manner.object}({ ${fields(schema, manner)} })`;
    default:
      throw new Error(`a schema that is not known here: ${JSON.stringify(schema)}`);
  }
}

function fields({ properties, required = [] }, manner) {
  const field = ([name, schema]) => {
    const optional = required.includes(name) ? "" : ".optional()";
    return `${name}: ${zod(schema, manner, name)}${optional}`;
  };
  return Object.entries(properties).map(field).join(", ");
}

function bounds({ minItems, maxItems }) {
  return `${minItems === undefined ? "" : `.min(${minItems})`}${maxItems === undefined ? "" : `.max(${maxItems})`}`;
}

/** The words of which one is meant. */
function wordsOf({ oneOf }) {
  return oneOf?.map((one) => one.const);
}

function withoutNull(schema) {
  if (Array.isArray(schema.type)) {
    const [type, ...others] = schema.type.filter((type) => type !== "null");
    if (others.length > 0) throw new Error(`several types: ${JSON.stringify(schema)}`);
    return [true, { ...schema, type }];
  }
  if (schema.anyOf === undefined) return [false, schema];
  const [plain, ...others] = schema.anyOf.filter((one) => one.type !== "null");
  if (others.length > 0) throw new Error(`several schemas: ${JSON.stringify(schema)}`);
  return [true, plain];
}
