#!/bin/sh
# Greets.
if [ "$1" = --help ]; then
    echo "usage: greet.sh [NAME]"
    exit 0
fi
echo "Hello, ${1:-world}!"
