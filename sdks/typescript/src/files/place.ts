/** Whose files are meant, and as of when. */

import { pathInAddress } from "../transport/address.js";
import type { Ask, Transport } from "../transport/transport.js";

/** The files of a sandbox, as they are or as a snapshot has them. */
export interface Place {
  transport: Transport;
  /** `/v1/sandboxes/{id}` */
  address: string;
  snapshot?: string | undefined;
}

/** The address of a route that is about a path. */
export function route(place: Place, word: string, path: string): string {
  return `${place.address}/${word}${pathInAddress(path)}`;
}

/** What only looks: it sees the snapshot, and may be asked again. */
export function look(place: Place, ask: Omit<Ask, "method" | "repeat"> & Partial<Ask>): Ask {
  return {
    method: "GET",
    repeat: "safe",
    ...ask,
    query: { snapshot: place.snapshot, ...ask.query },
  };
}
