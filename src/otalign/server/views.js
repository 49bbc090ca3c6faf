// What the server answered, drawn: the words with their links, and the matrix of their weights.

const MOST_CELLS = 6000; // of a matrix; more would keep the browser busy for long
const LEFTWARDS = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

// The answer as `linked.js` takes a pair.
function pairOf(answer) {
  return {
    source: answer.source,
    target: answer.target,
    leftwards: LEFTWARDS.test(answer.source.join(" ")),
    links: answer.links.map(([i, j, weight]) => [i, j, weight, Math.min(weight, 1)]),
    sourceNulls: answer.source_nulls.map((i) => [i, null]),
    targetNulls: answer.target_nulls.map((j) => [j, null]),
    sourceConfidence: answer.source_null_confidence,
    targetConfidence: answer.target_null_confidence,
  };
}

const same = (some, others) => some.length === others.length && some.every((one, k) => one === others[k]);
const sameWords = (one, two) => same(one.source, two.source) && same(one.target, two.target);

// Words stay where they are as long as they are the same: only links move, and the focus is kept.
function showFigure(section, answer) {
  const pair = pairOf(answer);
  let figure = section.querySelector("figure");
  if (figure && sameWords(figure.pair, pair)) {
    figure.pair = pair;
    for (const word of [...figure.words.source, ...figure.words.target]) tell(word, pair);
  } else {
    figure?.remove();
    figure = newFigure(pair);
    section.querySelector(".detail").before(figure);
    sizes.observe(figure);
  }
  lay(figure);
}

function newFigure(pair) {
  const words = { source: wordsOf(pair, "source"), target: wordsOf(pair, "target") };
  const sides = made("div", "sides", ...["source", "target"].map((side) => sideOf(side, words[side])));
  if (pair.leftwards) sides.dir = "rtl";
  const first = words.source[0] ?? words.target[0];
  if (first) first.tabIndex = 0; // one stop of the Tab key; arrows go on from there
  const figure = made("figure", "", drawn("svg", { class: "links", "aria-hidden": "true" }), sides);
  return Object.assign(figure, { pair, words });
}

function sideOf(name, words) {
  const side = made("div", "side", ...words);
  side.setAttribute("role", "group");
  side.setAttribute("aria-label", `${name} words`);
  return side;
}

// In rows if these fit, else in columns, which read from the left whatever the script.
function lay(figure) {
  figure.classList.remove("lying");
  const tooWide = [...figure.querySelectorAll(".side")].some((side) => side.scrollWidth > side.clientWidth);
  figure.classList.toggle("lying", tooWide);
  figure.querySelector(".sides").dir = figure.pair.leftwards && !tooWide ? "rtl" : "ltr";
  link([figure]);
}

const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => target.isConnected && lay(target)));

// The matrix: a table, whose cells are updated in place as long as the words are the same.

function showMatrix(region, answer) {
  const { source, target, matrix, links } = answer;
  const cells = source.length * target.length;
  if (!cells || cells > MOST_CELLS) {
    region.replaceChildren(cells ? `${source.length} × ${target.length} words are too many to be shown.` : "");
    return;
  }
  let table = region.querySelector("table");
  if (!table || !sameWords(table, answer)) {
    table = Object.assign(newTable(source, target), { source, target });
    region.replaceChildren(table);
  }
  const linked = new Set(links.map(([i, j]) => `${i}-${j}`));
  matrix.forEach((row, i) => row.forEach((weight, j) => fillCell(table.cells[i][j], weight, linked.has(`${i}-${j}`))));
}

function newTable(source, target) {
  const corner = made("td", "unseen", "source word");
  const heads = target.map((word) => headed("col", made("span", "", word)));
  const cells = source.map(() => target.map(() => made("td")));
  const rows = source.map((word, i) => made("tr", "", headed("row", word), ...cells[i]));
  const table = made("table", "", made("thead", "", made("tr", "", corner, ...heads)), made("tbody", "", ...rows));
  return Object.assign(table, { cells });
}

function headed(scope, content) {
  const head = made("th", "", content);
  head.scope = scope;
  return head;
}

function fillCell(cell, weight, isLink) {
  cell.style.setProperty("--weight", weight);
  cell.classList.toggle("linked", isLink);
  cell.classList.toggle("nothing", weight < 0.005);
  cell.replaceChildren(weight < 0.005 ? "0" : weight.toFixed(2), ...(isLink ? [made("span", "unseen", " linked")] : []));
}

// In words, for who does not see it.
function summary({ source, target, links, source_nulls, target_nulls }) {
  if (!source.length || !target.length) return "Type two sentences.";
  const named = (words, places, side) => (places.length ? [`${places.map((k) => words[k]).join(", ")} (${side})`] : []);
  const nulls = [...named(source, source_nulls, "source"), ...named(target, target_nulls, "target")];
  const count = links.length === 1 ? "1 link" : `${links.length} links`;
  return nulls.length ? `${count}. Without a counterpart: ${nulls.join("; ")}.` : `${count}. Every word has a counterpart.`;
}
