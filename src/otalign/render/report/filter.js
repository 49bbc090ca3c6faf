// The choice of pairs: filters and the order, from the values of the controls.

const RANGES = {
  f1: (pair, system) => 100 * pair.f1[system],
  nulls: (pair, system) => 100 * pair.nullRate[system],
  length: (pair) => pair.length,
};
const ORDERS = {
  number: (pair) => pair.number,
  differs: (pair) => pair.differs,
  gap: (pair) => Math.max(...pair.f1) - Math.min(...pair.f1),
  f1: RANGES.f1,
  nulls: RANGES.nulls,
  length: RANGES.length,
};
const ASCENDING = ["number", "f1"]; // orders that are of more use from the least

// What the controls say.
function readControls(form) {
  const checked = (name) => [...form.querySelectorAll(`[name="${name}"]:checked`)].map(({ value }) => value);
  return {
    wanted: form.elements.words.value.trim().toLowerCase(),
    system: Math.max(names.indexOf(checked("system")[0]), 0),
    only: new Set(checked("only")),
    drawn: new Set(form.elements.draw ? checked("draw") : names),
    order: form.elements.sort.value,
    descending: form.elements.descending.checked,
    // What is not filled in is NaN.
    ranges: Object.keys(RANGES).map((name) => ({
      name,
      from: form.elements[`${name}-from`]?.valueAsNumber ?? NaN,
      to: form.elements[`${name}-to`]?.valueAsNumber ?? NaN,
    })),
  };
}

function choosePairs({ wanted, system, only, order, descending, ranges }) {
  // With NaN every comparison is false. Shares have four digits.
  const isOutside = (pair) => ({ name, from, to }) => {
    const value = Number(RANGES[name](pair, system).toFixed(2));
    return value < from || value > to;
  };
  const set = ranges.filter(({ from, to }) => !Number.isNaN(from) || !Number.isNaN(to));
  const isChosen = (pair) =>
    (!wanted || searchable(pair).text.includes(wanted)) &&
    !set.some(isOutside(pair)) &&
    (!only.has("differing") || pair.differs > 0) &&
    (!only.size || listItems(pair, system, only).length > 0);
  const value = (pair) => ORDERS[order](pair, system);
  const direction = descending ? -1 : 1;
  return pairs.filter(isChosen).sort((a, b) => direction * (value(a) - value(b)) || a.number - b.number);
}
