// The systems: a table of their scores, with a histogram of F1 whose bars choose pairs.

const BINS = 10;
const MEASURES = ["f1", "precision", "recall"];

function makeSummary() {
  const amounts = judged ? ["F1", "precision", "recall"] : ["links", "null words"];
  const heads = [headed("col", "system"), ...amounts.map((text) => headed("col", text, "amount"))];
  if (judged) heads.push(headed("col", "pairs by F1"));
  const row = made("tr", "", ...heads);
  const table = made("table", "", made("thead", "", row), made("tbody", "", ...systems.map(summaryRow)));
  return made("div", "", table, made("p", "", noteOf()));
}

function noteOf() {
  const counts = level === "sure" ? "sure links" : "sure and possible links";
  const scored = judged ? `Links and nulls, ${counts} of the gold. ` : "";
  return scored + (systems.length > 1 ? "Filters and errors are those of the chosen system." : "");
}

function headed(scope, content, classes = "") {
  const head = made("th", classes, content);
  head.scope = scope;
  return head;
}

function summaryRow(system, index) {
  const cell = (text) => made("td", "amount", text);
  const cells = judged
    ? [...MEASURES.map((name) => cell(percent(system[name]))), made("td", "bars", histogram(index))]
    : [cell(system.links.toLocaleString("en")), cell(`${percent(system.nullRate)}%`)];
  return made("tr", "", headed("row", systemChoice(system.name, index)), ...cells);
}

function systemChoice(name, index) {
  const radio = Object.assign(made("input"), { type: "radio", name: "system", value: name });
  radio.defaultChecked = index === 0;
  radio.hidden = systems.length === 1;
  return made("label", "check", radio, made("span", "", name));
}

// F1 in percent is rounded to two digits, so that a bin ends a hundredth before the next begins.
const binOf = (f1) => Math.min(Math.floor((BINS * Math.round(10_000 * f1)) / 10_000), BINS - 1);
const edges = (bin) => [bin * (100 / BINS), (bin + 1) * (100 / BINS) - (bin === BINS - 1 ? 0 : 0.01)];

function histogram(index) {
  const counts = Array(BINS).fill(0);
  for (const pair of pairs) counts[binOf(pair.f1[index])] += 1;
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, bin) => {
    const bar = made("button", "bar", made("span"));
    const [from, to] = edges(bin);
    bar.firstChild.style.height = `${count ? Math.max((100 * count) / most, 6) : 0}%`;
    Object.assign(bar, { type: "button", bin, disabled: !count, system: names[index] });
    bar.title = `F1 ${from} to ${Math.ceil(to)}: ${counted(count, "pair")}`;
    bar.setAttribute("aria-label", bar.title);
    return bar;
  });
  const group = made("div", "histogram", ...bars);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", `Histogram of F1, ${names[index]}`);
  return group;
}

// A bar chooses its system and the pairs of its bin, or all pairs again if it is pressed.
function pressBar(bar, form) {
  const [from, to] = bar.getAttribute("aria-pressed") === "true" ? ["", ""] : edges(bar.bin);
  form.elements["f1-from"].value = from;
  form.elements["f1-to"].value = to;
  for (const radio of form.querySelectorAll('[name="system"]')) radio.checked = radio.value === bar.system;
}

function markBars(form, { system, ranges }) {
  const { from, to } = ranges.find(({ name }) => name === "f1");
  for (const bar of form.querySelectorAll(".bar")) {
    const [low, high] = edges(bar.bin);
    bar.setAttribute("aria-pressed", bar.system === names[system] && from === low && to === high);
  }
}
