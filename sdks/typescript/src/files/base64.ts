/** Bytes as text, in every runtime: by its own means where it has some, which are much faster. */

/** So many bytes are arguments of one call: more are too many for some runtimes. */
const CHUNK = 8192;

interface Means {
  Buffer?: {
    from(
      bytes: ArrayBufferLike,
      offset: number,
      length: number,
    ): { toString(name: "base64"): string };
    from(text: string, name: "base64"): Uint8Array;
  };
}

const { Buffer } = globalThis as Means;

export function base64(bytes: Uint8Array): string {
  const able = bytes as Uint8Array & { toBase64?(): string };
  if (able.toBase64 !== undefined) return able.toBase64();
  const { buffer, byteOffset, byteLength } = bytes;
  if (Buffer !== undefined) return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  let binary = "";
  for (let at = 0; at < byteLength; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}

/** The bytes of base64 that a server wrote: in the usual letters, padded, on one line. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const able = Uint8Array as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  if (able.fromBase64 !== undefined) return able.fromBase64(text);
  if (Buffer !== undefined) return new Uint8Array(Buffer.from(text, "base64"));
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
