// Starts the program of this machine, which npm has installed as an optional package.
const { spawn, spawnSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { constants } = require('node:os')
const { dirname, join } = require('node:path')

// Whether a terminal sends its Ctrl-C to this process: then the program, which is in the same group, has it as well.
const hasTerminal = () => {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync('/proc/self/stat', 'utf8')
      const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return group === foreground
    }
    const ps = spawnSync('/bin/ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8', timeout: 2000 })
    const [group, foreground] = ps.stdout.trim().split(/\s+/)
    return group === foreground
  } catch {
    return Boolean(process.stdin.isTTY)
  }
}

module.exports = name => {
  const of = `ralph-speckit-${process.platform}-${process.arch}`
  let folder
  try {
    folder = dirname(require.resolve(`${of}/package.json`))
  } catch {
    console.error(`error: the package \`${of}\` is not installed`)
    console.error('npm leaves it out with --omit=optional; without that, there may be no program for this machine')
    process.exit(1)
  }
  const program = join(folder, process.platform === 'win32' ? `${name}.exe` : name)
  let child
  // Before the program starts, or one that comes at once would end this process alone.
  // What comes to this process alone is handed on; twice, Ctrl-C would mean that somebody is in a hurry.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']) {
    const ofTerminal = signal === 'SIGINT' || signal === 'SIGQUIT'
    process.on(signal, () => (ofTerminal && hasTerminal()) || child.kill(signal))
  }
  child = spawn(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true })
  child.on('error', error => {
    console.error(`error: could not start \`${program}\`: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}
