// The client of specification 001: files and sessions of agents on /v2.

import { SandkeepError } from "../errors.js";
import { type CallOptions, Transport } from "../transport/transport.js";
import { Calls, orAborted } from "./calls.js";
import { Connection } from "./connection.js";
import { FileMethods, type Transfer } from "./files.js";
import type { SandboxAgentOptions } from "./options.js";
import { SessionMethods } from "./sessions.js";
