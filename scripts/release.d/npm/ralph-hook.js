#!/usr/bin/env node
require('./start.js')('ralph-hook')
