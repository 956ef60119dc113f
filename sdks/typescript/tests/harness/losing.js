// A `fetch` whose first answer gets lost after the server has done its work. Sockets that are cut do
// not show that everywhere: Deno and Bun ask again by themselves if there is no body.

export function losing() {
  let isLost = false;
  return async (url, init) => {
    const answer = await globalThis.fetch(url, init);
    if (isLost) return answer;
    isLost = true;
    await answer.arrayBuffer();
    throw new TypeError("fetch failed");
  };
}
