#!/bin/sh
# Checks greet.sh.
set -e
[ "$(sh greet.sh)" = "Hello, world!" ]
[ "$(sh greet.sh Ada)" = "Hello, Ada!" ]
sh greet.sh --help | grep -q usage
echo "all checks passed"
