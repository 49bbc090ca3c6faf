// The data of the report, as JSON lines: an index with what filters, orders and sizes need, then a line for each
// pair, which is parsed when its words or links are needed: parsing all at once would take most of the opening.

const [head, ...lines] = document.getElementById("data").textContent.split("\n");
const { level, judged, hasPossible, systems, ...index } = JSON.parse(head);
const names = systems.map(({ name }) => name);
const GOLD = "gold"; // stands for the gold where a system's name does; no system has this name

class Pair {
  #line;
  #parsed;

  constructor(line, place) {
    this.#line = line;
    this.number = place + 1;
    for (const name of Object.keys(index)) this[name] = index[name][place];
  }

  get parsed() {
    this.#parsed ??= JSON.parse(this.#line);
    return this.#parsed;
  }
}

const PARSED = ["source", "target", "sourceRaw", "targetRaw", "sure", "possible", "systems"];
for (const name of PARSED)
  Object.defineProperty(Pair.prototype, name, {
    get() {
      return this.parsed[name];
    },
  });

const pairs = lines.map((line, place) => new Pair(line, place));

const field = (id) => document.getElementById(id);
const percent = (share) => (100 * share).toFixed(1);
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// The words in lower case, and each sentence as one text.
function searchable(pair) {
  if (!pair.searchable) {
    const lower = (words) => words.map((word) => word.toLowerCase());
    const [source, target] = [lower(pair.source), lower(pair.target)];
    pair.searchable = { source, target, text: `${source.join(" ")}\n${target.join(" ")}` };
  }
  return pair.searchable;
}

// The places of the words that a search finds, whole or in part; it may go across words.
function foundPlaces(words, wanted) {
  const found = new Set();
  if (!wanted) return found;
  const text = words.join(" ");
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    let start = 0;
    words.forEach((word, place) => {
      if (start < at + wanted.length && start + word.length > at) found.add(place);
      start += word.length + 1;
    });
  }
  return found;
}
