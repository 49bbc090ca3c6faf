// What is drawn for the links: curves between words of a line, brackets at phrases, numbers at links between lines.
// Places are boxes of words, { left, right, top, bottom, line }, by side.

const MARKS = { wrong: "✗", missed: "○" };
const FAINTEST = 0.66; // the opacity of a link of weight 0, with which its contrast is 3
const [THINNEST, THICKEST] = [1.2, 2.6]; // the widths of links of weight 0 and 1
const BRACKET = 6; // pixels; the height of a bracket
const LEAST_BEND = 20;
const NUMBER = 13; // between two numbers at a word
const BESIDE = 9; // between a number and a curve of the same links

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function strokesOf(links, places) {
  const lineOf = { source: places.source.map(({ line }) => line), target: places.target.map(({ line }) => line) };
  const labels = new Map(); // how many numbers are at a run, by its first word
  let count = 0;
  return groupLinks(links).map((group) => {
    const runs = { source: splitRuns(group.source, lineOf.source), target: splitRuns(group.target, lineOf.target) };
    const ends = ["source", "target"].flatMap((side) => runs[side].map((run) => endOf(side, run, places[side])));
    const far = new Set(ends.map(({ line }) => line)).size > 1;
    if (far) count += 1;
    const anchor = (side, run) => ends.find((end) => end.side === side && end.run === run);
    const curves = joinRuns(runs.source, runs.target).map(([run, other]) =>
      curveBetween(anchor("source", run), anchor("target", other), group),
    );
    const brackets = ends.filter(({ run }) => run.length > 1).map((end) => bracketAt(end, group));
    const shift = curves.some((curve) => !curve.classList.contains("far")) ? BESIDE : 0;
    const numbers = far ? ends.map((end) => numberAt(end, shift, count, group, labels)) : [];
    const marks = group.verdict in MARKS && !far ? [markOn(curves[0], group.verdict)] : [];
    const stroke = drawn("g", { class: "stroke", ...named(group) }, ...curves, ...brackets, ...numbers, ...marks);
    return Object.assign(stroke, { group });
  });
}

const named = ({ source, target }) => ({ "data-source": source.join(" "), "data-target": target.join(" ") });

function endOf(side, run, places) {
  const boxes = run.map((word) => places[word]);
  const [left, right] = [Math.min(...boxes.map((box) => box.left)), Math.max(...boxes.map((box) => box.right))];
  const lowest = Math.max(...boxes.map((box) => box.bottom));
  const [edge, outwards] = side === "source" ? [lowest, 1] : [boxes[0].top, -1];
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
  return Object.assign(path, { middle: [(from.x + to.x) / 2, (from.y + to.y) / 2] });
}

function bracketAt({ left, right, edge, y }, group) {
  const d = `M${left + 3} ${edge}V${y}H${right - 3}V${edge}`;
  return drawn("path", { class: `bracket ${group.verdict ?? ""}`, d, ...lookOf(group) });
}

function numberAt({ side, run, x, y, outwards }, shift, count, group, labels) {
  const key = `${side} ${run[0]}`;
  labels.set(key, (labels.get(key) ?? -1) + 1);
  const place = { x: x + shift + NUMBER * labels.get(key), y: outwards > 0 ? y + 13 : y - 4 };
  return drawn("text", { class: `number ${group.verdict ?? ""}`, ...place }, `${count}${MARKS[group.verdict] ?? ""}`);
}

function markOn({ middle: [x, y] }, verdict) {
  return drawn("text", { class: `mark ${verdict}`, x, y: y + 4 }, MARKS[verdict]);
}
