// Light: the word under the pointer, or else the one with the focus, with its partners, its links and what is known
// of them; and keys to walk along the words.

function partners(pair, side, place) {
  return pair.links
    .filter((link) => link[placeIn[side]] === place)
    .map((link) => ({ place: link[placeIn[other[side]]], weight: link[2], verdict: link[4] }));
}

function told(pair, side, place) {
  const said = partners(pair, side, place).map(({ place, weight, verdict }) => {
    const notes = [weight === null ? null : weight.toFixed(2), verdict].filter(Boolean);
    return `${quoted(pair[other[side]][place])} (${notes.join(", ")})`;
  });
  const verdict = new Map(pair[`${side}Nulls`]).get(place);
  if (verdict !== undefined) said.push(verdict ? `∅ (${verdict})` : "∅");
  const sure = pair[`${side}Confidence`]?.[place];
  return `– ${said.join(", ")}` + toldPhrase(pair, side, place) + (sure === undefined ? "" : `; ∅ with confidence ${sure.toFixed(2)}`);
}

// Type and weight of the phrase of a word, if it has several words on a side. It is that of all links, drawn or not.
function toldPhrase(pair, side, place) {
  const phrase = pair.phrases?.find((one) => one[side].has(place));
  if (!phrase || phrase.type === "1-1") return "";
  return `; phrase ${phrase.type}` + (phrase.weight === null ? "" : `, ${phrase.weight.toFixed(2)}`);
}

function light(figure) {
  if (figure.querySelector(".detail:hover")) return; // which can be read and selected
  const word = figure.querySelector(".word:hover") ?? figure.querySelector(".word:focus");
  if (word) return lightWord(figure, word);
  const stroke = figure.querySelector(".stroke:hover");
  turnOff(figure);
  if (stroke) turnOn(figure, stroke.group.source, stroke.group.target, [stroke]);
}

function lightWord(figure, word) {
  const { pair, words } = figure;
  const found = partners(pair, word.side, word.place).map(({ place }) => place);
  const strokes = figure.querySelectorAll(`.stroke[data-${word.side}~="${word.place}"]`);
  turnOff(figure);
  turnOn(figure, ...(word.side === "source" ? [[word.place], found] : [found, [word.place]]), strokes);
  const text = `${quoted(pair[word.side][word.place])} ${told(pair, word.side, word.place)}`;
  showDetail(figure, words[word.side][word.place], text);
}

// The words of a cell of the matrix, linked or not.
function lightPair(figure, i, j, text) {
  turnOff(figure);
  turnOn(figure, [i], [j], figure.querySelectorAll(`.stroke[data-source~="${i}"][data-target~="${j}"]`));
  showDetail(figure, figure.words.source[i], text);
}

function turnOn(figure, source, target, strokes) {
  figure.classList.add("lit");
  for (const i of source) figure.words.source[i].classList.add("on");
  for (const j of target) figure.words.target[j].classList.add("on");
  for (const stroke of strokes) stroke.classList.add("on");
}

function turnOff(figure) {
  figure.classList.remove("lit");
  for (const element of figure.querySelectorAll(".on")) element.classList.remove("on");
  figure.querySelector(".detail").textContent = "";
}

// Beside its word: above a source word, below a target word, where no links of theirs are.
function showDetail(figure, word, text) {
  const detail = figure.querySelector(".detail");
  const { left, top, bottom } = figure.placed[word.side][word.place];
  detail.textContent = text;
  detail.style.left = `${Math.max(Math.min(left, figure.clientWidth - detail.offsetWidth), 0)}px`;
  detail.style.top = word.side === "source" ? `${top - detail.offsetHeight - 2}px` : `${bottom + 2}px`;
}

for (const event of ["pointerover", "pointerout", "focusin", "focusout"]) {
  document.addEventListener(event, ({ target }) => {
    const figure = target.closest?.("figure.alignment");
    if (figure) requestAnimationFrame(() => light(figure));
  });
}

// Keys: arrows go along a sentence and over to the other one, Escape puts the light out.

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.querySelectorAll("figure.lit").forEach(turnOff);
  const word = event.target.closest?.(".word");
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
  const [onwards, backwards] = leftwards(pair[word.side]) ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
  switch (key) {
    case onwards:
      return row[word.place + 1];
    case backwards:
      return row[word.place - 1];
    case word.side === "source" ? "ArrowDown" : "ArrowUp":
      return across(pair, words, word);
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
