// The pairs of the report: filtered and sorted as data, drawn when they come into sight.

const { scores, pairs } = JSON.parse(document.getElementById("data").textContent);
const MARKS = { wrong: "✗", missed: "○" };
const FAINTEST = 0.25; // the opacity of a link of weight 0, which must still be seen

const percent = (share) => (100 * share).toFixed(1);
const field = (id) => document.getElementById(id);

function made(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  element.className = classes;
  element.append(...children); // strings become text, whatever they hold
  return element;
}

function drawn(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Pairs: an article for each, empty until it is near.

const main = document.querySelector("main");
const articles = pairs.map((pair, number) => {
  pair.number = number + 1;
  pair.text = `${pair.source.join(" ")}\n${pair.target.join(" ")}`.toLowerCase();
  const article = made("article");
  article.pair = pair;
  article.setAttribute("aria-label", `Pair ${pair.number}`);
  // About the room it will take, so that the scroll bar does not jump.
  article.style.containIntrinsicSize = `auto ${9 + 7 * Math.floor(pair.text.length / 190)}rem`;
  return article;
});

const sight = new IntersectionObserver(
  (entries) => entries.forEach((entry) => entry.isIntersecting && fill(entry.target)),
  { rootMargin: "100% 0px" },
);
const sizes = new ResizeObserver((entries) => link(entries.map((entry) => entry.target.parentElement)));

function fill(article) {
  sight.unobserve(article);
  if (article.firstChild) return;
  article.append(about(article.pair), figure(article.pair));
  sizes.observe(article.querySelector(".columns"));
}

function about(pair) {
  const facts = made("div", "about", made("h2", "", `Pair ${pair.number}`));
  if (scores) {
    const { right, wrong, missed } = pair.tally;
    facts.append(made("span", "", `F1 ${percent(pair.f1)}`));
    facts.append(made("span", "", `${right} right, ${wrong} wrong, ${missed} missed`));
  }
  facts.append(made("span", "", `nulls ${percent(pair.nullRate)}%`), made("span", "", `${pair.length} words`));
  facts.append(made("p", "detail"));
  return facts;
}

function figure(pair) {
  const columns = made("div", "columns");
  if (pair.leftwards) columns.dir = "rtl";
  const words = { source: wordsOf(pair, "source"), target: wordsOf(pair, "target") };
  for (const [source, target] of pair.columns) {
    const above = made("div", "side", ...source.map((i) => words.source[i]));
    const below = made("div", "side", ...target.map((j) => words.target[j]));
    columns.append(made("div", "column", above, below));
  }
  const first = words.source[0] ?? words.target[0];
  if (first) first.tabIndex = 0; // one stop of the Tab key for each pair; arrows go on from there
  const whole = made("figure", "", drawn("svg", { class: "links", "aria-hidden": "true" }), columns);
  Object.assign(whole, { pair, words });
  return whole;
}

function wordsOf(pair, side) {
  const nulls = new Map(pair[`${side}Nulls`]);
  return pair[side].map((text, place) => {
    const word = made("button", "word", made("bdi", "", text));
    Object.assign(word, { type: "button", tabIndex: -1, side, place });
    if (nulls.has(place)) {
      const verdict = nulls.get(place);
      word.classList.add("null");
      if (verdict in MARKS) word.classList.add(verdict);
      word.append(made("span", "sign", `∅${MARKS[verdict] ?? ""}`));
    }
    word.setAttribute("aria-description", told(pair, side, place));
    return word;
  });
}

// Links: curves over the words' places, drawn again whenever these change.

function link(figures) {
  // First all places are read, then all curves written: in turns, each reading would lay out the page anew.
  const measured = figures.map((figure) => ({
    figure,
    origin: box(figure),
    boxes: { source: figure.words.source.map(box), target: figure.words.target.map(box) },
  }));
  for (const { figure, origin, boxes } of measured) {
    const curves = figure.pair.links.flatMap((link) => curve(link, boxes, origin));
    figure.querySelector(".links").replaceChildren(...curves);
    if (figure.classList.contains("lit")) light(figure);
  }
}

const box = (element) => element.getBoundingClientRect();

function curve([i, j, , strength, verdict], boxes, origin) {
  const from = boxes.source[i];
  const to = boxes.target[j];
  const [x, y] = [from.x + from.width / 2 - origin.x, from.bottom - origin.y];
  const [u, v] = [to.x + to.width / 2 - origin.x, to.top - origin.y];
  const bend = Math.max(Math.abs(v - y) / 2, 20);
  const ends = { "data-source": i, "data-target": j };
  const opacity = FAINTEST + (1 - FAINTEST) * strength;
  const path = drawn("path", {
    class: `link ${verdict ?? ""}`,
    d: `M${x} ${y}C${x} ${y + bend} ${u} ${v - bend} ${u} ${v}`,
    "stroke-opacity": opacity.toFixed(3),
    ...ends,
  });
  if (!(verdict in MARKS)) return [path];
  const mark = drawn("text", { class: `mark ${verdict}`, x: (x + u) / 2, y: (y + v) / 2 + 4, ...ends });
  mark.textContent = MARKS[verdict];
  return [path, mark];
}

// Light: the word under the pointer, or else the one with the focus, with its partners and links.

const other = { source: "target", target: "source" };
const placeIn = { source: 0, target: 1 };

function partners(pair, side, place) {
  return pair.links
    .filter((link) => link[placeIn[side]] === place)
    .map((link) => ({ place: link[placeIn[other[side]]], weight: link[2], verdict: link[4] }));
}

function told(pair, side, place) {
  const said = partners(pair, side, place).map(({ place, weight, verdict }) => {
    const notes = [weight === null ? null : weight.toFixed(2), verdict].filter(Boolean);
    return `${pair[other[side]][place]} (${notes.join(", ")})`;
  });
  const verdict = new Map(pair[`${side}Nulls`]).get(place);
  if (verdict !== undefined) said.push(verdict ? `∅ (${verdict})` : "∅");
  const sure = pair[`${side}Confidence`]?.[place];
  return `– ${said.join(", ")}` + (sure === undefined ? "" : `; ∅ with confidence ${sure.toFixed(2)}`);
}

function light(figure) {
  const word = figure.querySelector(".word:hover") ?? figure.querySelector(".word:focus");
  for (const element of figure.querySelectorAll(".on")) element.classList.remove("on");
  figure.classList.toggle("lit", Boolean(word));
  const detail = figure.parentElement.querySelector(".detail");
  detail.textContent = "";
  if (!word) return;
  const { pair, words } = figure;
  word.classList.add("on");
  for (const { place } of partners(pair, word.side, word.place)) words[other[word.side]][place].classList.add("on");
  const own = `[data-${word.side}="${word.place}"]`;
  for (const element of figure.querySelectorAll(own)) element.classList.add("on");
  detail.textContent = `${pair[word.side][word.place]} ${told(pair, word.side, word.place)}`;
}

for (const event of ["pointerover", "pointerout", "focusin", "focusout"]) {
  main.addEventListener(event, ({ target }) => {
    const figure = target.closest("figure");
    if (figure) requestAnimationFrame(() => light(figure));
  });
}

// Keys: arrows go along a sentence and over to the other one, / to the search.

main.addEventListener("keydown", (event) => {
  const word = event.target.closest(".word");
  if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") word.blur();
  const next = neighbour(word, event.key);
  if (!next) return;
  event.preventDefault();
  word.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

function neighbour(word, key) {
  const { pair, words } = word.closest("figure");
  const row = words[word.side];
  const onwards = pair.leftwards ? "ArrowLeft" : "ArrowRight";
  switch (key) {
    case "ArrowLeft":
    case "ArrowRight":
      return row[word.place + (key === onwards ? 1 : -1)];
    case "Home":
      return row[0];
    case "End":
      return row.at(-1);
    case "ArrowUp":
      return word.side === "target" && across(pair, words, word);
    case "ArrowDown":
      return word.side === "source" && across(pair, words, word);
  }
}

function across(pair, words, word) {
  const found = partners(pair, word.side, word.place).sort((a, b) => b.weight - a.weight);
  const opposite = words[other[word.side]];
  if (found.length) return opposite[found[0].place];
  const here = box(word);
  const distance = (one) => Math.hypot(box(one).x - here.x, 3 * (box(one).y - here.y));
  return opposite.toSorted((a, b) => distance(a) - distance(b))[0];
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select")) return;
  event.preventDefault();
  field("words").focus();
});

// Filter and sort.

const RANGES = [
  ["f1", "f1", 100],
  ["nulls", "nullRate", 100],
  ["length", "length", 1],
];

function filter() {
  const wanted = field("words").value.trim().toLowerCase();
  const ranges = RANGES.map(([id, name, unit]) => ({
    name,
    unit,
    from: field(`${id}-from`).valueAsNumber,
    to: field(`${id}-to`).valueAsNumber,
  }));
  // What is not filled in is NaN, with which every comparison is false.
  const outside = (pair) => ({ name, unit, from, to }) => pair[name] * unit < from || pair[name] * unit > to;
  return articles.filter(({ pair }) => pair.text.includes(wanted) && !ranges.some(outside(pair)));
}

function arrange() {
  const name = field("sort").value;
  const direction = field("descending").checked ? -1 : 1;
  const chosen = filter().sort((a, b) => direction * (a.pair[name] - b.pair[name]) || a.pair.number - b.pair.number);
  main.replaceChildren(...chosen);
  field("count").textContent = `${chosen.length.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} pairs`;
  for (const article of chosen) if (!article.firstChild) sight.observe(article);
}

const controls = field("controls");
controls.addEventListener("input", arrange);
controls.addEventListener("reset", () => setTimeout(arrange));
controls.addEventListener("submit", (event) => event.preventDefault());

// Print: all that is chosen, drawn at the width of a page.

addEventListener("beforeprint", () => {
  document.body.classList.add("printing");
  for (const article of main.children) fill(article);
  link([...main.querySelectorAll("figure")]);
});
addEventListener("afterprint", () => document.body.classList.remove("printing"));

// Begin.

document.body.classList.toggle("plain", !scores);
if (!scores) for (const option of document.querySelectorAll("option.judged")) option.remove();
field("summary").textContent = scores
  ? `F1 ${percent(scores.f1)}, precision ${percent(scores.precision)}, recall ${percent(scores.recall)}, ` +
    `links and nulls, level ${scores.level}`
  : "";
if (scores) field("plain").textContent = "right; the lighter, the fainter";
arrange();
