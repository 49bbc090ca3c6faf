"""An HTTP server for an aligner: `POST /v1/align`, and a page on `/` to try it.

`messages` defines requests and answers, `choices` the settings that a request may change, `work` aligns
pairs, `batching` queues the pairs of all clients and aligns them in batches, `guards` checks requests,
`access` says who may send them, `errors` formats errors, `metrics` counts, `page` serves the page, and
`app` puts these together. `connections` limits connections, `running` runs a process, and `workers` several.
"""
