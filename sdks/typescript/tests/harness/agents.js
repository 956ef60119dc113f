// Clients for agents, each with a directory of its own.

/** `withClient(options, use)` makes one, and ends it when `use(client, directory)` is done. */
export function agents({ sdk, baseUrl, token, unique }) {
  return async (options, use) => {
    const directory = await makeDirectory(baseUrl, token, unique("agent"));
    const client = new sdk.SandboxAgentClient({ baseUrl, token, agent: "mock", ...options });
    try {
      await use(client, directory);
    } finally {
      await client.dispose();
    }
  };
}

async function makeDirectory(baseUrl, token, path) {
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL(`/v1/fs/mkdir?path=${path}`, baseUrl);
  return (await (await fetch(url, { method: "POST", headers })).json()).path;
}
