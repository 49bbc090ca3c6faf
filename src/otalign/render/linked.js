// Two sentences and the links between them: words that light up with their partners, and keys to walk along them.
//
// A `pair` holds source and target, links [source, target, weight, strength, verdict], the nulls and their
// confidences; and with `basis`, pairs of words, the links by which the words are placed instead of its own.
// `newFigure` makes the figure of a pair, with its `pair` and its `words`; `link` lays figures out in lines as wide
// as they are, and draws their links. `update` gives a figure another pair with the same words.

const SIDES = ["source", "target"];
const other = { source: "target", target: "source" };
const placeIn = { source: 0, target: 1 };
const [NEAR, FAR, BETWEEN, GAP] = [52, 130, 34, 2]; // pixels between the rows of a line, lines, words
const NARROW = 480; // pixels; below, the rows are named by letters

function made(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  element.className = classes;
  element.append(...children); // strings become text, whatever they hold
  return element;
}

function newFigure(pair) {
  const words = { source: wordsOf(pair, "source"), target: wordsOf(pair, "target") };
  const first = words.source[0] ?? words.target[0];
  if (first) first.tabIndex = 0; // one stop of the Tab key; arrows go on from there
  const detail = made("p", "detail");
  detail.ariaHidden = "true"; // each word has it in its name
  const gutter = made("div", "gutter");
  gutter.ariaHidden = "true";
  const links = drawn("svg", { class: "links", "aria-hidden": "true" });
  const sides = SIDES.map((side) => sideOf(side, words[side], pair));
  const parts = [links, gutter, ...sides, detail];
  const figure = made("figure", "alignment", ...parts);
  figure.ariaLabel = nameOf(pair);
  return Object.assign(figure, { pair, words, parts });
}

function nameOf({ source, target, links, sourceNulls, targetNulls }) {
  const nulls = sourceNulls.length + targetNulls.length;
  return (
    `Alignment of ${source.length} source and ${target.length} target words: ` +
    `${counted(links.length, "link")}, ${counted(nulls, "word")} without a counterpart`
  );
}

// A sign alone would be taken for the punctuation around it, and a word from right to left would reverse the words
// beside it: it is isolated from them (U+2068, U+2069).
const quoted = (word) => isolated(/\p{L}|\p{N}/u.test(word) ? word : `“${word}”`);
const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function sideOf(name, words, pair) {
  const side = made("div", "side", ...words);
  side.setAttribute("role", "group");
  side.ariaLabel = `${name} words`;
  side.dir = leftwards(pair[name]) ? "rtl" : "ltr";
  return side;
}

function wordsOf(pair, side) {
  return pair[side].map((text, place) => {
    const word = made("button", `word ${side}`, made("bdi", "", text));
    Object.assign(word, { type: "button", tabIndex: -1, side, place });
    tell(word, pair);
    return word;
  });
}

// What the pair says of a word: whether it is null, and what it is linked with.
function tell(word, pair) {
  const nulls = new Map(pair[`${word.side}Nulls`]);
  const verdict = nulls.get(word.place);
  word.classList.toggle("null", nulls.has(word.place));
  for (const one of Object.keys(MARKS)) word.classList.toggle(one, verdict === one);
  word.querySelector(".sign")?.remove();
  if (nulls.has(word.place)) word.append(made("span", "sign", `∅${MARKS[verdict] ?? ""}`));
  word.ariaLabel = `${quoted(pair[word.side][word.place])} ${told(pair, word.side, word.place).replaceAll("∅", "null")}`;
}

function update(figure, pair) {
  figure.pair = pair;
  figure.ariaLabel = nameOf(pair);
  for (const side of SIDES) for (const word of figure.words[side]) tell(word, pair);
}

// Lines: all sizes are read before anything is written; in turns, each reading would lay out the page again.
// With `keepPlaces`, words stay where they are if the width is the same, and only links are drawn again.

function link(figures, keepPlaces = false) {
  for (const figure of figures) if (!figure.contains(figure.parts[0])) joinLines(figure);
  const measured = figures.map((figure) => [figure, figure.clientWidth]);
  const moved = measured.filter(([figure, width]) => !(keepPlaces && figure.placed?.width === width));
  const boxes = moved.map(([figure]) => ({
    source: figure.words.source.map(box),
    target: figure.words.target.map(box),
  }));
  moved.forEach(([figure, width], k) => place(figure, width, boxes[k]));
  for (const figure of figures) {
    figure.querySelector(".links").replaceChildren(...strokesOf(figure.pair, figure.placed));
    if (figure.classList.contains("lit")) light(figure);
    if (document.body.classList.contains("printing")) splitLines(figure);
  }
}

const box = (element) => element.getBoundingClientRect();
const gutterOf = (width) => (width < NARROW ? 20 : 58); // the widest is in linked.css, too

