// just-bash: the file system in memory beneath a simulated shell.

import { InMemoryFs } from "just-bash";

import { main } from "./workload.mjs";

await main(() => {
  const files = new InMemoryFs();
  return {
    makeDirectory: (path) => files.mkdir(path),
    create: (path, content) => files.writeFile(path, content),
    read: (path) => files.readFileBuffer(path),
    stat: (path) => files.stat(path),
    list: (path) => files.readdir(path),
  };
});
