// Every tool does what it says, and what goes wrong is a result.

import { done, refused } from "../harness/done.js";
import { equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh, keep, connect, toolkit, unique, baseUrl, token }) {
  const { createTools } = toolkit;
  const all = async (settings, request) => createTools(await fresh(request), settings);

  it("the seven operations", async () => {
    const tools = await all();
    const made = await done(tools.createDirectory.execute({ path: "out/reports" }));
    equal(made.created, true);
    equal((await done(tools.createDirectory.execute({ path: "out/reports" }))).created, false);
    const written = await done(
      tools.writeFile.execute({ path: "out/reports/a.txt", content: "one\ntwo\n" }),
    );
    equal([written.bytesWritten, written.created, written.size], [8, true, 8]);
    const read = await done(tools.readFile.execute({ path: "out/reports/a.txt" }));
    equal([read.content, read.encoding, read.size], ["one\ntwo\n", "utf-8", 8]);
    const listed = await done(tools.listDirectory.execute({ path: "out", recursive: true }));
    equal(
      listed.entries.map(({ name, type, size }) => [name, type, size]),
      [
        ["reports", "directory", null],
        ["a.txt", "file", 8],
      ],
    );
    const info = await done(tools.fileInfo.execute({ path: "out/reports/a.txt" }));
    equal([info.name, info.type, info.size], ["a.txt", "file", 8]);
    ok(Date.parse(info.modifiedAt) > 0, "a time");
    equal((await done(tools.exists.execute({ path: "out" }))).type, "directory");
    const gone = await done(tools.delete.execute({ path: "out", recursive: true }));
    equal([gone.deleted, gone.type], [true, "directory"]);
    equal((await done(tools.exists.execute({ path: "out" }))).exists, false);
  });

  it("the others", async () => {
    const tools = await all();
    await done(tools.writeFile.execute({ path: "src/main.rs", content: "fn main() {}\n" }));
    await done(tools.appendFile.execute({ path: "src/main.rs", content: "// end\n" }));
    const kept = await done(tools.snapshot.execute({ id: "before", message: "all is well" }));
    equal([kept.id, kept.message, kept.files], ["before", "all is well", 1]);
    const edits = [{ oldText: "// end", newText: "// the end" }];
    const edited = await done(tools.editFile.execute({ path: "src/main.rs", edits }));
    equal(edited.replaced, [1]);
    ok(edited.diff.includes("+// the end"), "a diff");
    await done(tools.copy.execute({ from: "src", to: "copy" }));
    equal((await done(tools.move.execute({ from: "copy", to: "moved" }))).type, "directory");
    const found = await done(tools.search.execute({ content: "the end" }));
    equal(found.matches.length, 2);
    equal(found.matches[0].line, 2);
    equal((await done(tools.search.execute({ names: "*.rs" }))).matches[0].type, "file");
    const drawn = await done(tools.tree.execute({}));
    ok(drawn.tree.includes("moved/\n  main.rs\n"), "a drawing");
    const steps = [
      { operation: "write", path: "b", content: "B" },
      { operation: "delete", path: "moved", recursive: true },
    ];
    equal((await done(tools.batch.execute({ steps }))).steps[1].type, null);
    const { changes } = await done(tools.diff.execute({ from: "before" }));
    equal(changes.map(({ change }) => change).sort(), ["added", "modified"]);
    equal((await done(tools.listSnapshots.execute({}))).snapshots.length, 1);
    await done(tools.restore.execute({ id: "before" }));
    equal((await done(tools.exists.execute({ path: "b" }))).exists, false);
  });

  it("a result says what else there is to say", async () => {
    const tools = await all();
    const written = await tools.writeFile.execute({ path: "a", content: "äöü" });
    equal([written.metadata.tool, written.metadata.bytesWritten], ["write_file", 6]);
    equal((await tools.readFile.execute({ path: "a" })).metadata.bytesRead, 6);
    equal((await tools.listDirectory.execute({})).metadata.items, 1);
    await tools.writeFile.execute({ path: "b", content: "" });
    const { truncated } = (await tools.listDirectory.execute({ limit: 1 })).metadata;
    equal([truncated.returned, truncated.reason, truncated.unit], [1, "limit", "entries"]);
    const rest = await done(tools.listDirectory.execute({ ...truncated.next }));
    equal(
      rest.entries.map(({ name }) => name),
      ["b"],
    );
  });

  it("a failure is a result with a kind, a hint and names that are alike", async () => {
    const tools = await all();
    await done(tools.writeFile.execute({ path: "notes/report.txt", content: "x" }));
    const missing = await refused(
      tools.readFile.execute({ path: "notes/repport.txt" }),
      "not_found",
    );
    ok(missing.suggestions[0].endsWith("/notes/report.txt"), "a name that is alike");
    ok(missing.hint && missing.error.includes(missing.hint), "a hint");
    equal(missing.retryable, false);
    await refused(tools.readFile.execute({ path: "notes" }), "is_a_directory");
    await refused(tools.delete.execute({ path: "notes" }), "directory_not_empty");
    await refused(tools.delete.execute({ path: "none" }), "not_found");
    equal((await done(tools.delete.execute({ path: "none", force: true }))).deleted, false);
    const twice = { path: "notes/report.txt", content: "y", force: false };
    await refused(tools.writeFile.execute(twice), "already_exists");
    await refused(tools.readFile.execute({ path: "../../../../etc/passwd" }), "outside_sandbox");
  });

  it("a program that goes on only if all is well says so", async () => {
    const tools = await all();
    const written = toolkit.dataOf(await tools.writeFile.execute({ path: "a", content: "A" }));
    equal(written.bytesWritten, 1);
    const missing = async () => toolkit.dataOf(await tools.readFile.execute({ path: "b" }));
    const facts = { name: "SandkeepError", kind: "not_found", operation: "tools.read_file" };
    ok((await fails(missing, facts)).hint, "a hint");
  });

  it("a version makes sure that nobody else wrote meanwhile", async () => {
    const tools = await all();
    const { version } = await done(tools.writeFile.execute({ path: "a", content: "1" }));
    await done(tools.writeFile.execute({ path: "a", content: "2", ifVersion: version }));
    const late = tools.writeFile.execute({ path: "a", content: "3", ifVersion: version });
    await refused(late, "precondition_failed");
    equal((await done(tools.readFile.execute({ path: "a" }))).content, "2");
  });

  it("tools are made of a client, of a sandbox, and of an address with a token", async () => {
    const sandbox = await fresh();
    const path = unique("file");
    await done(createTools(sandbox).writeFile.execute({ path, content: "here" }));
    const alike = createTools({ baseUrl, token, sandbox: sandbox.id });
    equal((await done(alike.readFile.execute({ path }))).content, "here");
    const own = createTools(keep);
    equal((await done(own.exists.execute({ path }))).exists, false);
    await done(own.writeFile.execute({ path, content: "there" }));
    equal(await keep.files.readText(path), "there");
    await done(own.delete.execute({ path }));
    await fails(async () => createTools("alice"), { kind: "invalid_argument" });
    await fails(async () => createTools({ token }), { kind: "invalid_argument" });
  });

  it("one class for each operation, which can be extended", async () => {
    const sandbox = await fresh();
    class Logged extends toolkit.SandboxWriteFile {
      calls = 0;
      async execute(args, context) {
        this.calls += 1;
        return super.execute(args, context);
      }
    }
    const tool = new Logged(sandbox, { maxFileSize: 5 });
    ok(tool instanceof toolkit.ToolBase && tool instanceof toolkit.SandboxTool, "a tool");
    equal([tool.name, Logged.toolName], ["write_file", "write_file"]);
    ok(tool.description === Logged.description && tool.parameters === Logged.parameters);
    await done(tool.execute({ path: "a", content: "short" }));
    await refused(tool.execute({ path: "a", content: "longer" }), "file_too_large");
    equal([tool.calls, await sandbox.files.readText("a")], [2, "short"]);
  });

  it("a method works without its object", async () => {
    const { execute } = (await all()).writeFile;
    await done(execute({ path: "a", content: "alone" }));
  });

  it("a sandbox that is not there, and a key that is none", async () => {
    const path = "a";
    const none = createTools({ baseUrl, token, sandbox: unique("none") });
    await refused(none.readFile.execute({ path }), "sandbox_not_found");
    const wrong = createTools(connect({ token: "wrong" }));
    await refused(wrong.readFile.execute({ path }), "token_invalid");
    const shut = createTools(connect({ token: () => Promise.reject(new Error("shut")) }));
    await refused(shut.readFile.execute({ path }), "token_invalid");
  });

  it("a viewer looks and changes nothing", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("a", "A");
    const { key } = await keep.keys.create({ role: "viewer", sandboxes: [sandbox.id] });
    const tools = createTools(connect({ token: undefined, key }).sandbox(sandbox.id));
    equal((await done(tools.readFile.execute({ path: "a" }))).content, "A");
    await refused(tools.writeFile.execute({ path: "a", content: "B" }), "forbidden");
    equal(await sandbox.files.readText("a"), "A");
  });
}
