// What a user of /v1/sandboxes writes who follows its specification: the same addresses (a path is
// put in as it is), headers and bodies, and the same use of the answers. Its own code is not ours to
// copy; `SANDKEEP_SPECIFICATION` lets the tests run that as well (see sources.mjs).

export interface Entry {
  name: string;
  size: number;
  mod_time: number;
  is_dir: boolean;
}

export function connect(base: string, key: string) {
  const authorization = { Authorization: `Bearer ${key}` };
  const address = (id: string, route: string) => `${base}/v1/sandboxes/${id}/${route}`;

  async function checked(what: string, asked: Promise<Response>): Promise<Response> {
    const answer = await asked;
    if (answer.ok) return answer;
    throw new Error(`${what} failed: ${await answer.text()}`);
  }

  async function writeFile(id: string, path: string, content: string | Uint8Array) {
    const headers = { ...authorization, "Content-Type": "application/octet-stream" };
    const request = { method: "PUT", headers, body: content };
    await checked("Write", fetch(address(id, `fs/${path}`), request));
  }

  async function readFile(id: string, path: string): Promise<string> {
    const request = { headers: authorization };
    return (await checked("Read", fetch(address(id, `fs/${path}`), request))).text();
  }

  async function listDir(id: string, path = ""): Promise<{ entries: Entry[]; total: number }> {
    const route = path === "" ? "fs-list" : `fs-list/${path}`;
    return (await checked("List", fetch(address(id, route), { headers: authorization }))).json();
  }

  async function deleteFile(id: string, path: string) {
    const request = { method: "DELETE", headers: authorization };
    await checked("Delete", fetch(address(id, `fs/${path}`), request));
  }

  /** All four, one after the other; what is deleted was never there. */
  async function example(id: string) {
    await writeFile(id, "src/index.html", "<h1>Hello!</h1>");
    const content = await readFile(id, "src/index.html");
    const listing = await listDir(id, "src");
    await deleteFile(id, "src/temp.txt");
    return { content, listing };
  }

  return { writeFile, readFile, listDir, deleteFile, example };
}