function place(figure, width, boxes) {
  const { pair, words } = figure;
  const gutter = gutterOf(width);
  const widths = { source: boxes.source.map((one) => one.width), target: boxes.target.map((one) => one.width) };
  const linked = pair.basis ?? pair.links;
  const least = NEAR + (hasLinkedNull(pair) ? SIGN : 0);
  const labels = [];
  figure.placed = { width, source: [], target: [], lines: [] };
  let top = 0;
  breakLines(widths.source, widths.target, linked, GAP, width - gutter).forEach((line, number) => {
    const xs = placeLine(line, widths, pair, linked, width - gutter);
    const heights = SIDES.map((side) => Math.max(0, ...line[side].map((word) => boxes[side][word].height)));
    const rowGap = line.source.length && line.target.length ? Math.max(least, rowGapOf(line, xs, linked)) : 0;
    const tops = { source: top, target: top + heights[0] + rowGap };
    for (const [k, side] of SIDES.entries()) {
      line[side].forEach((word, at) => {
        const left = gutter + xs[side][at] - widths[side][word] / 2;
        const bottom = tops[side] + boxes[side][word].height;
        figure.placed[side].push({ left, right: left + widths[side][word], top: tops[side], bottom, line: number });
        words[side][word].style.translate = `${left}px ${tops[side]}px`; // unlike left and top, it needs no layout
      });
      if (line[side].length) labels.push(Object.assign(labelOf(side, width, tops[side], heights[k]), { line: number }));
    }
    const bottom = top + heights[0] + rowGap + heights[1] + BETWEEN;
    // The signs and numbers of a target row without a source row are above the line.
    figure.placed.lines.push({ top: line.source.length ? top : top - BETWEEN, bottom });
    top = bottom;
  });
  figure.style.height = `${Math.max(top - BETWEEN, 0)}px`;
  figure.querySelector(".gutter").replaceChildren(...labels);
}

// A row in a script from right to left runs leftwards.
function placeLine(line, widths, pair, linked, room) {
  const order = {};
  for (const side of SIDES) order[side] = leftwards(pair[side]) ? line[side].toReversed() : line[side];
  const inside = linked
    .map(([i, j]) => [order.source.indexOf(i), order.target.indexOf(j)])
    .filter(([i, j]) => i >= 0 && j >= 0);
  const sizes = SIDES.map((side) => order[side].map((word) => widths[side][word]));
  const centres = placeWords(...sizes, inside, GAP, room);
  const placed = SIDES.map((side, k) => [side, line[side].map((word) => centres[k][order[side].indexOf(word)])]);
  return Object.fromEntries(placed);
}

function rowGapOf(line, xs, linked) {
  const slants = linked
    .map(([i, j]) => Math.abs(xs.source[line.source.indexOf(i)] - xs.target[line.target.indexOf(j)]))
    .filter(Number.isFinite);
  return Math.min(Math.max(0, ...slants) / 3, FAR);
}

// Whether a word has a link beside the sign of a null, as in a comparison with gold.
function hasLinkedNull({ links, sourceNulls, targetNulls }) {
  const ends = [new Set(links.map(([i]) => i)), new Set(links.map(([, j]) => j))];
  return [sourceNulls, targetNulls].some((nulls, k) => nulls.some(([place]) => ends[k].has(place)));
}

function labelOf(side, width, top, height) {
  const name = side === "source" ? "Source" : "Target";
  const label = made("span", "", width < NARROW ? name[0] : name);
  Object.assign(label.style, { top: `${top}px`, height: `${height}px` });
  return label;
}

const observeFigures = () =>
  new ResizeObserver((entries) => {
    const resized = entries.map(({ target }) => target).filter((figure) => figure.isConnected);
    link(resized.filter((figure) => figure.placed?.width !== figure.clientWidth));
  });

// On paper links are where they were drawn, so they are drawn at the width of a page; and each line is a block, or a
// page might end within a word.

function splitLines(figure) {
  const words = SIDES.flatMap((side) => figure.words[side]);
  const strokes = [...figure.querySelectorAll(".stroke > :not(.far)")];
  const labels = [...figure.querySelectorAll(".gutter span")];
  const lines = figure.placed.lines.map(({ top, bottom }, number) => {
    const isHere = ({ line }) => line === number;
    const shift = drawn("g", { transform: `translate(0 ${-top})` }, ...strokes.filter(isHere));
    const here = words.filter(({ side, place }) => isHere(figure.placed[side][place]));
    for (const word of here) {
      const { left, top: y } = figure.placed[word.side][word.place];
      word.style.translate = `${left}px ${y - top}px`;
    }
    const hereLabels = labels.filter(isHere);
    for (const label of hereLabels) label.style.top = `${parseFloat(label.style.top) - top}px`;
    const line = made("div", "line", drawn("svg", { class: "links" }, shift), ...hereLabels, ...here);
    line.style.height = `${bottom - top}px`;
    return line;
  });
  figure.style.height = "";
  figure.replaceChildren(...lines, figure.querySelector(".detail"));
}

function joinLines(figure) {
  figure.replaceChildren(...figure.parts);
  for (const [k, side] of SIDES.entries()) figure.querySelectorAll(".side")[k].replaceChildren(...figure.words[side]);
  figure.placed = null;
}

function linkForPrint(printing) {
  document.body.classList.toggle("printing", printing);
  link([...document.querySelectorAll("figure.alignment")]);
}
addEventListener("beforeprint", () => linkForPrint(true));
addEventListener("afterprint", () => linkForPrint(false));
