// agentfs-sdk: files in a database, which is in memory here.

import { AgentFS } from "agentfs-sdk";

import { main } from "./workload.mjs";

await main(async () => {
  const { fs: files } = await AgentFS.open({ path: ":memory:" });
  return {
    makeDirectory: (path) => files.mkdir(path),
    create: (path, content) => files.writeFile(path, content),
    read: (path) => files.readFile(path),
    stat: (path) => files.stat(path),
    list: (path) => files.readdir(path),
  };
});
