// Made by `npm run generate` from contract/tools.json. Do not edit.

import { z } from "zod/v4";
import { count, encoding, path, text, textEncoding } from "../tools/fields.js";

/** What else there is to say of a call. What does not concern it is left out. */
export const metadata = z
  .object({
    tool: z.string().describe("Which tool it was."),
    durationMs: z.number().describe("How long it took, in milliseconds."),
    bytesRead: count.describe("How many bytes of a file were read.").optional(),
    bytesWritten: count.describe("How many bytes were written.").optional(),
    items: count
      .describe("How many things were counted: entries, matches, changes, steps.")
      .optional(),
    truncated: z
      .object({
        returned: count.describe("How much was given."),
        total: count
          .nullable()
          .describe("How much there is; null where nobody counted to the end."),
        unit: z
          .enum(["bytes", "lines", "entries", "matches", "changes", "snapshots", "steps"])
          .describe("What is counted."),
        reason: z
          .enum(["limit", "budget", "depth", "bytes", "time"])
          .describe("Why there is no more."),
        next: z
          .record(z.string(), z.unknown())
          .nullable()
          .describe(
            "The arguments to call with, beside those of this call, to go on where it ended; null if that cannot be done.",
          ),
      })
      .describe("That there is more than was given, why, and how to get it.")
      .optional(),
    kind: z.string().describe("The kind of failure, a stable word for programs.").optional(),
    path: z.string().describe("The path that it went wrong at.").optional(),
    hint: z.string().describe("What to do next.").optional(),
    suggestions: z
      .array(z.string())
      .describe("Names that are there and look like the one that is not.")
      .optional(),
    retryable: z
      .boolean()
      .describe("Whether the same call may be made again as it is, and may succeed then.")
      .optional(),
  })
  .describe("What else there is to say of a call. What does not concern it is left out.");

