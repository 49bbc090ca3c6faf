// What is drawn for the links: curves between words of a line, brackets at phrases, numbers at links between lines.
// Places are boxes of words, { left, right, top, bottom, line }, by side.

const MARKS = { wrong: "✗", missed: "○" };
const FAINTEST = 0.66; // the opacity of a link of weight 0, with which its contrast is 3
const [THINNEST, THICKEST] = [1.2, 2.6]; // the widths of links of weight 0 and 1
const BRACKET = 6; // pixels; the height of a bracket
const LEAST_BEND = 20;
const SIGN = 16; // pixels; the height of a sign at a null, beyond which its links begin
const LETTER = 8; // pixels; the width of a letter of a number
const APART = 5; // between a number and another one, or a curve, at the same word
const MARK = 14; // pixels; the least distance between two marks
const MARK_PLACES = [0.5, 0.36, 0.64, 0.22, 0.78]; // of a mark along its curve, until no other is near

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function strokesOf({ links, sourceNulls, targetNulls }, places) {
  const nulls = { source: sourceNulls, target: targetNulls };
  const signs = Object.fromEntries(SIDES.map((side) => [side, new Set(nulls[side].map(([place]) => place))]));
  const lineOf = { source: places.source.map(({ line }) => line), target: places.target.map(({ line }) => line) };
  const near = links.filter(([i, j]) => lineOf.source[i] === lineOf.target[j]);
  const withCurve = { source: new Set(near.map(([i]) => i)), target: new Set(near.map(([, j]) => j)) };
  const labels = new Map(); // where the numbers at a run end, by its first word
  const marked = []; // where marks are
  let count = 0;
  return groupLinks(links).map((group) => {
    const runs = { source: splitRuns(group.source, lineOf.source), target: splitRuns(group.target, lineOf.target) };
    const ends = SIDES.flatMap((side) => runs[side].map((run) => endOf(side, run, places[side], signs[side])));
    const far = new Set(ends.map(({ line }) => line)).size > 1;
    if (far) count += 1;
    const anchor = (side, run) => ends.find((end) => end.side === side && end.run === run);
    const curves = joinRuns(runs.source, runs.target).map(([run, other]) =>
      curveBetween(anchor("source", run), anchor("target", other), group),
    );
    const brackets = ends.filter(({ run }) => run.length > 1).map((end) => bracketAt(end, group));
    const isBeside = ({ side, run }) => run.some((word) => withCurve[side].has(word));
    const numbers = far ? ends.map((end) => numberAt(end, isBeside(end), count, group, labels)) : [];
    const marks = group.verdict in MARKS && !far ? [markOn(curves[0], group.verdict, marked)] : [];
    const stroke = drawn("g", { class: "stroke", ...named(group) }, ...curves, ...brackets, ...numbers, ...marks);
    return Object.assign(stroke, { group });
  });
}

const named = ({ source, target }) => ({ "data-source": source.join(" "), "data-target": target.join(" ") });

function endOf(side, run, places, signs) {
  const boxes = run.map((word) => places[word]);
  const [left, right] = [Math.min(...boxes.map((box) => box.left)), Math.max(...boxes.map((box) => box.right))];
  const lowest = Math.max(...boxes.map((box) => box.bottom));
  const [border, outwards] = side === "source" ? [lowest, 1] : [boxes[0].top, -1];
  const edge = border + outwards * (run.some((word) => signs.has(word)) ? SIGN : 0);
  const y = run.length > 1 ? edge + outwards * BRACKET : edge;
  return { side, run, line: boxes[0].line, left, right, edge, outwards, x: (left + right) / 2, y };
}

function lookOf({ links }) {
  const strength = sum(links.map((link) => link[3])) / links.length;
  return {
    "stroke-opacity": (FAINTEST + (1 - FAINTEST) * strength).toFixed(3),
    "stroke-width": (THINNEST + (THICKEST - THINNEST) * strength).toFixed(2),
  };
}

function curveBetween(from, to, group) {
  const bend = Math.max(Math.abs(to.y - from.y) / 2, LEAST_BEND);
  const d = `M${from.x} ${from.y}C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`;
  const kind = from.line === to.line ? "" : " far";
  const path = drawn("path", { class: `link${kind} ${group.verdict ?? ""}`, d, ...lookOf(group), ...named(group) });
  const pointAt = (t) => {
    const [before, after] = [(1 - t) ** 2 * (1 + 2 * t), t ** 2 * (3 - 2 * t)];
    const bulge = 3 * bend * t * (1 - t) * (1 - 2 * t);
    return { x: before * from.x + after * to.x, y: before * from.y + after * to.y + bulge };
  };
  return Object.assign(path, { line: from.line, pointAt });
}

function bracketAt({ left, right, edge, y, line }, group) {
  const d = `M${left + 3} ${edge}V${y}H${right - 3}V${edge}`;
  const bracket = drawn("path", { class: `bracket ${group.verdict ?? ""}`, d, ...lookOf(group) });
  return Object.assign(bracket, { line });
}

function numberAt({ side, run, x, y, outwards, line }, isBeside, count, group, labels) {
  const key = `${side} ${run[0]}`;
  const text = `${count}${MARKS[group.verdict] ?? ""}`;
  const half = (LETTER * text.length) / 2;
  const end = labels.get(key) ?? (isBeside ? x : -Infinity);
  const middle = Math.max(x, end + APART + half);
  labels.set(key, middle + half);
  const place = { x: middle, y: outwards > 0 ? y + 13 : y - 4 };
  return Object.assign(drawn("text", { class: `number ${group.verdict ?? ""}`, ...place }, text), { line });
}

// In the middle of its curve, unless another mark is there.
function markOn({ pointAt, line }, verdict, marked) {
  const isFree = ({ x, y }) => marked.every((other) => Math.hypot(other.x - x, other.y - y) >= MARK);
  const point = MARK_PLACES.map(pointAt).find(isFree) ?? pointAt(0.5);
  marked.push(point);
  const text = drawn("text", { class: `mark ${verdict}`, x: point.x, y: point.y + 4 }, MARKS[verdict]);
  return Object.assign(text, { line });
}
