"""Install the network guard in a child process; Python imports this module at start-up."""

import outside_guard

outside_guard.install()
