// The pairs of the report: filtered and sorted as data, drawn when they come into sight.

const { scores, pairs } = JSON.parse(document.getElementById("data").textContent);

const percent = (share) => (100 * share).toFixed(1);
const field = (id) => document.getElementById(id);

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

// The key / goes to the search.

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
