// Starts the program of this machine, which npm has installed as an optional package.
const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { dirname, join } = require('node:path')

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
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true })
  // A terminal sends its signals to both; what comes to this process alone is handed on.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => signal === 'SIGINT' || signal === 'SIGQUIT' || child.kill(signal))
  }
  child.on('error', error => {
    console.error(`error: could not start \`${program}\`: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}
