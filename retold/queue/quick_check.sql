-- Read every page of a queue file and say "ok", or what is damaged.
pragma quick_check(1);
