// Calls on lines that break.

import { done, refused } from "../harness/done.js";
import { equal, ok } from "../harness/expect.js";

export default function ({ it, fresh, connect, line, toolkit }) {
  const { createTools } = toolkit;

  async function on(fault, ...details) {
    const sandbox = await fresh();
    const baseUrl = line(fault, ...details);
    const bad = connect({ baseUrl, retry: { firstPause: 5 } }).sandbox(sandbox.id);
    const [root, , id] = baseUrl.split(/(?<!\/)\/(?!\/)/);
    const asked = async () => Number(await (await fetch(`${root}/count/${id}`)).text());
    return { tools: createTools(bad), files: sandbox.files, asked };
  }

  it("what only looks, or can be done twice, is asked again", async () => {
    const look = await on("lose", 2);
    await done(look.tools.listDirectory.execute({}));
    equal(await look.asked(), 3);
    const write = await on("lose", 1);
    await done(write.tools.writeFile.execute({ path: "a", content: "A" }));
    equal([await write.asked(), await write.files.readText("a")], [2, "A"]);
  });

  it("what would happen twice is not repeated", async () => {
    const append = await on("lose", 1);
    const call = append.tools.appendFile.execute({ path: "log", content: "line\n" });
    ok((await refused(call, "connection")).retryable, "a hint that it may pass");
    equal([await append.asked(), await append.files.readText("log")], [1, "line\n"]);
    const move = await on("lose", 1);
    await move.files.write("a", "A");
    await refused(move.tools.move.execute({ from: "a", to: "b" }), "connection");
    equal(await move.asked(), 1);
  });

  it("what may have happened already is told as such", async () => {
    const write = await on("lose", 1);
    const args = { path: "a", content: "A", force: false };
    const told = await refused(write.tools.writeFile.execute(args), "in_doubt");
    ok(told.hint.includes("look"), told.hint);
    const gone = await on("lose", 1);
    await gone.files.write("a", "A");
    await refused(gone.tools.delete.execute({ path: "a" }), "in_doubt");
  });

  it("a server that has no time is asked again, a while later", async () => {
    const busy = await on("refuse", 429, 2, 0);
    await done(busy.tools.appendFile.execute({ path: "a", content: "A" }));
    equal([await busy.asked(), await busy.files.readText("a")], [3, "A"]);
    const never = await on("refuse", 503, 100, "none");
    ok((await refused(never.tools.tree.execute({}), "busy")).retryable, "later");
  });

  it("nobody there, and somebody else there", async () => {
    const nowhere = connect({ baseUrl: "http://127.0.0.1:9", retry: { retries: 0 } });
    await refused(createTools(nowhere).tree.execute({}), "connection");
    for (const body of ["<html>", '"text"', "{}", '{"success":true,"data":{},"metadata":{}}']) {
      const fetch = async () => new Response(body);
      await refused(createTools(connect({ fetch })).tree.execute({}), "not_understood");
    }
    const gone = async () => new Response("<html>", { status: 404 });
    await refused(createTools(connect({ fetch: gone })).tree.execute({}), "not_found");
  });
}
