"""Alignment of corpora of any size, in shards, by processes of one machine or by Ray.

Example:
    >>> from otalign.engines import split_into_shards
    >>> from otalign.io import TextPair
    >>> pairs = [TextPair("yes", "ja"), TextPair("no", "nein"), TextPair("well", "nun")]
    >>> [(shard.number, len(shard.items)) for shard in split_into_shards(pairs, size=2)]
    [(0, 2), (1, 1)]
"""

from otalign.engines.cluster import RayOptions
from otalign.engines.folder import Folder
from otalign.engines.run import align
from otalign.engines.work import Shard, ShardWork, split_into_shards
from otalign.io.writing import OutputFormat

__all__ = ["Folder", "OutputFormat", "RayOptions", "Shard", "ShardWork", "align", "split_into_shards"]
