// Where words and links are drawn: the same functions as in groups.py, lines.py and placing.py, for pages.

const FULL_LINE = 2; // an empty line costs as much as this number of links from one line to another
const ROUNDS = 6;
const TOLERANCE = 1e-6;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

const sum = (values) => values.reduce((total, value) => total + value, 0);
const indices = (start, end) => Array.from({ length: end - start }, (_, k) => start + k);

// Whether most letters belong to a script that is written from right to left.
function leftwards(words) {
  const letters = words.flatMap((word) => word.match(/\p{L}/gu) ?? []);
  return letters.filter((letter) => RIGHT_TO_LEFT.test(letter)).length * 2 > letters.length;
}

// Groups of links: words with the same partners, by the same verdict, share a bracket.
function groupLinks(links) {
  const sources = groupWords(links.map(([i, j, , , verdict]) => [i, j, verdict]));
  const targets = groupWords(links.map(([i, j, , , verdict]) => [j, i, verdict]));
  const groups = new Map();
  for (const link of [...links].sort(([i, j], [k, l]) => i - k || j - l)) {
    const [source, target] = [sources.get(link[0]), targets.get(link[1])];
    const key = `${source} ${target}`;
    if (!groups.has(key)) groups.set(key, { source, target, verdict: link[4], links: [] });
    groups.get(key).links.push(link);
  }
  return [...groups.values()];
}

// The phrases: words that are linked, directly or through each other, with the mean weight of their links.
function phrasesOf(links) {
  const phrases = new Set();
  for (const [i, j, weight] of links) {
    const phrase = { source: new Set([i]), target: new Set([j]), weights: [weight] };
    for (const one of phrases) {
      if (!one.source.has(i) && !one.target.has(j)) continue;
      phrases.delete(one);
      for (const side of ["source", "target"]) for (const word of one[side]) phrase[side].add(word);
      phrase.weights.push(...one.weights);
    }
    phrases.add(phrase);
  }
  return [...phrases].map(({ source, target, weights }) => ({
    source,
    target,
    type: [source.size > 1 ? "n" : "1", target.size > 1 ? (source.size > 1 ? "m" : "n") : "1"].join("-"),
    weight: weights.includes(null) || weights.includes(undefined) ? null : sum(weights) / weights.length,
  }));
}

function groupWords(pairs) {
  const partners = new Map();
  for (const [word, partner, verdict] of [...pairs].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    partners.set(word, `${partners.get(word) ?? ""} ${partner} ${verdict ?? ""}`);
  }
  const alike = Map.groupBy(partners.keys(), (word) => partners.get(word));
  return new Map([...partners].map(([word, key]) => [word, alike.get(key)]));
}

// Runs of neighbouring words in the same line.
function splitRuns(words, lineOf) {
  const runs = [];
  for (const word of words) {
    if (runs.at(-1)?.at(-1) === word - 1 && lineOf[word] === lineOf[word - 1]) runs.at(-1).push(word);
    else runs.push([word]);
  }
  return runs;
}

// The runs to connect, so that all are connected: the longest of a side with each of the other.
function joinRuns(source, target) {
  const longest = (runs) => runs.reduce((best, run) => (run.length > best.length ? run : best));
  const [first, second] = [longest(source), longest(target)];
  return [...target.map((run) => [first, run]), ...source.filter((run) => run !== first).map((run) => [run, second])];
}

// Lines: both sentences break together, each line where the fewest links lead to later ones.
function breakLines(source, target, pairs, gap, room) {
  const lines = [];
  let [i, j] = [0, 0];
  while (i < source.length || j < target.length) {
    const later = pairs.filter(([p, q]) => p >= i && q >= j).map(([p, q]) => [p - i, q - j]);
    const [end, otherEnd] = chooseEnds(later, source.slice(i), target.slice(j), gap, room);
    lines.push({ source: indices(i, i + end), target: indices(j, j + otherEnd) });
    [i, j] = [i + end, j + otherEnd];
  }
  return lines;
}