/** Every tool: what it is called, what it takes and what it gives. */
export const DEFINITIONS = {
  readFile: {
    name: "read_file",
    title: "Read a file",
    description:
      "Read a file: all of it, a range of its lines, its last lines, or a range of its bytes. Nothing is trimmed or replaced. What is too long for one answer comes in parts: `metadata.truncated.next` has the arguments for the next one.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path.describe("The file."),
      encoding: encoding
        .nullable()
        .describe(
          "How bytes become text: a name such as `utf-8` or `shift_jis`, `base64` for any bytes, or `auto` to recognise it (base64 if it is no text).",
        )
        .optional(),
      startLine: z
        .int()
        .min(1)
        .nullable()
        .describe("The first line to read, from 1 on.")
        .optional(),
      endLine: z.int().min(1).nullable().describe("The last line to read.").optional(),
      tail: z.int().min(1).nullable().describe("Read only the last so many lines.").optional(),
      offset: count.nullable().describe("The first byte to read, from 0 on.").optional(),
      length: count.nullable().describe("How many bytes to read at most.").optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The file."),
        content: z.string().describe("The content, exactly as it is."),
        encoding: z
          .string()
          .describe("How `content` stands for bytes: the name of an encoding, or `base64`."),
        size: count.describe("How many bytes the file has."),
        range: z
          .object({
            start: count.describe("The first."),
            end: count.describe("The one behind the last."),
          })
          .describe("Which bytes of the file these are."),
        lines: z
          .object({
            start: count.describe("The first, from 1 on."),
            end: count.describe("The last."),
            total: count
              .nullable()
              .describe("How many there are; null where nobody counted to the end."),
          })
          .describe("Which lines these are, where lines were asked for.")
          .optional(),
        version: z
          .string()
          .nullable()
          .describe("A token of the file's state; null where there is none yet."),
      })
      .describe("What a file holds."),
  },
  writeFile: {
    name: "write_file",
    title: "Write a file",
    description:
      "Write a whole file. What was there is replaced at once: whoever reads sees the old content or the new, never a part. Missing directories are made.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path.describe("The file."),
      content: text.describe("The content, exactly as it shall be."),
      encoding: encoding
        .nullable()
        .describe(
          "How `content` stands for bytes: `utf-8` (the default), another encoding such as `utf-16le` or `shift_jis`, or `base64` for binary data.",
        )
        .optional(),
      createParents: z
        .boolean()
        .nullable()
        .describe("`false` to make no directories. They are made by default.")
        .optional(),
      force: z
        .boolean()
        .nullable()
        .describe("`false` to refuse to replace a file that is there. It is replaced by default.")
        .optional(),
      ifVersion: z
        .string()
        .nullable()
        .describe(
          "Write only if the file still has this version, as `read_file` or `file_info` told it.",
        )
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The file."),
        bytesWritten: count.describe("How many bytes were written."),
        created: z.boolean().describe("Whether the file is new."),
        size: count.describe("How long the file is now."),
        version: z
          .string()
          .nullable()
          .describe("A token of the file's state now; null where there is none yet."),
      })
      .describe("What was written."),
  },
  listDirectory: {
    name: "list_directory",
    title: "List a directory",
    description:
      "List what is in a directory, sorted by name, with type and length; with `recursive`, what is beneath it too. Links are told of and not followed.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path
        .nullable()
        .describe("The directory; without it, the one where relative paths begin.")
        .optional(),
      recursive: z
        .boolean()
        .nullable()
        .describe("`true` to list what is beneath its directories too.")
        .optional(),
      depth: z
        .int()
        .min(1)
        .nullable()
        .describe("How many levels to list with `recursive`: 1 is the directory's own entries.")
        .optional(),
      pattern: z
        .string()
        .nullable()
        .describe(
          "Only names that fit this glob, such as `*.rs`; with a slash in it, paths from the directory on.",
        )
        .optional(),
      type: z
        .enum(["file", "directory", "symlink", "other"])
        .nullable()
        .describe("Only entries of this type.")
        .optional(),
      limit: z.int().min(1).nullable().describe("How many entries to list at most.").optional(),
      after: path
        .nullable()
        .describe("Go on behind this path, which an earlier call told.")
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The directory."),
        entries: z
          .array(
            z
              .object({
                name: z.string().describe("What it is called."),
                type: z.enum(["file", "directory", "symlink", "other"]).describe("What it is."),
                size: count
                  .nullable()
                  .describe("How many bytes a file has; null for everything else."),
                path: z.string().describe("Where it is."),
                modifiedAt: z
                  .string()
                  .nullable()
                  .describe("When its content last changed (RFC 3339); null where nobody knows."),
              })
              .describe("One entry."),
          )
          .describe("What is in it."),
      })
      .describe("What is in a directory."),
  },
  createDirectory: {
    name: "create_directory",
    title: "Make a directory",
    description:
      "Make a directory, and those on the way to it. One that is there already is a success.",
    onlyLooks: false,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path.describe("The directory."),
      recursive: z
        .boolean()
        .nullable()
        .describe(
          "`false` to make this directory alone: its parent must be there. Parents are made by default.",
        )
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The directory."),
        created: z.boolean().describe("Whether it is new; `false` if it was there already."),
      })
      .describe("What was made."),
  },
  delete: {
    name: "delete",
    title: "Delete a file or directory",
    description:
      "Delete a file, a link itself, or an empty directory; with `recursive`, a directory with everything in it.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path.describe("What is deleted."),
      recursive: z
        .boolean()
        .nullable()
        .describe("`true` to delete a directory with everything in it.")
        .optional(),
      force: z
        .boolean()
        .nullable()
        .describe("`true` for a success even if nothing is there.")
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("What was to be deleted."),
        deleted: z.boolean().describe("Whether it was; `false` if nothing was there."),
        type: z
          .enum(["file", "directory", "symlink", "other"])
          .nullable()
          .describe("What it was; null if nothing was there."),
      })
      .describe("What was deleted."),
  },
  exists: {
    name: "exists",
    title: "Check whether a path exists",
    description: "Tell whether a file, directory or link is there.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({ path: path.describe("Where.") }),
    data: z
      .object({
        path: z.string().describe("Where."),
        exists: z.boolean().describe("Whether something is there."),
        type: z
          .enum(["file", "directory", "symlink", "other"])
          .nullable()
          .describe("What it is; null if nothing is there."),
        leadsTo: z
          .enum(["file", "directory", "symlink", "other"])
          .nullable()
          .describe(
            "What a link leads to; null for a link that leads nowhere, and for everything else.",
          ),
      })
      .describe("Whether something is there."),
  },
  fileInfo: {
    name: "file_info",
    title: "Describe a file or directory",
    description:
      "Tell what is known of a file, directory or link: type, length, permissions, times, version.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({ path: path.describe("What is asked about.") }),
    data: z
      .object({
        path: z.string().describe("Where it is."),
        name: z.string().describe("What it is called; `/` for the root."),
        type: z.enum(["file", "directory", "symlink", "other"]).describe("What it is."),
        size: count.nullable().describe("How many bytes a file has; null for everything else."),
        permissions: z
          .string()
          .nullable()
          .describe(
            "Permissions as `ls -l` shows them, such as `-rw-r--r--`; null where there are none.",
          ),
        createdAt: z
          .string()
          .nullable()
          .describe("When it was made (RFC 3339); null where nobody knows."),
        modifiedAt: z
          .string()
          .nullable()
          .describe("When its content last changed (RFC 3339); null where nobody knows."),
        version: z
          .string()
          .nullable()
          .describe("A token of its state: another one means another content."),
        target: z.string().nullable().describe("What a link holds; null for everything else."),
        leadsTo: z
          .enum(["file", "directory", "symlink", "other"])
          .nullable()
          .describe(
            "What a link leads to; null for a link that leads nowhere, and for everything else.",
          ),
      })
      .describe("What is known of it."),
  },
  editFile: {
    name: "edit_file",
    title: "Edit a file",
    description:
      "Replace exact pieces of text in a file, and leave every other byte as it is. All edits are made, in order, or none is. The differences are told.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: false,
    parameters: z.strictObject({
      path: path.describe("The file."),
      edits: z
        .array(
          z
            .strictObject({
              oldText: text.describe(
                "The text that is there, exactly, with enough around it to be there only once.",
              ),
              newText: text.describe("The text that takes its place."),
              replaceAll: z
                .boolean()
                .nullable()
                .describe("`true` to replace it wherever it is.")
                .optional(),
              expectedCount: count
                .nullable()
                .describe("How often it must be there, if that is not once.")
                .optional(),
            })
            .describe("One replacement."),
        )
        .min(1)
        .max(1000)
        .describe("What is replaced, in order: each in the outcome of the ones before."),
      dryRun: z
        .boolean()
        .nullable()
        .describe("`true` to see the differences without changing the file.")
        .optional(),
      encoding: textEncoding
        .nullable()
        .describe(
          "How the bytes stand for text. By default as the server was told, or else as the byte order mark says, or else UTF-8.",
        )
        .optional(),
      ifVersion: z
        .string()
        .nullable()
        .describe(
          "Edit only if the file still has this version, as `read_file` or `file_info` told it.",
        )
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The file."),
        replaced: z.array(count).describe("How often each edit was made."),
        diff: z.string().describe("The differences as a unified diff."),
        diffIsCut: z.boolean().describe("Whether more differs than `diff` tells."),
        dryRun: z.boolean().describe("Whether the file was left as it is, as `dryRun` asked."),
        size: count.describe("How long the file is now."),
        version: z.string().nullable().describe("A token of the file's state now."),
      })
      .describe("What an edit did, or would do."),
  },
  appendFile: {
    name: "append_file",
    title: "Append to a file",
    description:
      "Add to the end of a file. A missing file is made, with the directories on the way.",
    onlyLooks: false,
    mayReplace: false,
    isIdempotent: false,
    parameters: z.strictObject({
      path: path.describe("The file."),
      content: text.describe(
        "What is added, exactly as it is: begin with a line break if the last line has none.",
      ),
      encoding: encoding
        .nullable()
        .describe(
          "How `content` stands for bytes: `utf-8` (the default), another encoding, or `base64`.",
        )
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The file."),
        bytesWritten: count.describe("How many bytes were written."),
        created: z.boolean().describe("Whether the file is new."),
        size: count.describe("How long the file is now."),
        version: z
          .string()
          .nullable()
          .describe("A token of the file's state now; null where there is none yet."),
      })
      .describe("What was written."),
  },
  move: {
    name: "move",
    title: "Move or rename",
    description:
      "Move or rename a file, a directory or a link itself, in one step. Missing directories on the way are made.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: false,
    parameters: z.strictObject({
      from: path.describe("Where it is."),
      to: path.describe("Where it goes: the new path itself, not the directory to put it in."),
      force: z.boolean().nullable().describe("`true` to replace what is there.").optional(),
    }),
    data: z
      .object({
        from: z.string().describe("Where it was, or what was copied."),
        to: z.string().describe("Where it is now."),
        type: z.enum(["file", "directory", "symlink", "other"]).describe("What it is."),
        size: count.nullable().describe("How many bytes a file has; null for everything else."),
      })
      .describe("What went where."),
  },
  copy: {
    name: "copy",
    title: "Copy a file or directory",
    description:
      "Copy a file, a directory with everything in it, or a link itself. Missing directories on the way are made.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: true,
    parameters: z.strictObject({
      from: path.describe("What is copied."),
      to: path.describe(
        "Where the copy goes: the new path itself, not the directory to put it in.",
      ),
      force: z.boolean().nullable().describe("`true` to replace what is there.").optional(),
    }),
    data: z
      .object({
        from: z.string().describe("Where it was, or what was copied."),
        to: z.string().describe("Where it is now."),
        type: z.enum(["file", "directory", "symlink", "other"]).describe("What it is."),
        size: count.nullable().describe("How many bytes a file has; null for everything else."),
      })
      .describe("What went where."),
  },
  search: {
    name: "search",
    title: "Search files",
    description:
      "Find lines in files, or files by name. Lines are found with `content`, which files are searched is chosen with `names`. What `.gitignore` names, hidden files and binary files are left out.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path
        .nullable()
        .describe(
          "Where to look: a directory or a file; without it, the directory where relative paths begin.",
        )
        .optional(),
      content: text
        .nullable()
        .describe("The text that lines must hold; without it, names alone are looked for.")
        .optional(),
      names: z
        .string()
        .nullable()
        .describe("A glob that names must fit: `*.rs` at any depth, `src/**/*.rs` from `path` on.")
        .optional(),
      regex: z
        .boolean()
        .nullable()
        .describe("`true` to read `content` as a regular expression.")
        .optional(),
      caseSensitive: z
        .boolean()
        .nullable()
        .describe("Whether capital letters matter. By default they do if `content` has one.")
        .optional(),
      wholeWord: z
        .boolean()
        .nullable()
        .describe("`true` to find `content` only as a word of its own.")
        .optional(),
      hidden: z
        .boolean()
        .nullable()
        .describe("`true` to look at names that begin with a dot too.")
        .optional(),
      includeIgnored: z
        .boolean()
        .nullable()
        .describe("`true` to look at what `.gitignore` names too.")
        .optional(),
      limit: z.int().min(1).nullable().describe("How many matches to tell at most.").optional(),
    }),
    data: z
      .object({
        matches: z
          .array(
            z
              .object({
                path: z.string().describe("The file."),
                type: z
                  .enum(["file", "directory", "symlink", "other"])
                  .describe("What it is, where names were looked for.")
                  .optional(),
                line: count.describe("Which line, from 1 on.").optional(),
                text: z
                  .string()
                  .describe("The line without its end; of a long one, about the first kilobyte.")
                  .optional(),
              })
              .describe("A line or a name that fits."),
          )
          .describe("Lines or names, file by file."),
        filesSearched: count
          .nullable()
          .describe(
            "How many files were searched; null, as the other counts, if the answer was full before.",
          ),
        bytesSearched: count.nullable().describe("How many bytes of them were read."),
        binaryFiles: count
          .nullable()
          .describe("How many files were left out because they hold no text."),
        unreadableFiles: count.nullable().describe("How many files could not be read."),
      })
      .describe("What was found."),
  },
  tree: {
    name: "tree",
    title: "Draw a directory tree",
    description:
      "Draw what is beneath a directory as an indented tree: the shortest way to see a whole project. Directories end with a slash. Links are not followed.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      path: path
        .nullable()
        .describe("The directory; without it, the one where relative paths begin.")
        .optional(),
      depth: z
        .int()
        .min(1)
        .nullable()
        .describe("How many levels to draw: 1 is the directory's own entries.")
        .optional(),
      limit: z.int().min(1).nullable().describe("How many entries to draw at most.").optional(),
      after: path
        .nullable()
        .describe("Go on behind this path, which an earlier call told.")
        .optional(),
    }),
    data: z
      .object({
        path: z.string().describe("The directory."),
        tree: z.string().describe("The drawing: one entry a line, two spaces a level."),
        files: count.describe("How many files and links are drawn."),
        directories: count.describe("How many directories are drawn."),
        bytes: count.describe("The lengths of the files that are drawn, added up."),
      })
      .describe("What is beneath a directory."),
  },
  batch: {
    name: "batch",
    title: "Make many changes as one",
    description:
      "Make many changes as one: all of them, in order, or none. Nobody sees a state between.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: false,
    parameters: z.strictObject({
      steps: z
        .array(
          z
            .strictObject({
              operation: z
                .enum(["write", "append", "create_directory", "delete", "move", "copy"])
                .describe(
                  "What is done: `write` (path, content), `append` (path, content), `create_directory` (path), `delete` (path; with `recursive` a directory with everything in it), `move` or `copy` (path, to).",
                ),
              path: path.describe("What it is done to."),
              to: path.nullable().describe("Where it is moved or copied to.").optional(),
              content: text.nullable().describe("What is written or appended.").optional(),
              encoding: encoding
                .nullable()
                .describe("How `content` stands for bytes, as in `write_file`.")
                .optional(),
              recursive: z
                .boolean()
                .nullable()
                .describe("`true` to delete a directory with everything in it.")
                .optional(),
              force: z
                .boolean()
                .nullable()
                .describe(
                  "For `write`, `false` to refuse to replace a file; for `move` and `copy`, `true` to replace what is there.",
                )
                .optional(),
              ifVersion: z
                .string()
                .nullable()
                .describe("Do it only if the file at `path` still has this version.")
                .optional(),
            })
            .describe("One change of a batch."),
        )
        .min(1)
        .max(1000)
        .describe("What is done, in order."),
    }),
    data: z
      .object({
        steps: z
          .array(
            z
              .object({
                path: z.string().describe("The path: of a move or copy, where it went."),
                type: z
                  .enum(["file", "directory", "symlink", "other"])
                  .nullable()
                  .describe("What is there; null if it was deleted."),
                size: count
                  .nullable()
                  .describe("How many bytes a file has; null for everything else."),
                version: z.string().nullable().describe("A token of a file's state."),
              })
              .describe("What is at the path of a step."),
          )
          .describe("What is at the path of each step now, in the order of the steps."),
      })
      .describe("What is there after a batch."),
  },
  snapshot: {
    name: "snapshot",
    title: "Take a snapshot",
    description:
      "Keep all files as they are now, at almost no cost, to be able to go back. Do it before changes that may go wrong.",
    onlyLooks: false,
    mayReplace: false,
    isIdempotent: false,
    parameters: z.strictObject({
      id: z
        .string()
        .nullable()
        .describe("What it is called; one that sorts by time is made up without it.")
        .optional(),
      message: z.string().nullable().describe("What a person wants to know about it.").optional(),
    }),
    data: z
      .object({
        id: z.string().describe("What it is called."),
        createdAt: z.string().nullable().describe("When it was taken (RFC 3339)."),
        message: z.string().describe("What a person wants to know about it."),
        files: count.describe("How many files and links it holds."),
        directories: count.describe("How many directories it holds."),
        bytes: count.describe("The lengths of its files, added up."),
      })
      .describe("A snapshot."),
  },
  listSnapshots: {
    name: "list_snapshots",
    title: "List snapshots",
    description: "List the snapshots that were kept, sorted by id.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      limit: z.int().min(1).nullable().describe("How many to list at most.").optional(),
      after: z
        .string()
        .nullable()
        .describe("Go on behind this id, which an earlier call told.")
        .optional(),
    }),
    data: z
      .object({
        snapshots: z
          .array(
            z
              .object({
                id: z.string().describe("What it is called."),
                createdAt: z.string().nullable().describe("When it was taken (RFC 3339)."),
                message: z.string().describe("What a person wants to know about it."),
                files: count.describe("How many files and links it holds."),
                directories: count.describe("How many directories it holds."),
                bytes: count.describe("The lengths of its files, added up."),
              })
              .describe("A snapshot."),
          )
          .describe("The snapshots, by id."),
      })
      .describe("Snapshots."),
  },
  restore: {
    name: "restore",
    title: "Restore a snapshot",
    description:
      "Bring back files as they were in a snapshot: all of them, or what is at a path. What came since is gone there; keep a snapshot first.",
    onlyLooks: false,
    mayReplace: true,
    isIdempotent: true,
    parameters: z.strictObject({
      id: z.string().describe("The snapshot."),
      path: path.nullable().describe("What is brought back; everything without it.").optional(),
    }),
    data: z
      .object({
        id: z.string().describe("The snapshot."),
        path: z.string().describe("What is as it was."),
      })
      .describe("What was brought back."),
  },
  diff: {
    name: "diff",
    title: "Compare with a snapshot",
    description:
      "Tell which files and directories differ between two snapshots, or between a snapshot and now.",
    onlyLooks: true,
    mayReplace: false,
    isIdempotent: true,
    parameters: z.strictObject({
      from: z.string().nullable().describe("The snapshot to begin with.").optional(),
      to: z
        .string()
        .nullable()
        .describe("The snapshot to compare it with; without it, the files as they are now.")
        .optional(),
      limit: z.int().min(1).nullable().describe("How many changes to tell at most.").optional(),
      skip: count.nullable().describe("Leave out so many, which an earlier call told.").optional(),
    }),
    data: z
      .object({
        changes: z
          .array(
            z
              .object({
                path: z.string().describe("Where."),
                change: z.enum(["added", "removed", "modified", "renamed"]).describe("How."),
                from: z.string().describe("Where it was before, if it was renamed.").optional(),
                sizeBefore: count
                  .nullable()
                  .describe("How many bytes a file had before; null for everything else."),
                sizeAfter: count
                  .nullable()
                  .describe("How many bytes a file has now; null for everything else."),
              })
              .describe("A path that differs."),
          )
          .describe("What differs."),
      })
      .describe("What differs."),
  },
};

