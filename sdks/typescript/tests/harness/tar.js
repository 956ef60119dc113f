// Just enough of the ustar format to upload files, in any runtime.

const BLOCK = 512;

/** An archive of `{ name, content }` members; a name that ends in a slash is a directory. */
export function tar(members) {
  const blocks = members.flatMap(({ name, content = "" }) => {
    const bytes = new TextEncoder().encode(content);
    return [header(name, bytes.length), bytes, new Uint8Array(-bytes.length & (BLOCK - 1))];
  });
  blocks.push(new Uint8Array(2 * BLOCK));
  const archive = new Uint8Array(blocks.reduce((total, block) => total + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    archive.set(block, at);
    at += block.length;
  }
  return archive;
}

function header(name, size) {
  const block = new Uint8Array(BLOCK);
  const put = (text, at) => block.set(new TextEncoder().encode(text), at);
  const isDirectory = name.endsWith("/");
  put(name, 0);
  put(isDirectory ? "0000755\0" : "0000644\0", 100);
  put("0000000\0".repeat(2), 108);
  put(`${size.toString(8).padStart(11, "0")}\0`, 124);
  put(`${(1_700_000_000).toString(8)}\0`, 136);
  put(" ".repeat(8), 148);
  put(isDirectory ? "5" : "0", 156);
  put("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
