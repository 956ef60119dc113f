// Just enough of the ustar format to upload files with the client.

const BLOCK = 512;

/** An archive of `{ name, content }` members; a name that ends in a slash is a directory. */
export function tar(members) {
  const blocks = members.flatMap(({ name, content = "" }) => {
    const bytes = Buffer.from(content);
    return [header(name, bytes.length), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function header(name, size) {
  const block = Buffer.alloc(BLOCK);
  const directory = name.endsWith("/");
  block.write(name, 0, 100);
  block.write(directory ? "0000755\0" : "0000640\0", 100);
  block.write("0000000\0".repeat(2), 108);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write(`${(1_700_000_000).toString(8).padStart(11, "0")}\0`, 136);
  block.write(" ".repeat(8), 148);
  block.write(directory ? "5" : "0", 156);
  block.write("ustar\0" + "00", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
