// The page: what is typed and chosen goes to the server as it changes, and into the address; the answer is shown.

const SECOND = "b."; // before the names of what is chosen for the second view, in the address and in ids

// What the server offers: one model, or two.
const about = await fetchPatiently("v1/aligner", (text) => say(field("connection"), text));
const abouts = { first: about };
const paths = { first: "", second: about.other ?? "" };
if (about.other) abouts.second = await fetchPatiently(`${about.other}v1/aligner`, (text) => say(field("connection"), text));
const names = {};
for (const [key, { signature, problem }] of Object.entries(abouts)) {
  const encoder = signature.split("|")[0].replace("encoder:", "");
  names[key] = `${key === "first" ? 1 : 2}: ${encoder}${problem === "learned" ? ", trained" : ""}`;
}

if (about.other) field("compare").nextSibling.data = " Compare two settings or models side by side";
field("languages").textContent = `This aligner knows ${about.languages.join(", ")}.`;
field("languages").hidden = !about.languages.length;

const texts = () => ({ source: field("source").value, target: field("target").value });
const shared = { abouts, paths, names, texts, onChoice: writeAddress, onAnswer: showSignatures };
const views = [newView("", shared)];
field("views").append(views[0].root);

function showSignatures() {
  const found = [...new Set(views.map(({ answer }) => answer?.signature).filter(Boolean))];
  field("signature").replaceChildren(...found.map((text) => made("span", "", text)));
  showSnippets(views);
}

// The address holds the sentences and the choices of both views.

function writeAddress() {
  const choices = views.flatMap(({ choice }, k) => writeChoice(choice, k ? SECOND : "", abouts));
  history.replaceState(null, "", `#${new URLSearchParams([...Object.entries(texts()), ...choices])}`);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const [source, target] = said.has("source") ? [said.get("source"), said.get("target") ?? ""] : EXAMPLES[0];
  Object.assign(field("source"), { value: source });
  Object.assign(field("target"), { value: target });
  const comparing = said.has(`${SECOND}problem`);
  views[0].start(readChoice(said, "", abouts));
  compare(comparing ? readChoice(said, SECOND, abouts) : null);
}

// Comparing: a second view beside the first.

function compare(choice) {
  views.splice(1).forEach(({ root }) => root.remove());
  if (choice) {
    views.push(newView(SECOND, shared));
    field("views").append(views[1].root);
    views[1].start(choice);
  }
  field("views").classList.toggle("two", Boolean(choice));
  field("compare").checked = Boolean(choice);
  views.forEach(({ root }, k) => {
    const title = root.querySelector(".title");
    title.hidden = !choice;
    title.textContent = k ? "Second settings" : "First settings";
    root.ariaLabel = choice ? `Alignment, ${title.textContent.toLowerCase()}` : "Alignment";
    root.querySelector("form").ariaLabel = choice ? title.textContent : "Settings";
  });
  showSignatures();
}

field("compare").addEventListener("change", ({ target }) => {
  const { choice } = views[0];
  const other = Object.keys(abouts[choice.model].settings).find((name) => name !== choice.problem);
  const second = about.other
    ? { model: "second", problem: abouts.second.problem, chosen: {} }
    : { ...choice, problem: other, chosen: {} };
  compare(target.checked ? second : null);
  writeAddress();
});

// The sentences.

function change({ source, target }) {
  field("source").value = source;
  field("target").value = target;
  writeAddress();
  for (const view of views) view.send();
}

for (const side of SIDES) {
  field(side).addEventListener("input", () => {
    writeAddress();
    for (const view of views) view.send(TYPING);
  });
}

EXAMPLES.forEach(([source], k) => field("examples").append(new Option(source, k)));
field("examples").addEventListener("change", ({ target }) => {
  if (target.value === "") return;
  const [source, other] = EXAMPLES[target.value];
  change({ source, target: other });
  target.value = "";
});
field("swap").addEventListener("click", () => change({ source: texts().target, target: texts().source }));
field("sentences").addEventListener("submit", (event) => event.preventDefault());

field("copy-link").addEventListener("click", async () => {
  await copyText(location.href);
  field("link-copied").textContent = "Link copied.";
});
for (const name of ["curl", "python"]) {
  field(`copy-${name}`).addEventListener("click", async () => {
    await copyText(field(name).textContent);
    field("snippet-copied").textContent = "Copied.";
  });
}

setUpMany(() => views[0], () => about.limits, (pair) => {
  change(pair);
  field("views").scrollIntoView();
});

addEventListener("hashchange", readAddress);
readAddress();
