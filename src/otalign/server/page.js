// The page: what is typed and chosen goes to the server as it changes, and into the address; the answer is shown.

const field = (id) => document.getElementById(id);

// Titles and explanations; problems and their parameters are registered in problems.py.
const PROBLEMS = {
  learned: ["Trained", "Learned from sentences that people linked. The weights are probabilities, and a pair may have no link at all. Choose how sure a link must be."],
  bot: ["Balanced", "Each sentence weighs 1, shared evenly by its words, and all of it must be moved. Every word has to give its weight to some word, also one that has no counterpart."],
  pot: ["Partial", "Only a fraction of the words' weight is moved, where it is cheapest. With a smaller fraction, more words are left without a counterpart."],
  uot: ["Unbalanced", "Words may give or take less than they weigh, or more, at the price τ. Where τ is small, what has no counterpart is left out; a large τ comes close to balanced."],
  none: ["None", "No transport: words are linked wherever they are alike enough. Nothing keeps a word from being linked with many."],
};

const SLIDERS = [
  { name: "tau", title: "τ, the price of leaving words out", from: 0.02, to: 5, logarithmic: true },
  { name: "fraction", title: "Fraction that is moved", from: 0.05, to: 1 },
  { name: "epsilon", title: "ε, how soft the plan is", from: 0.01, to: 1, logarithmic: true },
  { name: "distortion", title: "κ, penalty for words at different positions", from: 0, to: 1 },
  { name: "threshold", title: "Threshold, above which a weight is a link", from: 0, to: 1 },
];

const EXAMPLES = [
  ["He bought a used car.", "He purchased a second-hand car yesterday."],
  ["Her grandfather passed away last winter after a long illness.", "Her grandfather died last winter."],
  ["The gardener watered the young trees before sunrise.", "Before sunrise, the young trees were watered by the gardener."],
  ["A woman in a red coat is selling fresh bread at the crowded market.", "A woman is selling bread."],
  ["We finally figured out why the old printer kept breaking down.", "We found the reason the printer failed so often."],
  ["The cat sleeps on the warm roof.", "Interest rates may rise again in spring."],
];

const TYPING = 150; // milliseconds without a key until what was typed is sent

// Asking: with the token that the server needs, if it needs one. Only this tab remembers it, until it is closed.

async function fetchJson(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem("otalign-token");
    const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
    const response = await fetch(path, { ...options, headers }).catch(() => {
      throw new Error("The server cannot be reached.");
    });
    if (response.status !== 401) return [response.ok, await response.json()];
    sessionStorage.setItem("otalign-token", await askForToken(token ? "The server does not know this token." : ""));
  }
}

function askForToken(reason) {
  const form = field("unlock");
  form.hidden = false;
  form.querySelector("p").textContent = reason;
  field("token").focus();
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      form.hidden = true;
      resolve(field("token").value.trim());
      field("token").value = "";
    };
  });
}

const [, about] = await fetchJson("v1/aligner");

field("languages").textContent = `This aligner knows ${about.languages.join(", ")}.`;
field("languages").hidden = !about.languages.length;

// State: the sentences, the problem, and what was chosen away from its defaults.

let state = {};

function stateOf(address) {
  const said = new URLSearchParams(address);
  const problem = said.get("problem") in about.settings ? said.get("problem") : about.problem;
  const [source, target] = said.has("source") ? [said.get("source"), said.get("target") ?? ""] : EXAMPLES[0];
  const chosen = {};
  for (const { name, from, to } of SLIDERS.filter(({ name }) => name in about.settings[problem])) {
    const value = Number(said.get(name) ?? NaN);
    if (value >= from && value <= to) chosen[name] = value;
  }
  if (problem === "learned" && ["sure", "possible"].includes(said.get("links"))) chosen.links = said.get("links");
  return { source, target, problem, chosen };
}

function addressOf({ source, target, problem, chosen }) {
  return `#${new URLSearchParams({ source, target, problem, ...chosen })}`;
}

function change(part, delay = 0) {
  state = { ...state, ...part };
  history.replaceState(null, "", addressOf(state));
  send(delay);
}

// Sending: one request at a time; what changes meanwhile is sent when the answer is there, and only the last of it.

let answer = null;
let timer = 0;
let underway = false;
let changed = false;

function send(delay) {
  document.body.ariaBusy = "true"; // until what is shown is the answer to what was last chosen
  clearTimeout(timer);
  timer = setTimeout(ask, delay);
}

async function ask() {
  timer = 0;
  changed = true;
  if (underway) return;
  underway = true;
  document.body.classList.add("waiting");
  while (changed) {
    changed = false;
    try {
      show(await asked(state));
    } catch (error) {
      if (!changed) fail(error.message);
    }
  }
  document.body.classList.remove("waiting");
  if (!timer) document.body.ariaBusy = "false";
  underway = false;
}

