// What every peer does, and how its CPU time is taken: `workload.py` in JavaScript.
//
// A peer is an object with `makeDirectory`, `create`, `read`, `stat` and `list`, all asynchronous.

const DIRECTORIES = 20;
const SIZE = 2048;
const STRIDE = 7919;
const WARM_UP = 2000;
const ENOUGH_NS = 200_000_000;
const AT_ONCE = 500;

const CONTENT = Buffer.from(Array.from({ length: SIZE }, (_, index) => (index * 31) % 251));

export async function main(newPeer) {
  const files = Number(process.argv[process.argv.indexOf("--files") + 1]);
  const warm = scattered(WARM_UP);
  await use((await filled(newPeer, warm)).tree, warm, 0);

  const paths = scattered(files);
  let { tree, done, spent } = await filled(newPeer, paths);
  while (spent < ENOUGH_NS) {
    const more = await filled(newPeer, paths);
    tree = more.tree;
    done += more.done;
    spent += more.spent;
  }
  tell("create", done, spent);
  for (const figure of await use(tree, paths, ENOUGH_NS)) tell(...figure);
}

/** A new tree with all files, how many they are, and how long it took to make them. */
async function filled(newPeer, paths) {
  const tree = await newPeer();
  for (const directory of directories()) await tree.makeDirectory(directory);
  const begin = process.cpuUsage();
  for (const path of paths) await tree.create(path, CONTENT);
  return { tree, done: paths.length, spent: since(begin) };
}

async function use(tree, paths, enough) {
  const inEach = Math.floor(paths.length / DIRECTORIES);
  const read = async (path) => check((await tree.read(path)).length === SIZE);
  const stat = (path) => tree.stat(path);
  const list = async (directory) => check((await tree.list(directory)).length === inEach);
  return [
    ["read", ...(await repeated(read, paths, enough))],
    ["stat", ...(await repeated(stat, paths, enough))],
    ["list", ...(await repeated(list, directories(), enough))],
  ];
}

async function repeated(operation, args, enough) {
  let done = 0;
  let at = 0;
  const begin = process.cpuUsage();
  for (;;) {
    const some = args.slice(at, at + AT_ONCE);
    for (const argument of some) await operation(argument);
    done += some.length;
    at = args.length > AT_ONCE ? (at + AT_ONCE) % args.length : 0;
    const spent = since(begin);
    if (spent >= enough) return [done, spent];
  }
}

function directories() {
  return Array.from({ length: DIRECTORIES }, (_, index) => `/dir-${pad(index, 2)}`);
}

function scattered(files) {
  return Array.from({ length: files }, (_, position) => {
    const index = (position * STRIDE) % files;
    return `/dir-${pad(index % DIRECTORIES, 2)}/file-${pad(index, 5)}.txt`;
  });
}

function pad(number, width) {
  return String(number).padStart(width, "0");
}

function since(begin) {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) * 1000;
}

function check(right) {
  if (!right) throw new Error("the peer does not hold what was put into it");
}

function tell(op, count, cpu_ns) {
  console.log(JSON.stringify({ op, count, cpu_ns }));
}
