// The page of a difference: steps from change to change, the filter by kind, and the side-by-side view.

const byId = (id) => document.getElementById(id);
const main = document.querySelector("main");
const inlineBlocks = [...main.children];
const items = [...document.querySelectorAll("#list li")];
const links = items.map((item) => item.firstElementChild);
let columnBlocks = null; // made when they are first shown
let current = null; // the link of the change that the reader is at

const chosenLinks = () => links.filter((link) => !link.parentElement.hidden);
const targetOf = (link) => byId(link.hash.slice(1));

function goTo(link) {
  unmark();
  current = link;
  link.setAttribute("aria-current", "true");
  link.scrollIntoView({ block: "nearest" });
  const target = targetOf(link);
  target.classList.add("current");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  history.replaceState(null, "", link.hash);
  showPosition();
}

function unmark() {
  current?.removeAttribute("aria-current");
  for (const element of document.querySelectorAll(".current")) element.classList.remove("current");
  current = null;
}

function step(by) {
  const chosen = chosenLinks();
  if (!chosen.length) return;
  const at = chosen.indexOf(current);
  const next = at < 0 ? (by > 0 ? 0 : chosen.length - 1) : (at + by + chosen.length) % chosen.length;
  goTo(chosen[next]);
}

function showPosition() {
  const chosen = chosenLinks();
  const at = chosen.indexOf(current);
  const count = `${chosen.length} ${chosen.length === 1 ? "change" : "changes"}`;
  byId("position").textContent = at < 0 ? count : `${at + 1} of ${count}: ${current.textContent}`;
  for (const id of ["previous", "next"]) byId(id).disabled = !chosen.length;
}

// The filter: what is not chosen is out of the list, and its new text is shown without marks.

function applyFilter() {
  const wanted = byId("filter").value;
  const isChosen = (element) => !wanted || element.dataset.kinds.split(" ").includes(wanted);
  for (const item of items) item.hidden = !isChosen(item);
  for (const element of main.querySelectorAll("[data-kinds]")) {
    element.classList.toggle("unchosen", !isChosen(element));
  }
  if (current?.parentElement.hidden) unmark();
  showPosition();
}

// Side by side: a row for each passage, with the old words in one cell and the new words in the other.

function makeColumns(block) {
  const copy = block.cloneNode(false);
  if (block.matches("details")) {
    copy.append(block.querySelector("summary").cloneNode(true));
    copy.append(...[...block.children].slice(1).map(makeColumns));
    return copy;
  }
  const paragraph = document.createElement("div");
  paragraph.append(...[...block.children].map(makeRow));
  return paragraph;
}

function makeRow(passage) {
  const row = document.createElement("div");
  row.className = "row";
  row.append(makeCell(passage, "ins, .only-new"), makeCell(passage, "del, .only-old"));
  // An address leads to one element: that of the new text, or of the old one if there is no other.
  const [oldCell, newCell] = row.children;
  if (newCell.firstChild) for (const part of oldCell.querySelectorAll("[id]")) part.removeAttribute("id");
  return row;
}

function makeCell(passage, otherSide) {
  const cell = document.createElement("div");
  cell.dir = "auto";
  if (passage.matches(otherSide)) return cell;
  cell.append(passage.cloneNode(true));
  for (const part of cell.querySelectorAll(otherSide)) {
    const before = part.previousSibling; // a blank before a part belongs to it
    if (before?.nodeType === Node.TEXT_NODE) before.data = before.data.replace(/ $/, "");
    part.remove();
  }
  return cell;
}

function showView() {
  const columns = document.querySelector('input[name="view"]:checked').value === "columns";
  columnBlocks ??= columns ? [makeTitles(), ...inlineBlocks.map(makeColumns)] : null;
  main.classList.toggle("columns", columns);
  main.replaceChildren(...(columns ? columnBlocks : inlineBlocks));
  applyFilter();
  if (current) goTo(current);
}

function makeTitles() {
  const row = document.createElement("div");
  row.className = "row titles";
  for (const title of ["Old", "New"]) {
    const cell = document.createElement("div");
    cell.textContent = title;
    cell.lang = "en";
    row.append(cell);
  }
  return row;
}

// Keys, controls and addresses

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (event.key === "n") step(1);
  else if (event.key === "p") step(-1);
});
byId("next").addEventListener("click", () => step(1));
byId("previous").addEventListener("click", () => step(-1));
byId("filter").addEventListener("change", applyFilter);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
for (const radio of document.querySelectorAll('input[name="view"]')) radio.addEventListener("change", showView);
for (const link of links) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(link);
  });
}

// On paper nothing is folded.

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...main.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});

byId("controls").hidden = false;
byId("list").open = matchMedia("(min-width: 64rem)").matches;
showPosition();
const addressed = links.find((link) => link.hash === location.hash);
if (addressed) goTo(addressed);
