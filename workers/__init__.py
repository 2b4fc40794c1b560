"""The processes of the work in the background: two huey consumers beside the application.

``python -m workers extraction`` and ``python -m workers maintenance`` are what ``retold worker``
starts. They find their store by RETOLD_STORE and RETOLD_CONFIG, and meet the application in it.
"""
