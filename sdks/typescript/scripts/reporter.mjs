// What failed, and a line for each suite: four runtimes with the same promises are too much to read.

import { Transform } from "node:stream";

export default new Transform({
  writableObjectMode: true,
  transform({ type, data }, _, done) {
    if (type === "test:fail" && data.details.type !== "suite") {
      done(null, `FAILED ${data.name}\n${data.details.error.cause?.stack ?? data.details.error}\n`);
    } else if (type === "test:pass" && data.details.type === "suite") done(null, `${data.name}\n`);
    else done();
  },
});
