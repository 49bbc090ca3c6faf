"""Running over a corpus of any size: shards of it aligned alike, by processes of one machine or by Ray."""

from otalign.engines.folder import Folder
from otalign.engines.local import align
from otalign.engines.work import Shard, ShardWork, split_into_shards
from otalign.io.writing import OutputFormat

__all__ = ["Folder", "OutputFormat", "Shard", "ShardWork", "align", "split_into_shards"]
