"""Running over a corpus of any size: shards of it aligned alike, by processes of one machine or by Ray."""

from otalign.engines.folder import Folder
from otalign.engines.local import align
from otalign.engines.work import Shard, Work, shards
from otalign.io.writing import Form

__all__ = ["Folder", "Form", "Shard", "Work", "align", "shards"]
