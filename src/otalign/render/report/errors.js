// The next and the previous error: wrong and missed links and nulls of the chosen system, in the order of the list.

function makeErrors(list, view, report) {
  let at = null; // the pair of the last error, and its number in the pair

  const errorsOf = (pair) => listItems(pair, view().system, view().only).filter(({ isError }) => isError);

  // The first error after, or before, a place in the list.
  function find(step) {
    const start = at ?? { pair: list.position().pair, number: step > 0 ? -1 : 0 };
    let index = list.pairs.indexOf(start.pair);
    let number = start.number + step;
    for (; index >= 0 && index < list.pairs.length; index += step) {
      const errors = errorsOf(list.pairs[index]);
      if (number === Infinity) number = errors.length - 1;
      if (number >= 0 && number < errors.length) return { pair: list.pairs[index], number, errors };
      number = step > 0 ? 0 : Infinity;
    }
    return null;
  }

  function go(step) {
    const found = find(step);
    if (!found) return report(step > 0 ? "no error after this one" : "no error before this one");
    at = found;
    const { pair, number, errors } = found;
    const { side, place } = errors[number];
    if (!isInSight(pair)) list.moveTo({ pair, offset: -8 });
    const section = [...list.card(pair).querySelectorAll(".drawing")].find(({ name }) => name === names[view().system]);
    (section?.querySelector("figure").words[side][place] ?? list.card(pair)).focus();
    report(`error ${number + 1} of ${errors.length} in pair ${pair.number}`);
  }

  function isInSight(pair) {
    const box = list.card(pair)?.getBoundingClientRect();
    return box && box.top >= 0 && box.bottom <= innerHeight;
  }

  return { go, reset: () => (at = null) };
}
