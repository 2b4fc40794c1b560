"""From a transcript to reviewed candidates: everything that needs neither store nor clock."""
