// Many pairs at once: pasted as lines, aligned with the settings of the first view, listed with their links.

const SEPARATOR = /\t|\|\|\|/;

function readPairs(text) {
  const pairs = [];
  text.split("\n").forEach((line, k) => {
    if (!line.trim()) return;
    const sides = line.split(SEPARATOR);
    if (sides.length < 2) throw new Error(`Line ${k + 1} has no tab and no ||| between its sentences.`);
    pairs.push({ source: sides[0].trim(), target: sides[1].trim() });
  });
  return pairs;
}

// As many pairs in a request as the server takes.
function splitRequests(pairs, { pairs: most, body }) {
  const requests = [[]];
  let size = 0;
  for (const pair of pairs) {
    const bytes = new Blob([JSON.stringify(pair)]).size;
    if (requests.at(-1).length >= most || size + bytes > body / 2) {
      requests.push([]);
      size = 0;
    }
    requests.at(-1).push(pair);
    size += bytes;
  }
  return requests.filter((request) => request.length);
}

function setUpMany(view, limits, showPair) {
  const [status, list] = [field("many-status"), field("many-list")];
  let found = [];

  async function alignAll() {
    found = [];
    list.replaceChildren();
    setDone(false);
    try {
      const pairs = readPairs(field("many-text").value);
      for (const request of splitRequests(pairs, limits())) {
        say(status, `${found.length} of ${counted(pairs.length, "pair")} aligned …`);
        const { settings } = view().body();
        const answer = await post(view().path(), "alignments", { pairs: request, settings }, limits().seconds);
        found.push(...answer.alignments);
      }
      say(status, pairs.length ? `${counted(pairs.length, "pair")} aligned.` : "Paste pairs first.");
      list.replaceChildren(...found.map((one, k) => rowOf(one, k, pairs[k])));
      setDone(found.length > 0);
    } catch (error) {
      say(status, error.message);
    }
  }

  function setDone(done) {
    field("many-table").hidden = !done;
    for (const id of ["many-pharaoh", "many-jsonl"]) field(id).disabled = !done;
  }

  function rowOf(one, k, pair) {
    const button = Object.assign(made("button", "", `Show ${k + 1}`), { type: "button" });
    button.addEventListener("click", () => showPair(pair));
    const nulls = [...one.source_nulls.map((i) => one.source[i]), ...one.target_nulls.map((j) => one.target[j])];
    const texts = { Source: pair.source, Target: pair.target, Links: pharaohOf(one), Nulls: nulls.join(" ") };
    const cells = Object.entries(texts).map(([name, text]) => {
      const cell = made("td", "", made("bdi", "", text));
      cell.dataset.name = name; // shown on narrow screens, where the table has no head
      return cell;
    });
    return made("tr", "", made("td", "", button), ...cells);
  }

  field("many-align").addEventListener("click", alignAll);
  field("many-pharaoh").addEventListener("click", async () => {
    await copyText(found.map(pharaohOf).join("\n"));
    say(status, "Links copied.");
  });
  field("many-jsonl").addEventListener("click", () => {
    save(found.map((one) => `${JSON.stringify(one)}\n`).join(""), "application/jsonl", "alignments.jsonl");
    say(status, "JSON lines saved.");
  });
}