async function asked({ source, target, problem, chosen }) {
  const body = JSON.stringify({ source, target, matrix: true, settings: { problem, ...chosen } });
  const headers = { "Content-Type": "application/json" };
  const [ok, said] = await fetchJson("v1/align", { method: "POST", headers, body });
  if (!ok) throw new Error(said.detail);
  return said;
}

function show(said) {
  answer = said;
  showFigure(field("result"), said);
  showMatrix(field("matrix"), said);
  field("status").classList.remove("failed");
  field("status").textContent = [summary(said), said.language_warning].filter(Boolean).join(" Note: ");
  field("signature").textContent = said.signature;
  for (const slider of sliders) slider.show(said.settings);
  for (const radio of document.getElementsByName("links")) radio.checked = radio.value === said.settings.links;
}

function fail(reason) {
  field("status").classList.add("failed");
  field("status").textContent = reason;
}

// Controls.

function newSlider({ name, title, from, to, logarithmic }) {
  const [there, back] = logarithmic ? [Math.log10, (x) => 10 ** x] : [Number, Number];
  const input = made("input");
  Object.assign(input, { type: "range", id: name, min: there(from), max: there(to), step: 0.01 });
  const output = made("output");
  const label = made("label", "", title);
  label.htmlFor = output.htmlFor = name;
  const row = made("div", "slider", label, output, input);
  field("links").before(row);
  input.addEventListener("input", () => {
    const value = Number(back(input.valueAsNumber).toPrecision(3));
    change({ chosen: { ...state.chosen, [name]: value } });
    tellValue(value);
  });
  function tellValue(value) {
    output.textContent = value.toPrecision(value < 1 ? 2 : 3);
    output.classList.toggle("own", name in state.chosen);
    input.setAttribute("aria-valuetext", output.textContent);
  }
  return {
    show(settings) {
      row.hidden = !(name in settings);
      if (row.hidden || changed) return; // what is being moved is further than the answer
      const value = state.chosen[name] ?? settings[name];
      if (document.activeElement !== input) input.value = there(value);
      tellValue(value);
    },
  };
}

const sliders = SLIDERS.map(newSlider);

for (const problem of Object.keys(PROBLEMS).filter((name) => name in about.settings)) {
  const radio = Object.assign(made("input"), { type: "radio", name: "problem", value: problem });
  radio.setAttribute("aria-describedby", "explanation");
  field("choices").append(made("label", "", radio, PROBLEMS[problem][0]));
}

field("choices").addEventListener("change", ({ target }) => {
  const kept = Object.entries(state.chosen).filter(([name]) => name !== "threshold" && name in about.settings[target.value]);
  change({ problem: target.value, chosen: Object.fromEntries(kept) });
  showChoice();
});

field("links").addEventListener("change", ({ target }) => change({ chosen: { links: target.value } }));

for (const side of ["source", "target"]) {
  field(side).maxLength = about.limits.characters;
  field(side).addEventListener("input", ({ target }) => change({ [side]: target.value }, TYPING));
}

EXAMPLES.forEach(([source], k) => field("examples").append(new Option(source, k)));
field("examples").addEventListener("change", ({ target }) => {
  if (target.value === "") return;
  const [source, other] = EXAMPLES[target.value];
  change({ source, target: other });
  showTexts();
  target.value = "";
});

field("swap").addEventListener("click", () => {
  change({ source: state.target, target: state.source });
  showTexts();
});

field("reset").addEventListener("click", () => {
  change({ problem: about.problem, chosen: {} });
  showChoice();
});

for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());

function showTexts() {
  field("source").value = state.source;
  field("target").value = state.target;
}

function showChoice() {
  for (const radio of document.getElementsByName("problem")) radio.checked = radio.value === state.problem;
  field("explanation").textContent = PROBLEMS[state.problem][1];
  field("links").hidden = state.problem !== "learned";
}

// Copying.

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyByHand(text); // only pages of this machine or over https may use the clipboard
  }
  field("copied").textContent = `${what} copied.`;
}

function copyByHand(text) {
  const place = Object.assign(made("textarea", "unseen"), { value: text });
  const focused = document.activeElement;
  document.body.append(place);
  place.select();
  document.execCommand("copy");
  place.remove();
  focused?.focus();
}

const pharaoh = ({ links }) => links.map(([i, j]) => `${i}-${j}`).join(" ");

field("copy-pharaoh").addEventListener("click", () => answer && copy(pharaoh(answer), "Links"));
field("copy-json").addEventListener("click", () => {
  if (!answer) return;
  const { matrix, ...rest } = answer;
  copy(JSON.stringify(rest), "JSON");
});
field("copy-link").addEventListener("click", () => copy(location.href, "Link"));

// Begin, and begin again where another address is entered.

function begin() {
  state = stateOf(location.hash.slice(1));
  showTexts();
  showChoice();
  send(0);
}

addEventListener("hashchange", begin);
begin();
