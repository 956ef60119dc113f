import { equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh, keep, connect, sdk, line, token }) {
  it("a failure is of one class that knows all that is known", async () => {
    const { files } = await fresh();
    const error = await fails(files.readText("no/such.txt"), { kind: "not_found" });
    ok(error instanceof sdk.SandkeepError && error instanceof Error, "one class");
    equal(
      [error.name, error.status, error.operation, error.path],
      ["SandkeepError", 404, "files.get", "no/such.txt"],
    );
    equal(error.message, "path not found: no/such.txt");
    ok(error.hint.length > 0 && error.requestId.length > 0, "a hint and the request's id");
    equal(error.problem.kind, "not_found");
  });

  it("a server that is not there is told as connection", async () => {
    const nowhere = connect({ baseUrl: "http://127.0.0.1:9", retry: { retries: 0 } });
    const error = await fails(nowhere.health(), { kind: "connection", status: undefined });
    ok(error.cause !== undefined && error.hint, "a cause and a hint");
  });

  it("a server that is silent is told as timeout", async () => {
    const silent = connect({ baseUrl: line("silence"), timeout: 150 });
    const begun = Date.now();
    await fails(silent.health(), { kind: "timeout", operation: "health" });
    ok(Date.now() - begun < 5_000, "an end in time");
    await fails(connect({ baseUrl: line("silence") }).health({ timeout: 150 }), {
      kind: "timeout",
    });
  });

  it("a runtime that loses its own patience is told as timeout", async () => {
    for (const code of ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]) {
      const cause = Object.assign(new Error("too late"), { code });
      const fetch = async () => {
        throw new TypeError("fetch failed", { cause });
      };
      await fails(connect({ fetch }).health(), { kind: "timeout", operation: "health" });
    }
  });

  it("something else that answers is told as not understood", async () => {
    const fetch = async () => new Response("<html>hello</html>", { status: 200 });
    await fails(connect({ fetch }).health(), { kind: "not_understood", operation: "health" });
    const gone = async () => new Response("<html>", { status: 404 });
    await fails(connect({ fetch: gone }).health(), { kind: "not_found", status: 404 });
  });

  it("an answer that is shorter than announced is a failure, whoever fetched it", async () => {
    const headers = { "content-length": "100" };
    const fetch = async () => new Response("not one hundred bytes", { headers });
    await fails(connect({ fetch }).sandbox("any").files.read("a"), { kind: "connection" });
  });

  it("a wrong token is told at once", async () => {
    const error = await fails(connect({ token: "wrong" }).health(), { status: 401 });
    equal(error.kind, "token_invalid");
    await fails(connect({ token: "line\nbreak" }).health(), { kind: "invalid_argument" });
  });

  it("an address that cannot be is refused when the client is made", async () => {
    for (const baseUrl of ["", "nonsense", "ftp://host", "http://user:word@host"]) {
      const make = async () => new sdk.Sandkeep({ baseUrl, token });
      await fails(make, { kind: "invalid_argument" });
    }
  });

  it("headers of the caller go with every request", async () => {
    const seen = [];
    const fetch = async (url, init) => {
      seen.push(new Headers(init.headers).get("x-mine"));
      return globalThis.fetch(url, init);
    };
    await connect({ fetch, headers: { "x-mine": "yes" } }).health();
    equal(seen, ["yes"]);
    await keep.health();
  });
}
