// Comparison with gold: which links and nulls of a system are right, wrong or missed.
//
// Two more verdicts tell possible links of the gold from sure ones: `possible` is a link of the system that is
// possible in the gold, which counts as right or wrong by the level; `missed-possible` is one it does not have.

const COUNTS_AS = { possible: level === "possible" ? "right" : "wrong", "missed-possible": "missed" };
const countsAs = (verdict) => COUNTS_AS[verdict] ?? verdict;

Object.assign(MARKS, { possible: "P", "missed-possible": "○P" });

// All links and nulls of a system in a pair, as `linked.js` takes them, and how many have each verdict.
function compare(pair, index) {
  const found = pair.systems[index];
  if (!found.compared) {
    const links = judgeLinks(pair, found.links);
    const sourceNulls = judgeNulls(pair, found.links, 0);
    const targetNulls = judgeNulls(pair, found.links, 1);
    const tally = { right: 0, wrong: 0, missed: 0 };
    for (const item of [...links, ...sourceNulls, ...targetNulls]) tally[countsAs(item.at(-1))] += 1;
    found.compared = { links, sourceNulls, targetNulls, tally };
  }
  return found.compared;
}

const goldLinks = (pair) => (level === "possible" ? [...pair.sure, ...(pair.possible ?? [])] : pair.sure);

function judgeLinks(pair, links) {
  const strengths = strengthsOf(links);
  const strong = links.map(([i, j, weight], k) => [i, j, weight, strengths[k]]);
  if (!judged) return strong.map((link) => [...link, null]);
  const key = (link) => linkKey(pair, link);
  const [sure, possible] = [new Set(pair.sure.map(key)), new Set((pair.possible ?? []).map(key))];
  const verdict = (link) => (sure.has(key(link)) ? "right" : possible.has(key(link)) ? "possible" : "wrong");
  const predicted = new Set(links.map(key));
  const missed = goldLinks(pair).filter((link) => !predicted.has(key(link)));
  return [
    ...strong.map((link) => [...link, verdict(link)]),
    ...missed.map((link) => [...link, null, 1, sure.has(key(link)) ? "missed" : "missed-possible"]),
  ];
}

// Weights from 0 to 1; if the largest is above 1, all are divided by it.
function strengthsOf(links) {
  const largest = links.reduce((most, [, , weight]) => Math.max(most, weight), 1);
  return links.map(([, , weight]) => Math.max(weight / largest, 0));
}

function nullPlaces(pair, links, end) {
  const linked = new Set(links.map((link) => link[end]));
  return pair[end ? "target" : "source"].map((_, place) => place).filter((place) => !linked.has(place));
}

function judgeNulls(pair, links, end) {
  const predicted = nullPlaces(pair, links, end);
  if (!judged) return predicted.map((place) => [place, null]);
  const [found, gold] = [new Set(predicted), new Set(nullPlaces(pair, goldLinks(pair), end))];
  return [...new Set([...found, ...gold])]
    .sort((a, b) => a - b)
    .map((place) => [place, !found.has(place) ? "missed" : gold.has(place) ? "right" : "wrong"]);
}

// Only some kinds of items: `only` holds some of wrong, missed, nulls and differing. Wrong and missed are either of
// them, together with another kind both: wrong and nulls are wrong nulls.

function itemFilter(pair, only) {
  const verdicts = ["wrong", "missed"].filter((verdict) => only.has(verdict));
  return (kind, key, verdict) =>
    (kind !== "links" || !only.has("nulls")) &&
    (!verdicts.length || verdicts.includes(countsAs(verdict))) &&
    (!only.has("differing") || isDiffering(pair, kind, key));
}

const linkKey = (pair, [i, j]) => i * pair.target.length + j;

// Whether some systems have a link or a null, and others not.
function isDiffering(pair, kind, key) {
  if (!pair.having) {
    pair.having = { links: new Map(), source: new Map(), target: new Map() };
    const note = (kind, key) => pair.having[kind].set(key, (pair.having[kind].get(key) ?? 0) + 1);
    for (const { links } of pair.systems) {
      for (const link of links) note("links", linkKey(pair, link));
      for (const place of nullPlaces(pair, links, 0)) note("source", place);
      for (const place of nullPlaces(pair, links, 1)) note("target", place);
    }
  }
  const count = pair.having[kind].get(key) ?? 0;
  return count > 0 && count < pair.systems.length;
}

// A pair with what a system found, as `linked.js` draws it.
function viewOf(pair, index, only) {
  const { links, sourceNulls, targetNulls } = compare(pair, index);
  const { sourceConfidence, targetConfidence } = pair.systems[index];
  const isWanted = itemFilter(pair, only);
  return {
    ...wordsAlone(pair),
    links: links.filter((link) => isWanted("links", linkKey(pair, link), link[4])),
    sourceNulls: sourceNulls.filter(([place, verdict]) => isWanted("source", place, verdict)),
    targetNulls: targetNulls.filter(([place, verdict]) => isWanted("target", place, verdict)),
    phrases: phrasesOf(pair.systems[index].links),
    sourceConfidence,
    targetConfidence,
  };
}

// The gold as `linked.js` draws it: sure links and possible ones, and the nulls of the level that counts.
function viewOfGold(pair, only) {
  const named = (links, verdict) => (links ?? []).map(([i, j]) => [i, j, null, 1, verdict]);
  const nulls = (end) => nullPlaces(pair, goldLinks(pair), end).map((place) => [place, null]);
  const links = only.has("nulls") ? [] : [...named(pair.sure, "sure"), ...named(pair.possible, "possible")];
  const phrases = phrasesOf(goldLinks(pair));
  return { ...wordsAlone(pair), links, sourceNulls: nulls(0), targetNulls: nulls(1), phrases };
}

const wordsAlone = ({ source, target }) => ({ source, target });

// The items of a system in a pair that are wanted: where each is, and whether it is an error.
function listItems(pair, index, only) {
  const { links, sourceNulls, targetNulls } = viewOf(pair, index, only);
  const item = (side, place, verdict) => ({ side, place, isError: ["wrong", "missed"].includes(countsAs(verdict)) });
  return [
    ...links.map(([i, , , , verdict]) => item("source", i, verdict)),
    ...sourceNulls.map(([place, verdict]) => item("source", place, verdict)),
    ...targetNulls.map(([place, verdict]) => item("target", place, verdict)),
  ];
}
