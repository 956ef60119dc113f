/** Bytes as text, in every runtime. */

/** So many bytes are arguments of one call: more are too many for some runtimes. */
const CHUNK = 8192;

export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.byteLength; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}
