"""An aligner for many clients at once: `POST /v1/align`, and a page on `/` to try it by hand.

`messages` is what may be said and is answered, `choices` which settings an aligner leaves to who asks, `work`
how pairs become answers, `batching` how those of all clients are worked on together, `guards` what is kept
out, `access` who may ask, `problems` how a refusal is told, `metrics` what is counted, `page` what a browser
gets, and `app` puts them together. `connections` limits what uvicorn does not, `running` makes a process of
it, and `workers` several.
"""