/** What `read_file` takes. */
export type ReadFileArguments = z.input<typeof DEFINITIONS.readFile.parameters>;
/** What `read_file` gives. */
export type ReadFileData = z.output<typeof DEFINITIONS.readFile.data>;
/** What `write_file` takes. */
export type WriteFileArguments = z.input<typeof DEFINITIONS.writeFile.parameters>;
/** What `write_file` gives. */
export type WriteFileData = z.output<typeof DEFINITIONS.writeFile.data>;
/** What `list_directory` takes. */
export type ListDirectoryArguments = z.input<typeof DEFINITIONS.listDirectory.parameters>;
/** What `list_directory` gives. */
export type ListDirectoryData = z.output<typeof DEFINITIONS.listDirectory.data>;
/** What `create_directory` takes. */
export type CreateDirectoryArguments = z.input<typeof DEFINITIONS.createDirectory.parameters>;
/** What `create_directory` gives. */
export type CreateDirectoryData = z.output<typeof DEFINITIONS.createDirectory.data>;
/** What `delete` takes. */
export type DeleteArguments = z.input<typeof DEFINITIONS.delete.parameters>;
/** What `delete` gives. */
export type DeleteData = z.output<typeof DEFINITIONS.delete.data>;
/** What `exists` takes. */
export type ExistsArguments = z.input<typeof DEFINITIONS.exists.parameters>;
/** What `exists` gives. */
export type ExistsData = z.output<typeof DEFINITIONS.exists.data>;
/** What `file_info` takes. */
export type FileInfoArguments = z.input<typeof DEFINITIONS.fileInfo.parameters>;
/** What `file_info` gives. */
export type FileInfoData = z.output<typeof DEFINITIONS.fileInfo.data>;
/** What `edit_file` takes. */
export type EditFileArguments = z.input<typeof DEFINITIONS.editFile.parameters>;
/** What `edit_file` gives. */
export type EditFileData = z.output<typeof DEFINITIONS.editFile.data>;
/** What `append_file` takes. */
export type AppendFileArguments = z.input<typeof DEFINITIONS.appendFile.parameters>;
/** What `append_file` gives. */
export type AppendFileData = z.output<typeof DEFINITIONS.appendFile.data>;
/** What `move` takes. */
export type MoveArguments = z.input<typeof DEFINITIONS.move.parameters>;
/** What `move` gives. */
export type MoveData = z.output<typeof DEFINITIONS.move.data>;
/** What `copy` takes. */
export type CopyArguments = z.input<typeof DEFINITIONS.copy.parameters>;
/** What `copy` gives. */
export type CopyData = z.output<typeof DEFINITIONS.copy.data>;
/** What `search` takes. */
export type SearchArguments = z.input<typeof DEFINITIONS.search.parameters>;
/** What `search` gives. */
export type SearchData = z.output<typeof DEFINITIONS.search.data>;
/** What `tree` takes. */
export type TreeArguments = z.input<typeof DEFINITIONS.tree.parameters>;
/** What `tree` gives. */
export type TreeData = z.output<typeof DEFINITIONS.tree.data>;
/** What `batch` takes. */
export type BatchArguments = z.input<typeof DEFINITIONS.batch.parameters>;
/** What `batch` gives. */
export type BatchData = z.output<typeof DEFINITIONS.batch.data>;
/** What `snapshot` takes. */
export type SnapshotArguments = z.input<typeof DEFINITIONS.snapshot.parameters>;
/** What `snapshot` gives. */
export type SnapshotData = z.output<typeof DEFINITIONS.snapshot.data>;
/** What `list_snapshots` takes. */
export type ListSnapshotsArguments = z.input<typeof DEFINITIONS.listSnapshots.parameters>;
/** What `list_snapshots` gives. */
export type ListSnapshotsData = z.output<typeof DEFINITIONS.listSnapshots.data>;
/** What `restore` takes. */
export type RestoreArguments = z.input<typeof DEFINITIONS.restore.parameters>;
/** What `restore` gives. */
export type RestoreData = z.output<typeof DEFINITIONS.restore.data>;
/** What `diff` takes. */
export type DiffArguments = z.input<typeof DEFINITIONS.diff.parameters>;
/** What `diff` gives. */
export type DiffData = z.output<typeof DEFINITIONS.diff.data>;
