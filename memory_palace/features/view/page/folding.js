/** Words as they are compared: without case, accents, width and punctuation. */
const Folding = (() => {
  const LETTERS = { ß: "ss", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ё: "е" };
  const ODD = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");
  const PLAIN = /^[ -~\s]*$/;
  const WORDS = /#[^\s#]+|[\p{L}\p{N}\p{M}]+/gu;

  // Only the accents of Latin, Greek and Cyrillic letters go: the marks of other scripts are vowels.
  function simplify(text) {
    if (PLAIN.test(text)) return text.toLowerCase();
    return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(ODD, (letter) => LETTERS[letter]);
  }

  /** The words of a text; a tag is one with its sign. */
  const split = (text) => simplify(text).match(WORDS) ?? [];

  /** Each word after a space, so that `" art"` finds a word that begins so. */
  const fold = (text) => split(text.replaceAll("#", " ")).map((word) => ` ${word}`).join("");

  const MARKED = /[<{[\]*_=~`\\&^]/; // without any of these a line is as it is read
  const MARKS = [
    [/<!--.*?(?:-->|$)|\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)|<%.*?(?:%>|$)|<br\s*\/?>|&nbsp;/g, " "], // comments, templates
    [/<((?:https?|mailto):[^<>\s]{1,300})>/g, "$1"],
    [/<\/?[a-z][a-z0-9-]*(?:\s[^<>]{0,300}(?:>|$)|\/?>)/g, ""], // the last may be cut where the beginning ends, as below
    [/!\[\[[^[\]]{0,200}\]\]|!\[[^[\]]{0,200}\](?:\((?:[^()]|\([^()]*\)){0,300}(?:\)|$)|\[[^[\]]{0,100}\])|\[\^[^\]\s]{1,100}\]/g, " "], // pictures, embedded notes, footnotes
    [/\[\[[^[\]|]{0,200}\|([^[\]]{0,200})\]\]/g, "$1"],
    [/\[\[(?:[^[\]]{0,200}\/)?([^[\]/]{0,200})\]\]/g, (_, name) => name.replace(/^#/, "").replace("#", " › ")],
    [/\[([^[\]]{0,200})\](?:\((?:[^()]|\([^()]*\)){0,300}(?:\)|$)|\[[^[\]]{0,100}\])/g, "$1"],
    [/!?\[{1,2}(?:[^[\]]{0,200}[|/])?([^[\]|/]{0,200})$/, "$1"],
    [/(\*\*|__|==|~~)(?=\S)(.*?)(?:\1|$)/g, "$2"],
    [/`+/g, ""],
    [/(^|[^\p{L}\p{N}\\])[*_](?=\S)|(?<=[^\s\\])[*_](?![\p{L}\p{N}])/gu, "$1"],
    [/\\([!-/:-@[-`{-~])|\s\^[\w-]+$/g, "$1"],
    [/&amp;/g, "&"],
    [/\s+/g, " "],
  ];

  /** A title in Markdown as it is read, without marks, tags, templates and targets of links. */
  const words = (title) => (MARKED.test(title) ? MARKS.reduce((text, [mark, by]) => text.replace(mark, by), title) : title).trim();

  /** A line of Markdown as it is read, also without the marks that it begins with. */
  const plain = (line) => words(line.replace(/^(?:\s+|[>*+-] |>|#{1,6} |\[![\w-]{1,40}\][+-]? ?|\[.\] |\d{1,3}[.)] )+/, ""));

  return { split, fold, words, plain };
})();
