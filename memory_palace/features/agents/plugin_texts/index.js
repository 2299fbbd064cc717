// Written by `palace connect openclaw`, version @VERSION@. OpenClaw loads it as it stands.
import { execFile } from "node:child_process";

const PALACE = @PROGRAM@;
const SECONDS = 30;
const BYTES = 8000;

/** Return the message of a failure that was asked for as JSON. */
const told = (out) => {
  try {
    return JSON.parse(out).error.message;
  } catch {
    return "";
  }
};

/** Run the palace's command with an array of arguments: no shell reads them. */
const run = (args, { input = "", seconds = SECONDS, signal } = {}) =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, CLAUDE_PLUGIN_ROOT: import.meta.dirname };
    const options = { env, timeout: seconds * 1000, maxBuffer: 1 << 24, signal };
    const child = execFile(PALACE[0], [...PALACE.slice(1), ...args], options, (error, out, err) =>
      error ? reject(new Error(told(out) || err.trim() || error.message)) : resolve(out),
    );
    child.stdin.on("error", () => {}); // it may end before it has read everything
    child.stdin.end(input);
  });

/** Ask for JSON. It escapes what a terminal would obey or nobody would see: show that as <U+202E>. */
const ask = async (args, options) => {
  const code = (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
  const show = (escaped) => [...JSON.parse(`"${escaped}"`)].map(code).join("");
  const text = await run(args, options);
  const escapes = /\\\\|(?:\\u[0-9a-f]{4}|\\[bfr])+/gi;
  return JSON.parse(text.replace(escapes, (found) => (found[1] === "\\" ? found : show(found))));
};

/** Put text of notes between fences that nothing in it closes. */
const fence = (text) => {
  const bar = "`".repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
  return `${bar}\n${text.trimEnd()}\n${bar}`;
};

const line = (text) => text.replace(/\s/g, " ");
const answer = (text, details) => ({ content: [{ type: "text", text }], details });

const search = {
  name: "memory_search",
  label: "Memory Search",
  description:
    "Search the user's notes (Memory Palace). Use it before answering about earlier work, decisions, " +
    "dates, people, preferences or plans. Cite results as path:line.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "A question or words, in the user's language" },
      maxResults: { type: "integer", minimum: 1, maximum: 50 },
    },
    required: ["query"],
  },
  async execute(_id, { query, maxResults = 5 }, signal) {
    const options = ["-k", String(maxResults), "--budget", String(BYTES)];
    const found = await ask(["query", ...options, "--json", "--", query], { signal });
    const hits = found.hits.map(
      ({ path, line: first, last_line: last, confidence, date, title, text }) =>
        `${line(`${path}:${first}-${last}  ${confidence?.toFixed(2) ?? ""}  ${date}  ${title}`)}\n` +
        fence(text ?? ""),
    );
    const head = found.answered ? [] : ["No note answers this. The nearest:"];
    const shown = hits.length ? [...head, ...hits].join("\n\n") : "No note answers this.";
    return answer(shown, { hits: hits.length });
  },
};

const get = {
  name: "memory_get",
  label: "Memory Get",
  description: "Read a note, or some of its lines, from a path that memory_search has given.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "A note's path; PATH:FIRST-LAST reads these lines" },
      from: { type: "integer", minimum: 1 },
      lines: { type: "integer", minimum: 1 },
    },
    required: ["path"],
  },
  async execute(_id, { path, from, lines }, signal) {
    const first = from ?? 1;
    const place = from || lines ? `${path}:${first}-${first + (lines ?? 100) - 1}` : path;
    const { text } = await ask(["show", "--json", "--", place], { signal });
    const isLong = Buffer.byteLength(text) > 4 * BYTES;
    const shown = isLong ? `${text.slice(0, 4 * BYTES)}\n… [cut: read fewer lines]` : text;
    return answer(fence(shown), { path: place });
  },
};

export default {
  id: "memory-palace",
  name: "Memory Palace",
  description: "Long-term memory in Markdown notes",
  kind: "memory",
  register(api) {
    api.registerTool(search);
    api.registerTool(get);
    const hook = async (verb, event, ctx) => {
      const message = {
        session_id: ctx.sessionKey,
        cwd: ctx.workspaceDir,
        prompt: event.currentUserMessage ?? event.prompt,
      };
      try {
        const options = { input: `${JSON.stringify(message)}\n`, seconds: SECONDS };
        return await run(["hook", verb, "--harness", "openclaw"], options);
      } catch (error) {
        api.logger?.warn?.(`memory-palace: ${error.message}`);
        return "";
      }
    };
    const begun = new Set();
    api.on("before_prompt_build", async (event, ctx) => {
      const verbs = begun.has(ctx.sessionKey) ? ["prompt"] : ["session-start", "prompt"];
      begun.add(ctx.sessionKey);
      const parts = await Promise.all(verbs.map((verb) => hook(verb, event, ctx)));
      const prependContext = parts.filter((part) => part.trim()).join("\n");
      return prependContext ? { prependContext } : undefined;
    });
    api.on("session_end", (_event, ctx) => begun.delete(ctx.sessionKey));
  },
};
