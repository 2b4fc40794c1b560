"""The doorbell of the work in the background; the store itself holds the to-do list.

``NoQueue`` rings nothing, ``ThreadQueue`` works in this process, ``HueyQueue`` writes a line into
the file that the workers read. This package and ``workers`` alone know huey, and load it when a
queue file is first used.
"""

from retold.queue.backends import Job, NoQueue, ThreadQueue
from retold.queue.bell import HueyQueue
from retold.queue.files import (
    QUEUES,
    QueueName,
    QueueState,
    file_identity,
    inspect_queue,
    make_queue_file,
    make_storage,
    queue_path,
    reset_queue,
)
from retold.queue.messages import (
    TASKS,
    ForeignMessage,
    MessageSerializer,
    encode_message,
)

__all__ = [
    "QUEUES",
    "TASKS",
    "ForeignMessage",
    "HueyQueue",
    "Job",
    "MessageSerializer",
    "NoQueue",
    "QueueName",
    "QueueState",
    "ThreadQueue",
    "encode_message",
    "file_identity",
    "inspect_queue",
    "make_queue_file",
    "make_storage",
    "queue_path",
    "reset_queue",
]
