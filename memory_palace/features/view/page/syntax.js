/** What a note's Markdown means: CommonMark and tables by markdown-it, and what Obsidian adds. */
const Syntax = (() => {
  // No rule looks further than this for the end of what it began: a long text of openings only
  // would take time that grows with its square.
  const LONGEST = 1000;
  const MATH_LINES = 200;
  const TAG = /^#([\p{L}\p{M}\p{N}_/-]{1,200})/u;
  const FOOTNOTE = /^\[\^([^\]\s]{1,100})\]/;
  const BLOCK_NAME = /^\^[A-Za-z0-9-]{1,100}\s*$/;
  const DROPPED = /<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;

  const upTo = (state, end, from) => {
    const part = state.src.slice(from, Math.min(from + LONGEST, state.posMax));
    const found = part.indexOf(end);
    return found < 1 || part.lastIndexOf("\n", found) !== -1 ? null : part.slice(0, found);
  };

  const add = (state, silent, length, type, meta) => {
    if (!silent) Object.assign(state.push(type, "", 0), { meta });
    state.pos += length;
    return true;
  };

  /** [[target#heading|words]], and ![[target]], which Obsidian shows in place */
  function readWikiLink(state, silent) {
    const embedded = state.src.startsWith("![[", state.pos);
    const start = state.pos + (embedded ? 3 : 2);
    if (!embedded && !state.src.startsWith("[[", state.pos)) return false;
    const inside = upTo(state, "]]", start);
    if (inside === null || inside.includes("[[")) return false;
    const bar = inside.indexOf("|");
    const written = bar < 0 ? inside : inside.slice(0, bar);
    const [target, ...headings] = written.split("#");
    const meta = {
      embedded,
      target: target.trim(),
      heading: (headings.pop() || "").trim(),
      words: bar < 0 ? "" : inside.slice(bar + 1).trim(),
    };
    return add(state, silent, start - state.pos + inside.length + 2, "wiki", meta);
  }

  function readFootnote(state, silent) {
    if (!state.src.startsWith("[^", state.pos)) return false;
    const found = FOOTNOTE.exec(state.src.slice(state.pos, state.pos + 110));
    return found ? add(state, silent, found[0].length, "footnote", { label: found[1] }) : false;
  }

  function readTag(state, silent) {
    if (state.src[state.pos] !== "#") return false;
    if (state.pos > 0 && !/[\s(]/.test(state.src[state.pos - 1])) return false;
    const found = TAG.exec(state.src.slice(state.pos, state.pos + 210));
    if (!found || /^[\p{N}/-]+$/u.test(found[1])) return false;
    return add(state, silent, found[0].length, "tag", { tag: found[1].replace(/\/+$/, "") });
  }

  /** A formula is shown as it is written. "$5 and $6" is none: its end follows a space. */
  function readMath(state, silent) {
    const mark = state.src.startsWith("$$", state.pos) ? "$$" : "$";
    if (state.src[state.pos] !== "$") return false;
    const inside = upTo(state, mark, state.pos + mark.length);
    if (inside === null || inside.trim() !== inside) return false;
    const length = inside.length + 2 * mark.length;
    if (/\d/.test(state.src[state.pos + length] || "")) return false;
    return add(state, silent, length, "math", { formula: inside });
  }

  function readHighlight(state, silent) {
    if (!state.src.startsWith("==", state.pos)) return false;
    const inside = upTo(state, "==", state.pos + 2);
    if (inside === null || inside.trim() !== inside || inside[0] === "=") return false;
    const end = state.pos + 2 + inside.length;
    if (!silent) {
      const { posMax } = state;
      state.push("mark_open", "mark", 1);
      state.pos += 2;
      state.posMax = end;
      state.md.inline.tokenize(state);
      state.posMax = posMax;
      state.push("mark_close", "mark", -1);
    }
    state.pos = end + 2;
    return true;
  }

  /** ^name at the end of a block is what others link to; Obsidian does not show it. */
  function readBlockName(state, silent) {
    if (state.src[state.pos] !== "^" || !/\s/.test(state.src[state.pos - 1] || "")) return false;
    const found = BLOCK_NAME.exec(state.src.slice(state.pos, state.pos + 110));
    if (!found || state.pos + found[0].length < state.posMax) return false;
    return add(state, silent, found[0].length, "block_name");
  }

  const lineAt = (state, line) =>
    state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line]);

  function readMathBlock(state, first, last, silent) {
    const opening = lineAt(state, first);
    if (!opening.startsWith("$$")) return false;
    let line = first;
    let ends = opening.length > 3 && opening.trimEnd().endsWith("$$");
    while (!ends) {
      line += 1;
      if (line >= last || line > first + MATH_LINES) return false;
      ends = lineAt(state, line).trimEnd().endsWith("$$");
    }
    if (silent) return true;
    const formula = state.getLines(first, line + 1, state.blkIndent, false);
    state.line = line + 1;
    Object.assign(state.push("math_block", "", 0), { meta: { formula: formula.trim() } });
    return true;
  }

  function readFootnoteText(state, first, last, silent) {
    const found = FOOTNOTE.exec(lineAt(state, first).slice(0, 110));
    if (!found || lineAt(state, first)[found[0].length] !== ":") return false;
    if (silent) return true;
    let end = first + 1;
    while (end < last && !state.isEmpty(end) && !lineAt(state, end).startsWith("[^")) end += 1;
    const lines = state.getLines(first, end, state.blkIndent, false);
    state.push("footnote_open", "div", 1).meta = { label: found[1] };
    const words = state.push("inline", "", 0);
    words.content = lines.slice(found[0].length + 1).trim();
    words.map = [first, end];
    words.children = [];
    state.push("footnote_close", "div", -1);
    state.line = end;
    return true;
  }

  function addRules(parser) {
    const { inline, block } = parser;
    const stops = { alt: ["paragraph", "reference", "blockquote", "list"] };
    inline.ruler.before("link", "wiki", readWikiLink);
    inline.ruler.after("wiki", "footnote", readFootnote);
    inline.ruler.push("tag", readTag);
    inline.ruler.push("math", readMath);
    inline.ruler.push("highlight", readHighlight);
    inline.ruler.push("block_name", readBlockName);
    block.ruler.before("fence", "math_block", readMathBlock, stops);
    block.ruler.before("reference", "footnote_text", readFootnoteText, stops);
  }

  function makeParser() {
    // Which links may be followed, and which tags are known, is decided where they are made: markdown.js.
    const parser = markdownit({ html: true, linkify: true, typographer: false, maxNesting: 60 });
    parser.validateLink = () => true;
    parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
    parser.linkify.add("ftp:", null).add("//", null);
    addRules(parser);
    return parser;
  }

  const parser = makeParser();

  /** HTML between blocks is read as that in a line: its tags one by one, and the words between them. */
  function readHtml({ content }) {
    const [{ children }] = parser.parseInline(content.replace(DROPPED, ""), {});
    return children.map((token) => (token.type === "softbreak" ? Object.assign(token, { type: "text", content: "\n" }) : token));
  }

  const parse = (text) => parser.parse(text, {}).flatMap((token) => (token.type === "html_block" ? readHtml(token) : [token]));

  return { parse };
})();