// How many words of each side the next line takes: of one side, at least half of what fits.
function chooseEnds(pairs, source, target, gap, room) {
  const [above, below] = [findEnds(source, gap, room), findEnds(target, gap, room)];
  if (above.whole && below.whole) return [source.length, target.length];
  let [best, chosen] = [Infinity, [0, 0]];
  for (const [i, empty] of above.ends) {
    for (const [j, otherEmpty] of below.ends) {
      if (i < above.least && j < below.least) continue;
      const unused = FULL_LINE * (empty + otherEmpty);
      if (unused >= best) continue;
      const cost = unused + pairs.filter(([p, q]) => p < i !== q < j).length;
      if (cost < best) [best, chosen] = [cost, [i, j]];
    }
  }
  return chosen;
}

// The possible ends of a row, last first, with the share of the row that each leaves empty. A sentence whose rest
// fits may end anywhere at no cost, but does not fill a line.
function findEnds(widths, gap, room) {
  const edges = [0];
  let edge = 0;
  for (const width of widths) {
    edge += width + gap;
    if (edge - gap > room && edges.length > 1) break;
    edges.push(edge);
  }
  const last = edges.length - 1;
  const whole = last === widths.length;
  const empty = (end) => (whole ? 0 : Math.max(1 - Math.max(edges[end] - gap, 0) / room, 0));
  const ends = indices(0, last + 1).reverse().map((end) => [end, empty(end)]);
  return { ends, least: whole ? Infinity : Math.floor(last / 2) + 1, whole };
}

// Places of the words of a line: the centres of both rows, as near to their partners as can be.
function placeWords(source, target, pairs, gap, room) {
  const swapped = pairs.map(([i, j]) => [j, i]);
  let [first, second] = [offsets(source, gap), offsets(target, gap)];
  const [above, below] = [source, target].map((row) => Math.max(room - sum(row) - gap * (row.length - 1), 0));
  for (let round = 0; round < (pairs.length ? ROUNDS : 0); round++) {
    second = pullTowards(first, swapped, second, offsets(target, gap), below);
    first = pullTowards(second, pairs, first, offsets(source, gap), above);
  }
  const gapAt = (middles, sizes, k) =>
    k <= 0 || k >= middles.length ? Infinity : middles[k] - middles[k - 1] - (sizes[k] + sizes[k - 1]) / 2 - gap;
  const gaps = (middles, sizes) =>
    indices(0, middles.length + 1).filter((k) => gapAt(middles, sizes, k) > TOLERANCE);
  const [sourceGaps, targetGaps] = [gaps(first, source), gaps(second, target)];
  for (const i of sourceGaps) {
    for (const j of targetGaps) {
      if (pairs.some(([p, q]) => p < i !== q < j)) continue;
      const free = Math.min(gapAt(first, source, i), gapAt(second, target, j));
      if (!(free > TOLERANCE && free < Infinity)) continue;
      first = first.map((x, k) => (k < i ? x : x - free));
      second = second.map((x, k) => (k < j ? x : x - free));
    }
  }
  const edges = [...first.map((x, k) => x - source[k] / 2), ...second.map((x, k) => x - target[k] / 2)];
  const left = edges.length ? Math.min(...edges) : 0;
  return [first.map((x) => x - left), second.map((x) => x - left)];
}

function offsets(sizes, gap) {
  let edge = 0;
  return sizes.map((size) => (edge += size + gap) - gap - size / 2);
}

function pullTowards(others, pairs, now, minimum, slack) {
  const partners = now.map(() => []);
  for (const [word, partner] of pairs) partners[word].push(others[partner]);
  const shiftOf = ({ near, fallback }) =>
    near.length ? near.toSorted((a, b) => a - b)[Math.ceil(near.length / 2) - 1] : fallback;
  const pools = [];
  minimum.forEach((offset, word) => {
    let pool = { near: partners[word].map((x) => x - offset), fallback: now[word] - offset, size: 1 };
    while (pools.length && shiftOf(pools.at(-1)) >= shiftOf(pool)) {
      const before = pools.pop();
      pool = { near: [...before.near, ...pool.near], fallback: before.fallback, size: before.size + pool.size };
    }
    pools.push(pool);
  });
  const shifts = pools.flatMap((pool) => Array(pool.size).fill(shiftOf(pool)));
  return minimum.map((offset, word) => offset + Math.min(Math.max(shifts[word], 0), slack));
}
