import { all, equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh }) {
  it("lines and names are found as they come, and the end says why", async () => {
    const { files } = await fresh();
    await files.write("src/a.py", "one\nhello world\nthree\n");
    await files.write("src/b.txt", "hello\n");
    const search = files.search({ pattern: "hel+o", glob: "*.py" });
    const [line, ...rest] = await all(search);
    equal([line.type, line.path, line.line, line.text], ["line", "src/a.py", 2, "hello world"]);
    equal([line.matches, rest.length], [[[0, 5]], 0]);
    equal([search.end.reason, search.end.truncated, search.end.results], ["complete", false, 1]);

    const names = await files.search({ glob: "*.txt", path: "src" }).all();
    equal(
      names.found.map(({ type, path }) => [type, path]),
      [["name", "src/b.txt"]],
    );
    const budget = await files.search({ pattern: "e", maxResults: 1 }).all();
    equal([budget.found.length, budget.end.truncated], [1, true]);
    const letters = await files.search({ pattern: "HELLO", letters: "alike", words: true }).all();
    equal(letters.found.length, 2);
  });

  it("a search can be left, and begun again", async () => {
    const { files } = await fresh();
    await files.write("many", "line\n".repeat(5_000));
    const search = files.search({ pattern: "line", maxResults: 5_000 });
    let seen = 0;
    for await (const found of search) {
      ok(found.line > 0);
      seen += 1;
      if (seen === 10) break;
    }
    equal([seen, search.end], [10, undefined]);
    equal((await search.all()).found.length, 5_000);
  });

  it("a pattern that cannot be is refused", async () => {
    const { files } = await fresh();
    await fails(files.search({ pattern: "(" }).all(), {
      kind: "invalid_argument",
      operation: "files.search",
    });
  });
}
