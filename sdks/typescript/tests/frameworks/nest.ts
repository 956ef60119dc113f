// Two steps of a workflow as a framework on Nest has them: tools are classes that are decorated and
// injected. `BlockConfig` and `WithArguments` are here what such a framework's own decorators do: they
// leave what they are told with the class, where the framework finds it.

import "reflect-metadata";
import { Inject, Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Sandkeep } from "sandkeep";
import {
  type Connection,
  SandboxReadFile,
  SandboxWriteFile,
  type ToolBase,
  type ToolResult,
} from "sandkeep/tools";
import { z } from "zod/v4";

const CONNECTION = Symbol("connection");
const [CONFIG, ARGUMENTS] = ["config", "arguments"];

function BlockConfig(options: { config: { description: string } }): ClassDecorator {
  return (target) => Reflect.defineMetadata(CONFIG, options, target);
}

function WithArguments(schema: z.ZodType): ClassDecorator {
  return (target) => Reflect.defineMetadata(ARGUMENTS, schema, target);
}

@Injectable()
@BlockConfig({ config: { description: SandboxWriteFile.description } })
@WithArguments(SandboxWriteFile.parameters)
class WriteFile extends SandboxWriteFile {
  constructor(@Inject(CONNECTION) connection: Connection) {
    super(connection, { allowedPaths: ["handed-over"], timeoutMs: 5_000 });
  }
}

@Injectable()
@BlockConfig({ config: { description: SandboxReadFile.description } })
@WithArguments(SandboxReadFile.parameters)
class ReadFile extends SandboxReadFile {
  constructor(@Inject(CONNECTION) connection: Connection) {
    super(connection, { maxFileSize: 1024, defaultEncoding: "utf-8" });
  }
}

/** What a framework does with a block: it checks the arguments by its schema, and executes it. */
async function run<TArgs extends object, TData>(
  tool: ToolBase<TArgs, TData>,
  args: TArgs,
): Promise<ToolResult<TData>> {
  const schema: z.ZodType = Reflect.getMetadata(ARGUMENTS, tool.constructor);
  return tool.execute(schema.parse(args) as TArgs, {});
}

@Injectable()
class Workflow {
  constructor(
    private readonly writeFile: WriteFile,
    private readonly readFile: ReadFile,
  ) {}

  async run(): Promise<object> {
    const path = "handed-over/note.txt";
    const written = await run(this.writeFile, { path, content: "from one step to the next" });
    const read = await this.readFile.execute({ path });
    const refused = await this.writeFile.execute({ path: "elsewhere", content: "" });
    const { config } = Reflect.getMetadata(CONFIG, WriteFile);
    const schema: z.ZodType = Reflect.getMetadata(ARGUMENTS, WriteFile);
    return {
      description: config.description.split(" What was")[0],
      required: z.toJSONSchema(schema).required,
      results: [written.success, read.success, refused.success],
      content: read.data?.content,
      kind: refused.metadata.kind,
    };
  }
}

async function sandbox(): Promise<Connection> {
  const { SANDKEEP_URL: baseUrl = "", SANDKEEP_TOKEN: token } = process.env;
  return new Sandkeep({ baseUrl, token }).sandboxes.create();
}

@Module({
  providers: [{ provide: CONNECTION, useFactory: sandbox }, WriteFile, ReadFile, Workflow],
})
class WorkflowModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(WorkflowModule, { logger: false });
  console.log(JSON.stringify(await app.get(Workflow).run()));
  await app.close();
}

main();
