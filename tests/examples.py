"""How many examples hypothesis tries."""

from tests import skip_list


def examples(count: int) -> int:
    """Return the count, or a quarter of it where a run on 3.11 tries all of them beside this one.

    In CI the examples never vary, so that these are the first of those that 3.11 tries.
    """
    return max(5, count // 4) if skip_list.is_beside() else count
