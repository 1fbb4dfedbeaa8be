#!/bin/sh
# Greets.
echo "Hello, ${1:-world}!"
