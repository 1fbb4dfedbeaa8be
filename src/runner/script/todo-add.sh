#!/bin/sh
# A to-do list for the shell.
list=${TODO_FILE:-todo.txt}
case ${1:-} in
  add) shift; printf '%s\n' "$*" >>"$list" ;;
  *) echo 'usage: todo.sh add TEXT | list | done N' >&2; exit 2 ;;
esac
