// What may be chosen on the page, explained. Problems and their parameters are registered in problems.py.

const PROBLEMS = {
  learned: ["Trained", "Learned from sentences that people linked. The weights are probabilities. A weight beside a link needs less than the threshold to be a link too; a word without a link is null."],
  bot: ["Balanced", "Both sentences have mass 1, shared by their words, and all of it is moved, at the least cost. Every word gives its mass to some word; it can still be null, since only a weight above the threshold is a link."],
  pot: ["Partial", "Only a fraction of the mass is moved, where it costs least. With a smaller fraction, more words are null."],
  uot: ["Unbalanced", "Words may give or take more or less than their mass, at the price τ. With a small τ, words without a counterpart are left out; with a large one, it is like balanced."],
  none: ["None", "No transport: words are linked wherever they are similar enough. Nothing keeps a word from having many links."],
};

const SLIDERS = [
  { name: "tau", title: "τ (tau), price of leaving mass out", help: "The smaller, the more words are null.", from: 0.02, to: 5, logarithmic: true },
  { name: "fraction", title: "Fraction of mass that is moved", help: "Of the shorter sentence.", from: 0.05, to: 1 },
  { name: "epsilon", title: "ε (epsilon), weight of the entropy", help: "The larger, the more evenly a word's mass is spread over its candidates.", from: 0.01, to: 1, logarithmic: true },
  { name: "distortion", title: "κ (kappa), penalty for distance", help: "How much words at different positions in their sentences count as less similar.", from: 0, to: 1 },
  { name: "threshold", title: "Threshold", help: "A weight above it is a link; a word without a link is null.", from: 0, to: 1 },
];

// The first comes out right with the model of the package, with a phrase, a null, and words that have moved.
const EXAMPLES = [
  ["Last winter her grandfather passed away.", "Her grandfather died suddenly last winter."],
  ["He bought a used car.", "He purchased a second-hand car yesterday."],
  ["The gardener watered the young trees before sunrise.", "Before sunrise, the young trees were watered by the gardener."],
  ["A woman in a red coat is selling fresh bread at the crowded market.", "A woman is selling bread."],
  ["We finally figured out why the old printer kept breaking down.", "We found the reason the printer failed so often."],
  ["The cat sleeps on the warm roof.", "Interest rates may rise again in spring."],
];
