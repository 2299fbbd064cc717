/** How large each note is drawn, which notes are in sight, and their titles in lines. */
const Places = (() => {
  const LEAST_SIDE = 0.6; // of a note's box, for the smallest
  const LETTER = /[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]/; // lines may end after any of these
  // A title may not steer how what is around it is read: marks of direction and control characters go.
  const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
  const RIGHT_TO_LEFT = /^[^A-Za-z\u00c0-\u02ff\u0370-\u058f]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
  const ruler = document.createElement("canvas").getContext("2d");
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
  const widths = new Map(); // of words, at a font size of 1
  let share = new Float32Array(0); // of its box that a note fills in each direction

  /** Let the area of a note follow its length, up to the length that 5 % of the notes exceed. */
  function resize(plan) {
    const sorted = Float64Array.from(plan.length).sort();
    const full = sorted[Math.floor(0.95 * (sorted.length - 1))] || sorted.at(-1) || 1;
    share = Float32Array.from(plan.length, (value) => LEAST_SIDE + (1 - LEAST_SIDE) * Math.sqrt(Math.min(value / full, 1)));
  }

  /** The notes whose boxes touch what a view shows. One pass over 25,000 takes less than a tenth of a
      millisecond, so no grid is kept. */
  function inSight(plan, view, width, height) {
    const right = view.x + width / view.scale, below = view.y + height / view.scale;
    const found = [];
    const { x, y, w, h } = plan;
    for (let i = 0; i < plan.count; i++) {
      if (x[i] < right && y[i] < below && x[i] + w[i] > view.x && y[i] + h[i] > view.y) found.push(i);
    }
    return found;
  }

  /** The note at a point of the plan, or null. */
  function at(plan, point) {
    const { x, y, w, h } = plan;
    for (let i = 0; i < plan.count; i++) {
      if (point.x >= x[i] && point.x < x[i] + w[i] && point.y >= y[i] && point.y < y[i] + h[i]) return i;
    }
    return null;
  }

  /** The words of a title as they may be drawn: nothing in them steers direction. */
  const clean = (title) => title.replace(STEERING, " ").replace(/ +/g, " ").trim();
  const isRightToLeft = (title) => RIGHT_TO_LEFT.test(title);

  /** The width of words at a font size of 1, in the boldest that they are drawn in. */
  function widthOf(word) {
    let width = widths.get(word);
    if (width === undefined) {
      ruler.font = `600 40px ${FONT}`;
      width = ruler.measureText(word).width / 40;
      if (widths.size > 50_000) widths.clear();
      widths.set(word, width);
    }
    return width;
  }

  /** The parts between which a line may end. */
  function partsOf(title) {
    const parts = [];
    for (const word of title.split(" ")) {
      if (!LETTER.test(word)) parts.push([word, true]);
      else [...word].forEach((letter, n) => parts.push([letter, n === 0]));
    }
    return parts;
  }

  /** As much of a word as is at most `room` wide, at a font size of 1. */
  function cut(word, room) {
    const letters = [...word];
    while (letters.length > 1 && widthOf(letters.join("") + "…") > room) letters.splice(-Math.max(1, letters.length >> 3));
    return `${letters.join("")}…`;
  }

  /** A title in at most `most` lines of at most `room`, at a font size of 1; what is left out is "…". */
  function lines(title, room, most) {
    const found = [];
    const gap = widthOf(" ");
    let line = "", wide = 0; // words are measured one by one: their widths are met again, those of lines are not
    for (const [part, isWord] of partsOf(title.slice(0, 300))) {
      const more = (line && isWord ? gap : 0) + widthOf(part);
      if (!line || wide + more <= room) {
        line += line && isWord ? ` ${part}` : part;
        wide += more;
        continue;
      }
      found.push(wide > room ? cut(line, room) : line);
      if (found.length === most) {
        found[most - 1] = cut(`${line} ${part}`, room);
        return found;
      }
      [line, wide] = [part, widthOf(part)];
    }
    if (line) found.push(wide > room ? cut(line, room) : line);
    return found;
  }

  /** A name of one or two terms in one line: both where they fit, else the first. */
  function label(name, room) {
    const whole = clean(name);
    return lines(widthOf(whole) <= room ? whole : whole.split(" · ")[0], room, 1)[0];
  }

  return { FONT, resize, inSight, at, clean, lines, label, widthOf, isRightToLeft, shareOf: (note) => share[note] };
})();
