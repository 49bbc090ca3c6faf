"""The figures of the paper (Arase, Bao and Yokoi, ACL 2023, table 2): test F1 in percent, nulls counted.

They are for BERT-base-uncased and cosine cost, with uniform fertility if unsupervised and norms if
supervised, and are means of five seeds. Rows have the names of this package; figures have the order of
`COLUMNS`.
"""

ENCODER = "BERT-base-uncased"

F1 = {
    "fast-align": (42.3, 41.6, 58.4, 56.5, 59.6, 60.8, 58.1, 58.0, 80.5, 80.5, 87.2),
    "simalign": (85.4, 81.5, 76.7, 77.3, 74.7, 78.9, 74.8, 75.8, 91.7, 91.9, 94.8),
    "bot-exact": (20.6, 22.5, 41.4, 46.9, 49.0, 55.0, 50.4, 55.5, 65.6, 66.2, 66.5),
    "bot-sinkhorn": (88.8, 83.0, 83.7, 79.4, 84.4, 82.8, 77.3, 77.2, 90.4, 90.9, 93.9),
    "pot-exact": (89.0, 84.0, 77.1, 76.2, 78.4, 78.7, 75.6, 76.2, 84.3, 89.9, 94.5),
    "pot-sinkhorn": (92.2, 86.4, 84.6, 79.8, 83.8, 82.3, 77.0, 76.6, 91.5, 90.3, 93.9),
    "uot-sinkhorn": (90.2, 84.5, 83.1, 79.1, 84.7, 82.5, 77.2, 77.1, 90.0, 89.6, 93.8),
}
SUPERVISED = {
    "semi-crf": (95.1, 89.2, 86.7, 85.3, 88.3, 87.8, 83.4, 86.1, 95.2, 95.0, 96.6),
    "span-prediction": (95.0, 89.2, 79.4, 82.4, 86.9, 87.2, 82.9, 88.0, 89.1, 89.5, 96.5),
    "bot": (94.6, 88.4, 86.5, 84.4, 85.7, 85.4, 82.9, 87.3, 91.7, 93.0, 96.5),
    "pot": (94.6, 88.4, 84.0, 81.4, 85.5, 83.7, 82.0, 85.2, 93.0, 92.2, 95.5),
    "uot": (94.8, 89.0, 86.8, 84.7, 86.7, 86.6, 82.9, 87.4, 92.5, 92.8, 96.7),
}
PEERS = {"semi-crf": "Lan et al. 2021", "span-prediction": "Nagata et al. 2020"}  # as the paper names them
NULL_RATES = (63.8, 59.0, 33.3, 23.5, 27.4, 19.0, 18.7, 11.2, 12.8, 12.2, 8.3)
