#!/bin/sh
# A to-do list for the shell.
case ${1:-} in
  *) echo 'usage: todo.sh add TEXT | list | done N' >&2; exit 2 ;;
esac
