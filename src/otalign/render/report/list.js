// The list of pairs: cards are drawn near the window only, each at its place; the others are reserved room.
//
// A height is estimated until its card is drawn, and known from then on. What is drawn is measured before it is
// painted, and the pair at the top of the window stays where it is when heights above it become known.

const NEAR = 0.75; // windows above and below in which cards are drawn

function makeList(container, { draw, estimate, inset }) {
  const heights = new Map(); // of pairs that have been drawn at this width
  const cards = new Map();
  let [chosen, tops, width, scale] = [[], [0], container.clientWidth, 1];

  const heightOf = (pair) => heights.get(pair) ?? Math.round(scale * estimate(pair, width));
  const start = () => container.getBoundingClientRect().top + scrollY;

  function layOut() {
    tops = [0];
    for (const pair of chosen) tops.push(tops.at(-1) + heightOf(pair));
    container.style.height = `${tops.at(-1)}px`;
  }

  // The number of the pair at a height, by bisection.
  function indexAt(y) {
    let [low, high] = [0, Math.max(chosen.length - 1, 0)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Where the window is: its first pair, and how far into it.
  function position() {
    const y = scrollY - start() + inset();
    const index = indexAt(y);
    return { pair: chosen[index], offset: Math.round(y - tops[index]) };
  }

  function moveTo({ pair, offset }) {
    const index = chosen.indexOf(pair);
    if (index < 0) return false;
    const y = Math.round(start() + tops[index] + offset - inset());
    if (Math.abs(y - scrollY) >= 1) scrollTo({ top: y, behavior: "instant" });
    return true;
  }

  function nearRange() {
    const y = scrollY - start();
    return [indexAt(y - NEAR * innerHeight), indexAt(y + (1 + NEAR) * innerHeight)];
  }

  // Cards stand in the document in the order of the list, for the Tab key and for screen readers.
  function drawRange(first, last) {
    const kept = [...cards.values()].find((card) => card.index > last);
    const fresh = [];
    let next = kept ?? null;
    for (let index = last; index >= first && index < chosen.length; index--) {
      let card = cards.get(chosen[index]);
      if (!card) {
        card = Object.assign(draw(chosen[index]), { index });
        card.setAttribute("aria-posinset", index + 1);
        card.setAttribute("aria-setsize", chosen.length);
        cards.set(chosen[index], card);
        container.insertBefore(card, next);
        fresh.push(card);
      }
      next = card;
    }
    return fresh;
  }

  function measure(drawnCards) {
    link(drawnCards.flatMap((card) => [...card.querySelectorAll("figure")]));
    for (const card of drawnCards) noteHeight(card);
  }

  function noteHeight(card) {
    heights.set(card.pair, Math.ceil(card.getBoundingClientRect().height));
  }

  function place() {
    for (const card of cards.values()) card.style.transform = `translateY(${tops[card.index]}px)`;
  }

  // Draw what is near. Its heights may bring other pairs near, so it is done again until none is new.
  function update(at = position()) {
    for (let round = 0; round < 6; round++) {
      const fresh = drawRange(...nearRange());
      if (!fresh.length) break;
      measure(fresh);
      if (round === 0 && heights.size === fresh.length) scale = measuredScale(fresh);
      layOut();
      moveTo(at);
    }
    dropFar(...nearRange());
    place();
  }

  function measuredScale(some) {
    const sum = (height) => some.reduce((total, card) => total + height(card), 0);
    return sum((card) => heights.get(card.pair)) / sum((card) => estimate(card.pair, width));
  }

  function dropFar(first, last) {
    for (const [pair, card] of cards) {
      const isFar = card.index < first - 1 || card.index > last + 1;
      if (!isFar || card.contains(document.activeElement)) continue; // the focus must not be lost
      sizes.unobserve(card);
      card.remove();
      cards.delete(pair);
    }
    for (const card of cards.values()) sizes.observe(card);
  }

  // What changed its size by itself, such as with the width of the window.
  const sizes = new ResizeObserver((entries) => {
    if (document.body.classList.contains("printing")) return;
    const at = position();
    if (container.clientWidth !== width) {
      width = container.clientWidth;
      heights.clear();
      measure([...cards.values()]);
    }
    for (const { target } of entries)
      if (cards.has(target.pair)) noteHeight(target);
    layOut();
    moveTo(at);
    update(at);
  });
  sizes.observe(container);
  addEventListener("scroll", () => update(), { passive: true });

  function clear() {
    cards.clear();
    container.replaceChildren();
  }

  return {
    position,
    update,
    get pairs() {
      return chosen;
    },
    card: (pair) => cards.get(pair),
    // Show other pairs, or the same ones drawn in another way.
    show(some, at = null) {
      clear();
      heights.clear();
      chosen = some;
      layOut();
      if (at) moveTo(at);
      update(at ?? position());
    },
    moveTo(at) {
      if (!moveTo(at)) return false;
      update(at);
      return true;
    },
    drawAll() {
      drawRange(0, chosen.length - 1);
      measure([...cards.values()]);
    },
    relayOut() {
      const at = position();
      heights.clear();
      measure([...cards.values()]);
      layOut();
      update(at);
    },
  };
}
