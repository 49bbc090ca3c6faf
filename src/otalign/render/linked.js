// Two sentences and the links between them: words that light up with their partners, and keys to walk along them.
//
// A `pair` holds source and target, links [source, target, weight, strength, verdict], the nulls and their
// confidences. A figure has its pair and its words, and shows them in two rows or, if it is `lying`, columns.

const MARKS = { wrong: "✗", missed: "○" };
const FAINTEST = 0.25; // the opacity of a link of weight 0, which must still be seen

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

function wordsOf(pair, side) {
  return pair[side].map((text, place) => {
    const word = made("button", "word", made("bdi", "", text));
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
  word.setAttribute("aria-description", told(pair, word.side, word.place));
}

// Links: curves over the words' places, drawn again whenever these change.

function link(figures) {
  // First all places are read, then all curves written: in turns, each reading would lay out the page again.
  const measured = figures.map((figure) => ({
    figure,
    origin: box(figure),
    boxes: { source: figure.words.source.map(box), target: figure.words.target.map(box) },
  }));
  for (const { figure, origin, boxes } of measured) {
    const ends = figure.classList.contains("lying") ? sideways : downwards;
    const curves = figure.pair.links.flatMap((link) => curve(link, boxes, origin, ends));
    figure.querySelector(".links").replaceChildren(...curves);
    if (figure.classList.contains("lit")) light(figure);
  }
}

const box = (element) => element.getBoundingClientRect();

// Where a link leaves the box of its source word and meets that of its target word, and its bend there.

function downwards(from, to) {
  const bend = Math.max(Math.abs(to.top - from.bottom) / 2, 20);
  return [from.x + from.width / 2, from.bottom, to.x + to.width / 2, to.top, 0, bend];
}

function sideways(from, to) {
  return [from.right, from.y + from.height / 2, to.left, to.y + to.height / 2, (to.left - from.right) / 2, 0];
}

function curve([i, j, , strength, verdict], boxes, origin, ends) {
  const [left, top, right, bottom, across, down] = ends(boxes.source[i], boxes.target[j]);
  const [x, y, u, v] = [left - origin.x, top - origin.y, right - origin.x, bottom - origin.y];
  const between = { "data-source": i, "data-target": j };
  const opacity = FAINTEST + (1 - FAINTEST) * strength;
  const path = drawn("path", {
    class: `link ${verdict ?? ""}`,
    d: `M${x} ${y}C${x + across} ${y + down} ${u - across} ${v - down} ${u} ${v}`,
    "stroke-opacity": opacity.toFixed(3),
    ...between,
  });
  if (!(verdict in MARKS)) return [path];
  const mark = drawn("text", { class: `mark ${verdict}`, x: (x + u) / 2, y: (y + v) / 2 + 4, ...between });
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
  document.addEventListener(event, ({ target }) => {
    const figure = target.closest?.("figure");
    if (figure) requestAnimationFrame(() => light(figure));
  });
}

// Keys: arrows go along a sentence and over to the other one.

document.addEventListener("keydown", (event) => {
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

const OPPOSITE = { ArrowDown: "ArrowUp", ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };

function neighbour(word, key) {
  const figure = word.closest("figure");
  const lying = figure.classList.contains("lying");
  const onwards = lying ? "ArrowDown" : figure.pair.leftwards ? "ArrowLeft" : "ArrowRight";
  const over = { source: lying ? "ArrowRight" : "ArrowDown", target: lying ? "ArrowLeft" : "ArrowUp" };
  const row = figure.words[word.side];
  switch (key) {
    case onwards:
      return row[word.place + 1];
    case OPPOSITE[onwards]:
      return row[word.place - 1];
    case over[word.side]:
      return across(figure.pair, figure.words, word);
    case "Home":
      return row[0];
    case "End":
      return row.at(-1);
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
