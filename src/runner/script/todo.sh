#!/bin/sh
# A to-do list for the shell.
list=${TODO_FILE:-todo.txt}
case ${1:-} in
  add) shift; printf '%s\n' "$*" >>"$list" ;;
  list) [ ! -s "$list" ] || awk '{ print NR ". " $0 }' "$list" ;;
  done) awk -v gone="${2:?which one}" 'NR != gone' "$list" >"$list.new" && mv "$list.new" "$list" ;;
  *) echo 'usage: todo.sh add TEXT | list | done N' >&2; exit 2 ;;
esac
