/** Words as they are compared: without case, accents, width and punctuation. */
const Folding = (() => {
  const LETTERS = { ß: "ss", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ё: "е" };
  const ODD = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");
  const WORDS = /#[^\s#]+|[\p{L}\p{N}\p{M}]+/gu;

  // Only the accents of Latin, Greek and Cyrillic letters go: the marks of other scripts are vowels.
  const simplify = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
    .replace(ODD, (letter) => LETTERS[letter]);

  /** The words of a text; a tag is one with its sign. */
  const split = (text) => simplify(text).match(WORDS) ?? [];

  /** Each word after a space, so that `" art"` finds a word that begins so. */
  const fold = (text) => split(text.replaceAll("#", " ")).map((word) => ` ${word}`).join("");

  return { split, fold };
})();
