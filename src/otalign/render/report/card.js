// The card of a pair: its facts, and a drawing of the gold and of each system, with the words at the same places.

function drawCard(pair, view) {
  const title = made("h2", "", made("a", "", `Pair ${pair.number}`));
  title.id = `pair-${pair.number}`;
  title.firstChild.href = view.address(pair);
  const drawings = [GOLD, ...names].filter((name) => view.drawn.has(name));
  const alone = drawings.length === 1 && drawings[0] !== GOLD && names.length === 1;
  const facts = [...(alone ? resultsOf(pair, 0) : []), ...factsOf(pair, view)];
  const about = made("div", "about", title, ...facts.map((fact) => made("span", "", fact)));
  const card = made("article", "", about, ...drawings.map((name) => drawing(pair, name, view, alone)));
  card.setAttribute("aria-labelledby", title.id);
  card.tabIndex = -1;
  card.pair = pair;
  return card;
}

function factsOf(pair, { system }) {
  const facts = [`nulls ${percent(pair.nullRate[system])}%`, counted(pair.length, "word")];
  if (systems.length > 1) facts.push(pair.differs ? counted(pair.differs, "difference") : "no difference");
  return facts;
}

function resultsOf(pair, index) {
  if (!judged) return [];
  const { right, wrong, missed } = compare(pair, index).tally;
  return [`F1 ${percent(pair.f1[index])}`, `${right} right, ${wrong} wrong, ${missed} missed`];
}

function goldFacts({ sure, possible }) {
  return [possible ? `${sure.length} sure (S), ${possible.length} possible (P)` : counted(sure.length, "link")];
}

// A drawing with its name. All drawings of a pair place their words by the same links.
function drawing(pair, name, view, alone) {
  const facts = alone ? [] : name === GOLD ? goldFacts(pair) : resultsOf(pair, names.indexOf(name));
  const about = made("div", "about", ...facts.map((fact) => made("span", "", fact)));
  if (!alone) about.prepend(made("h3", "", name));
  const section = made("section", `drawing ${name === GOLD ? "gold" : ""}`, about, figureOf(pair, name, view));
  section.setAttribute("aria-label", `${name}, pair ${pair.number}`);
  section.name = name;
  return section;
}

function figureOf(pair, name, { only, wanted }) {
  const linked = name === GOLD ? viewOfGold(pair, only) : viewOf(pair, names.indexOf(name), only);
  const figure = newFigure({ ...linked, basis: judged ? goldLinks(pair) : pair.systems[0].links });
  for (const side of ["source", "target"])
    for (const place of foundPlaces(searchable(pair)[side], wanted)) figure.words[side][place].classList.add("found");
  return figure;
}

// About the height of a card, before it is drawn: rows of words, of each drawing.
function estimateHeight(pair, width, drawings) {
  const rows = Math.ceil((12 * pair.letters) / width);
  return 60 + drawings * (60 + 138 * rows);
}
