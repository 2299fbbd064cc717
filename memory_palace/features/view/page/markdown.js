/** A note's Markdown as elements. Nothing of a note becomes markup: each element is made here by
 *  name, and a note's words are only ever text, or a link by one of three schemes. */
const Markdown = (() => {
  const PIECE = 100_000; // characters rendered at once; a button shows the next
  const CALLOUT = /^\[!([\w-]{1,40})\]([+-]?)[ \t]*/;
  const TASK = /^\[(.)\][ \t]/u;
  const WIDTH = /^\d{1,5}(x\d{1,5})?$/; // of a picture, in the place of words
  const BLOCKS = new Set("p h3 h4 h5 h6 li td th blockquote dd summary".split(" "));
  const TAGS = {
    paragraph: "p", bullet_list: "ul", ordered_list: "ol", list_item: "li", blockquote: "blockquote",
    table: "table", thead: "thead", tbody: "tbody", tr: "tr", th: "th", td: "td",
    em: "em", strong: "strong", s: "s", mark: "mark", footnote: "div",
  };
  // HTML is taken by the names of its tags alone; of any other only the words in it are shown.
  const HTML = new Set((
    "b i em strong u s del ins sub sup small kbd mark code pre p div span center details summary a h1 h2 h3 h4 h5 h6"
    + " ul ol li dl dt dd blockquote table thead tbody tr th td"
  ).split(" "));
  const DEEPEST = 60; // tags within tags

  function make(tag, name, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    if (BLOCKS.has(tag)) element.dir = "auto";
    return element;
  }

  /** Return the address that a browser would go to where it is one of three kinds, else null. It is
   *  read by the browser's own parser, so that no spelling of "javascript:" means another thing here. */
  function readAddress(written) {
    if (!/^(https?|mailto):/i.test(written)) return null;
    try {
      const url = new URL(written);
      return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : null;
    } catch {
      return null;
    }
  }

  function makeExternal(url) {
    const link = make("a", "external");
    link.href = url.href;
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    link.dataset.host = url.host || url.pathname;
    return link;
  }

  /** A link to a note, or without one to a heading of the same note. */
  function makeWalk(index, heading) {
    const link = make("a", "walk");
    link.href = index === null ? location.hash : State.addressOfNote(index);
    if (index !== null) link.dataset.note = index;
    if (heading) link.dataset.heading = heading;
    return link;
  }

  function decode(written) {
    try {
      return decodeURIComponent(written);
    } catch {
      return written;
    }
  }

  function openLink(token, { find }) {
    const written = token.attrGet("href") || "";
    const url = readAddress(written);
    if (url) return makeExternal(url);
    const [target, heading] = decode(written).split("#");
    if (!target && heading) return makeWalk(null, heading);
    const index = find(decode(written), target, written);
    return index === null ? makeNowhere("") : makeWalk(index, heading);
  }

  function makeWiki({ meta }, { find }) {
    const { target, heading, words, embedded } = meta;
    const whole = heading ? `${target}#${heading}` : target;
    const last = target.split("/").at(-1).replace(/\.md$/i, "");
    const name = words || (last && heading ? `${last} › ${heading}` : last || heading);
    if (!target && heading) return Object.assign(makeWalk(null, heading), { textContent: name });
    const index = find(target, whole);
    if (index === null) return embedded ? makePicture(WIDTH.test(name) ? last : name) : makeNowhere(name);
    const link = makeWalk(index, heading.replace(/^\^.*/, ""));
    if (embedded) link.classList.add("embedded");
    link.textContent = name;
    return link;
  }

  function makeNowhere(words) {
    const name = make("span", "nowhere", words);
    name.title = "Leads to no note of this page";
    return name;
  }

  function makePicture(words) {
    const frame = make("span", "picture", words || "without a description");
    frame.title = "Pictures are not loaded";
    return frame;
  }

  function makeTask(sign) {
    const box = make("input", "task");
    box.type = "checkbox";
    box.disabled = true;
    box.checked = sign !== " ";
    box.setAttribute("aria-label", box.checked ? "done" : "to do");
    return box;
  }

  function makeFootnote({ meta }) {
    const mark = make("sup");
    const link = make("a", "footnote", meta.label);
    link.href = location.hash || "#";
    link.dataset.footnote = meta.label;
    link.setAttribute("aria-label", `footnote ${meta.label}`);
    mark.append(link);
    return mark;
  }

  function makeTag(name) {
    const tag = make("button", "tag", `#${name}`);
    tag.type = "button";
    tag.dataset.query = `#${name}`;
    return tag;
  }

  /** Append `most` entries of a list to it, and a button that shows as many more. */
  function addEntries(list, items, makeEntry, most) {
    const from = list.children.length;
    list.append(...items.slice(from, from + most).map(makeEntry));
    const left = items.length - list.children.length;
    if (left <= 0) return;
    const more = make("button", "more", `Show ${Math.min(left, most)} more of ${items.length}`);
    more.type = "button";
    more.addEventListener("click", () => {
      more.remove();
      addEntries(list, items, makeEntry, most);
      list.children[from + most].querySelector("a").focus();
    });
    list.after(more);
  }

  function makeCode(token) {
    const block = make("pre");
    const language = (token.info || "").trim().split(/\s/)[0];
    if (language) block.dataset.language = language.slice(0, 40);
    block.append(make("code", "", token.content.replace(/\n$/, "")));
    return block;
  }

  const SINGLE = {
    text: (token) => document.createTextNode(token.content),
    hardbreak: () => make("br"),
    softbreak: (token, context) =>
      context.wrapped ? document.createTextNode("\n") : make("br"),
    code_inline: (token) => make("code", "", token.content),
    image: (token) => makePicture(token.content.replace(/\|\d{1,5}(x\d{1,5})?$/, "")),
    hr: () => make("hr"),
    fence: makeCode,
    code_block: makeCode,
    wiki: makeWiki,
    footnote: makeFootnote,
    tag: ({ meta }) => makeTag(meta.tag),
    math: ({ meta }) => make("code", "math", meta.formula),
    math_block: ({ meta }) => Object.assign(makeCode({ content: meta.formula.replace(/^\$\$\s*|\s*\$\$$/g, "") }), { className: "math" }),
    block_name: () => null,
  };

  /** Whether lines end where a column is full. Such line ends are spaces; others are meant, as
   *  Obsidian takes them. */
  function isWrapped(content) {
    const lines = content.split("\n");
    const widest = Math.max(...lines.slice(0, 400).map((line) => line.length));
    if (widest > 130 || widest < 50) return false;
    return lines.every((line, i) => {
      const next = i + 1 < lines.length ? lines[i + 1].trimStart().split(" ")[0].length : widest;
      return line.length + 1 + next > widest;
    });
  }

  /** Make the head of a callout from the first line of a quotation, and take that line out of it. */
  function takeCallout(words, context) {
    const found = words && words.type === "inline" ? CALLOUT.exec(words.content) : null;
    if (!found || !words.children.length || words.children[0].type !== "text") return null;
    const end = words.children.findIndex((token) => token.type === "softbreak");
    const head = words.children.splice(0, end < 0 ? words.children.length : end + 1);
    head[0].content = head[0].content.replace(CALLOUT, "");
    const kind = found[1].toLowerCase();
    const box = make(found[2] ? "details" : "div", "callout");
    box.dataset.kind = kind;
    if (found[2] === "+") box.open = true;
    const title = make(found[2] ? "summary" : "p", "callout-title");
    title.dir = "auto";
    build(head.filter((token) => token.type !== "softbreak"), title, context);
    if (!title.textContent.trim()) title.textContent = kind[0].toUpperCase() + kind.slice(1);
    box.append(title);
    return box;
  }

  function openBlock(token, at, tokens, context) {
    if (token.type === "link_open") return openLink(token, context);
    if (token.type === "blockquote_open") {
      const callout = takeCallout(tokens[at + 2], context);
      if (callout) return callout;
    }
    if (token.type === "heading_open") {
      // The page has two levels above those of a note.
      const level = Math.min(Number(token.tag[1]) + 2, 6);
      return make(`h${level}`, `level-${token.tag[1]}`);
    }
    const element = make(TAGS[token.type.slice(0, -5)] || "div");
    if (token.type === "footnote_open") {
      element.className = "footnote-text";
      element.dir = "auto";
      element.dataset.label = token.meta.label;
      element.append(make("sup", "", token.meta.label), " ");
    }
    if (token.type === "ordered_list_open") element.start = Number(token.attrGet("start") || 1);
    const style = /text-align:(left|center|right)/.exec(token.attrGet("style") || "");
    if (style) element.className = `align-${style[1]}`;
    return element;
  }

  /** Leave the innermost elements but `kept`; tables scroll in a frame of their own. */
  function leave(stack, kept) {
    while (stack.length > kept) {
      const { element } = stack.pop();
      if (element.tagName !== "TABLE") continue;
      const frame = make("div", "wide");
      element.replaceWith(frame);
      frame.append(element);
    }
  }

  const readAttribute = (tag, name) =>
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, "i").exec(tag)?.slice(1).find((value) => value !== undefined) ?? "";

  /** Open or close an element as an HTML tag says, within the block that it is in. */
  function takeTag(tag, stack, context) {
    const [, end, name] = /^<(\/?)([a-z][a-z0-9]*)/.exec(tag.toLowerCase()) ?? [];
    const parent = stack.at(-1).element;
    if (end) {
      const at = stack.findLastIndex((entry) => entry.tag === name || !entry.tag);
      if (stack[at].tag) leave(stack, at);
    } else if (name === "img") {
      parent.append(makePicture(readAttribute(tag, "alt") || decode(readAttribute(tag, "src")).split("/").at(-1)));
    } else if (name === "br" || name === "hr") {
      parent.append(make(name));
    } else if (HTML.has(name) && stack.length < DEEPEST) {
      const href = name === "a" ? readAttribute(tag, "href") : "";
      if (name === "a" && !href) return;
      const [, level] = /^h([1-6])$/.exec(name) ?? [];
      const element = href ? openLink({ attrGet: () => href }, context)
        : level ? make(`h${Math.min(Number(level) + 2, 6)}`, `level-${level}`) : make(name);
      parent.append(element);
      stack.push({ element, tag: name });
    }
  }

  function build(tokens, root, context) {
    const stack = [{ element: root }];
    tokens.forEach((token, at) => {
      if (token.hidden) return;
      const { element: parent } = stack.at(-1);
      if (token.nesting === 1) {
        const element = openBlock(token, at, tokens, context);
        parent.append(element);
        stack.push({ element });
      } else if (token.nesting === -1) {
        leave(stack, Math.max(stack.findLastIndex(({ tag }) => !tag), 1));
      } else if (token.type === "html_inline") {
        takeTag(token.content, stack, context);
      } else if (token.type === "inline") {
        buildWords(token, at, tokens, parent, context);
      } else {
        const made = SINGLE[token.type] ? SINGLE[token.type](token, context) : token.content;
        if (made) parent.append(made);
      }
    });
    leave(stack, 1);
  }

  function buildWords(token, at, tokens, parent, context) {
    const first = token.children[0];
    const item = at >= 2 && tokens[at - 2].type === "list_item_open" && parent.closest("li");
    const task = item && first && first.type === "text" ? TASK.exec(first.content) : null;
    if (task) {
      item.classList.add("task-item");
      parent.append(makeTask(task[1]), " ");
      first.content = first.content.slice(task[0].length);
    }
    build(token.children, parent, { ...context, wrapped: isWrapped(token.content) });
  }

  /** Where the first piece of a text ends: after an empty line if there is one near. */
  function findEnd(text, from) {
    if (text.length <= from + PIECE) return text.length;
    const near = text.lastIndexOf("\n\n", from + PIECE);
    if (near > from + PIECE / 2) return near + 2;
    const line = text.lastIndexOf("\n", from + PIECE);
    return line > from + PIECE / 2 ? line + 1 : from + PIECE;
  }

  /** Append a note to an element. `find(...names)` gives the index of the first that leads to a
   *  note on the plan, else null. */
  function append(text, root, find, from = 0) {
    const end = findEnd(text, from);
    build(Syntax.parse(text.slice(from, end)), root, { find });
    if (end === text.length) return;
    const left = Math.ceil((text.length - end) / 1000).toLocaleString("en");
    const more = make("button", "more", `Show more (${left} kB left)`);
    more.type = "button";
    more.addEventListener("click", () => {
      const before = more.previousElementSibling;
      more.remove();
      append(text, root, find, end);
      const next = before ? before.nextElementSibling : root.firstElementChild;
      if (next) Object.assign(next, { tabIndex: -1 }).focus();
    });
    root.append(more);
  }

  return { append, make, makeWalk, makeTag, addEntries };
})();
