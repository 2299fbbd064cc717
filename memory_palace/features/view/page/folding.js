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

  const MARKS = [
    [/!\[\[[^[\]]{0,200}\]\]|!\[[^[\]]{0,200}\]\([^()]{0,300}(?:\)|$)/g, " "], // pictures and embedded notes
    [/\[\[[^[\]|]{0,200}\|([^[\]]{0,200})\]\]/g, "$1"],
    [/\[\[(?:[^[\]]{0,200}\/)?([^[\]/]{0,200})\]\]/g, "$1"],
    [/\[([^[\]]{0,200})\]\([^()]{0,300}(?:\)|$)/g, "$1"], // the last may be cut where the beginning ends
    [/!?\[{1,2}(?:[^[\]]{0,200}\/)?([^[\]/]{0,200})$/, "$1"],
    [/^(?:[>*+-] |\[![a-z]{1,20}\][+-]? ?|\[[ x]\] |\d{1,3}[.)] )+/i, ""],
    [/\*\*|__|==|~~|`/g, ""],
    [/(^|[^\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}])/gu, "$1"],
  ];

  /** A line of Markdown as it is read, without marks and targets of links. */
  const plain = (line) => MARKS.reduce((text, [mark, words]) => text.replace(mark, words), line).trim();

  return { split, fold, plain };
})();
