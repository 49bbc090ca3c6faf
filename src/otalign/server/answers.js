// What the server answered: as a pair for the drawing, in words, and what has changed since the answer before.

function pairOf(answer) {
  return {
    source: answer.source,
    target: answer.target,
    links: answer.links.map(([i, j, weight]) => [i, j, weight, Math.min(weight, 1)]),
    sourceNulls: answer.source_nulls.map((i) => [i, null]),
    targetNulls: answer.target_nulls.map((j) => [j, null]),
    phrases: phrasesOf(answer.links),
    sourceConfidence: answer.source_null_confidence,
    targetConfidence: answer.target_null_confidence,
  };
}

const same = (some, others) => some.length === others.length && some.every((one, k) => one === others[k]);
const sameWords = (one, two) => same(one.source, two.source) && same(one.target, two.target);

function summaryOf({ source, target, links, source_nulls, target_nulls }) {
  if (!source.length || !target.length) return "Type two sentences.";
  const nulls = [...listNulls(source, source_nulls, "source"), ...listNulls(target, target_nulls, "target")];
  const count = `${counted(links.length, "link")}.`;
  return nulls.length ? `${count} Without a counterpart: ${nulls.join("; ")}.` : `${count} Every word has a counterpart.`;
}

const MOST_NAMED = 12; // null words of a sentence that are named; the drawing shows all

function listNulls(words, places, side) {
  if (!places.length) return [];
  const shown = places.slice(0, MOST_NAMED).map((k) => quoted(words[k]));
  const rest = places.length - shown.length;
  return [`${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""} (${side})`];
}

// For screen readers: links that have come or gone, or the summary if there are other words.
function changesOf(before, now) {
  if (!before || !sameWords(before, now)) return summaryOf(now);
  const keys = ({ links }) => new Set(links.map(([i, j]) => `${i}-${j}`));
  const [old, recent] = [keys(before), keys(now)];
  const listed = (verb, found) =>
    found.length ? [`${counted(found.length, "link")} ${verb}: ${found.map(([i, j]) => `${now.source[i]} – ${now.target[j]}`).join(", ")}.`] : [];
  const added = now.links.filter(([i, j]) => !old.has(`${i}-${j}`));
  const removed = before.links.filter(([i, j]) => !recent.has(`${i}-${j}`));
  return [...listed("added", added), ...listed("removed", removed)].join(" ");
}

const pharaohOf = ({ links }) => links.map(([i, j]) => `${i}-${j}`).join(" ");

// Write only what is new: a live region would announce the same text again.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
