// Export: the chosen pairs of the systems that are drawn, a line for each pair and system.

const rawWords = (pair, side) => pair[side].map((word, place) => pair[`${side}Raw`]?.[place] ?? word);

function* listRows(chosen, drawn) {
  for (const pair of chosen)
    for (const [index, name] of names.entries()) if (drawn.has(name) || names.length === 1) yield { pair, name, index };
}

// As `otalign align --format jsonl` writes it, with the pair's number, the system and the comparison with gold.
function jsonOf({ pair, name, index }) {
  const { links, sourceConfidence, targetConfidence } = pair.systems[index];
  return {
    pair: pair.number,
    system: name,
    source: rawWords(pair, "source"),
    target: rawWords(pair, "target"),
    links,
    source_nulls: nullPlaces(pair, links, 0),
    target_nulls: nullPlaces(pair, links, 1),
    source_null_confidence: sourceConfidence,
    target_null_confidence: targetConfidence,
    ...(judged && { f1: pair.f1[index], ...compare(pair, index).tally, gold: goldOf(pair) }),
  };
}

const goldOf = ({ sure, possible }) => ({ sure, possible: possible ?? [] });
const pharaoh = (links, sign = "-") => links.map(([i, j]) => `${i}${sign}${j}`);

function csvOf({ pair, name, index }) {
  const { links } = pair.systems[index];
  const row = {
    pair: pair.number,
    system: name,
    source: rawWords(pair, "source").join(" "),
    target: rawWords(pair, "target").join(" "),
    links: pharaoh(links).join(" "),
    source_nulls: nullPlaces(pair, links, 0).join(" "),
    target_nulls: nullPlaces(pair, links, 1).join(" "),
    null_rate: pair.nullRate[index],
  };
  if (!judged) return row;
  const gold = [...pharaoh(pair.sure), ...pharaoh(pair.possible ?? [], "p")].join(" ");
  return { ...row, gold, f1: pair.f1[index], ...compare(pair, index).tally };
}

const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

const EXPORTS = {
  jsonl: ["application/jsonl", (rows) => rows.map((row) => `${JSON.stringify(jsonOf(row))}\n`)],
  csv: ["text/csv", formatCsv],
};

function formatCsv(rows) {
  const lines = rows.map(csvOf);
  const head = Object.keys(lines[0] ?? {});
  return [head, ...lines.map(Object.values)].map((values) => `${values.map(quoted).join(",")}\r\n`);
}

function save(format, chosen, drawn) {
  const [type, lines] = EXPORTS[format];
  const file = new Blob(lines([...listRows(chosen, drawn)]), { type });
  const link = Object.assign(made("a"), { href: URL.createObjectURL(file), download: `pairs.${format}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
