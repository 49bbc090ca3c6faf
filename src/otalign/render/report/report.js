// The page: controls, the address, keys and printing around the list of pairs.

const controls = field("controls");
let view; // what the controls say

// Controls that depend on the data.

if (judged || systems.length > 1) field("systems").append(makeSummary());
field("filters").open = innerWidth >= 640;
for (const name of judged ? [GOLD, ...names] : names) {
  const box = Object.assign(made("input"), { type: "checkbox", name: "draw", value: name });
  box.defaultChecked = name !== GOLD || systems.length > 1;
  field("drawings").append(made("label", "check", box, name));
}
const has = {
  judged,
  several: systems.length > 1,
  choice: judged || systems.length > 1, // of drawings
  levels: hasPossible,
};
const unsuited = [`[data-level]:not([data-level="${level}"])`];
for (const [name, isTrue] of Object.entries(has)) unsuited.push(`[data-${isTrue ? "not" : "needs"}~="${name}"]`);
for (const element of document.querySelectorAll(unsuited)) element.remove();
controls.elements.descending.defaultChecked = has.several;
controls.elements.sort.value = has.several ? "differs" : "number";
controls.elements.sort.selectedOptions[0].defaultSelected = true;

// The list, and what is said of it.

const list = makeList(field("pairs"), {
  draw: (pair) => drawCard(pair, { ...view, address: addressOf }),
  estimate: (pair, width) => estimateHeight(pair, width, Math.max(view.drawn.size, 1)),
  inset: () => field("bar").offsetHeight,
});
const say = (text) => (field("place").textContent = text);
const errors = makeErrors(list, () => view, say);

function addressOf(pair) {
  const address = writeAddress(controls);
  address.set("pair", pair.number);
  return `#${address}`;
}

function arrange(at = null) {
  view = readControls(controls);
  list.show(choosePairs(view), at);
  errors.reset();
  markBars(controls, view);
  say("");
  field("count").textContent = `${list.pairs.length.toLocaleString("en")} of ${counted(pairs.length, "pair")}`;
  for (const button of document.querySelectorAll("[data-save]")) button.disabled = !list.pairs.length;
}

// What is changed in one field is one step of the back button.

let changed = null;

function change(control) {
  const isTyped = control && !isChoice(control) && !control.options;
  const address = writeAddress(controls);
  history[isTyped && control === changed ? "replaceState" : "pushState"](null, "", `#${address}`);
  changed = control;
  if (scrollY > field("bar").offsetTop) scrollTo({ top: 0, behavior: "instant" });
  arrange();
}

controls.addEventListener("input", ({ target }) => {
  if (target.name === "sort") controls.elements.descending.checked = !ASCENDING.includes(target.value);
  change(target);
});
controls.addEventListener("reset", () => setTimeout(() => change(null)));
controls.addEventListener("submit", (event) => event.preventDefault());
controls.addEventListener("click", ({ target }) => {
  const bar = target.closest(".bar");
  if (!bar) return;
  pressBar(bar, controls);
  change(null);
});

// Go where the address and the history say.

history.scrollRestoration = "manual";
addEventListener("popstate", ({ state }) => follow(state));

function follow(state) {
  changed = null;
  const address = new URLSearchParams(location.hash.slice(1));
  readAddress(controls, address);
  const filters = [...field("filters").querySelectorAll("[name]")];
  if (!filters.every(isDefault)) field("filters").open = true; // what is set should be seen
  const linked = pairs[Number(address.get("pair")) - 1];
  const kept = state && { pair: pairs[state.number - 1], offset: state.offset };
  arrange(kept ?? (linked ? { pair: linked, offset: -8 } : null));
  if (!linked) return;
  if (!list.card(linked)) return list.pairs.includes(linked) || say(`pair ${linked.number} is not among these`);
  list.card(linked).classList.add("linked");
  if (!kept) list.card(linked).focus({ preventScroll: true });
}

let resting;
addEventListener("scroll", () => {
  clearTimeout(resting);
  resting = setTimeout(() => {
    const { pair, offset } = list.position();
    history.replaceState(pair && scrollY > 0 ? { number: pair.number, offset } : null, "");
  }, 200);
});

// Keys and buttons. The link to the pairs leaves the address as it is, which tells what is chosen.

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  field("pairs").focus();
});

const KEYS = {
  "/": () => field("words").focus(),
  n: () => judged && errors.go(1),
  p: () => judged && errors.go(-1),
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("select, input:not([type=checkbox], [type=radio])");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

field("bar").addEventListener("click", ({ target }) => {
  const { step, save: format } = target.closest("button")?.dataset ?? {};
  if (step) errors.go(Number(step));
  if (format) save(format, list.pairs, view.drawn);
});

// Print: all that is chosen, drawn at the width of a page.

addEventListener("beforeprint", () => {
  document.body.classList.add("printing");
  list.drawAll();
});
addEventListener("afterprint", () => {
  document.body.classList.remove("printing");
  list.relayOut();
});

document.body.classList.add("ready");
follow(history.state);

// The search needs all words: pairs are parsed before somebody asks, while there is nothing else to do.
const unparsed = pairs.values();
(function parseSome(deadline) {
  while (deadline?.timeRemaining() > 1) {
    const { value: pair, done } = unparsed.next();
    if (done) return;
    searchable(pair);
  }
  window.requestIdleCallback?.(parseSome);
})();
