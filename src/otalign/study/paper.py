"""What the paper reports (Arase, Bao and Yokoi, ACL 2023, table 2): unsupervised test F1 in percent.

BERT-base-uncased, cosine cost, uniform fertility, nulls counted; the mean of five seeds. Rows by the names
they have here, figures in the order of `COLUMNS`.
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
NULL_RATES = (63.8, 59.0, 33.3, 23.5, 27.4, 19.0, 18.7, 11.2, 12.8, 12.2, 8.3)
