#!/bin/sh
# Adds two tasks, finishes the first, and expects the second to be left.
set -eu
TODO_FILE=$(mktemp)
export TODO_FILE
trap 'rm -f "$TODO_FILE"' EXIT
sh todo.sh add buy milk
sh todo.sh add water the plants
sh todo.sh done 1
[ "$(sh todo.sh list)" = '1. water the plants' ]
echo 'all tests passed'
