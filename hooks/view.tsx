// What a person sees of the loop while the agent works: a band above the prompt, a command that answers at once, and a
// toast at the end. Claude Code loads it where it has function hooks; without it every loop runs the same.
import type { EngineInterface, Register } from 'claude-code'

/** How often the loop is looked at, in milliseconds. */
const PERIOD = 2000
/** How many folders above the session's are looked at for its loop. */
const LEVELS = 16
const COMMAND = 'speckit-loop'

/** What `spool statusline --json` says of a session's loop. */
type StatusLine = { line: string | null; end: { name: string; words: string } | null }

const NONE: StatusLine = { line: null, end: null }

/** Returns the journal of the session's loop, or nothing where it never had one; starts no program. */
const journalOf = async ($: EngineInterface, folder: string, session: string) => {
  for (let at = folder, level = 0; at !== '' && level < LEVELS; level += 1) {
    const path = `${at}/.claude/ralph/${session}/journal.jsonl`
    if (await $.fs.exists(path)) {
      return path
    }
    at = at.slice(0, at.lastIndexOf('/'))
  }
  return undefined
}

const spool = async ($: EngineInterface, args: string[], cwd: string, stdin = '') => {
  const argv = [`${$.plugin.root}/bin/spool`, ...args]
  const { exitCode, stdout, stderr } = await $.process.run(argv, { cwd, stdin, timeoutMs: 5000 })
  if (exitCode !== 0) {
    throw new Error(stderr.trim() || `spool ${args[0]} ended with code ${exitCode}`)
  }
  return stdout
}

let shown = NONE
/** The lines of the open pane; none while it is closed. */
let report: string[] = []
let seenAt = 0
let isLooking = false
let hasFailed = false

/** Shows what is new; an end that nobody has seen coming is no news. */
const show = ($: EngineInterface, next: StatusLine) => {
  const before = shown.line
  // What is drawn is read from here, perhaps at once.
  shown = next
  if (before !== null && next.end !== null) {
    $.ui.toast(next.end.words, { timeoutMs: 15000 })
  }
  if (before !== next.line) {
    $.ui.invalidate('ui.render')
  }
}

/** Returns what `spool status` says, without the lines that a person in this session needs least: a pane may be low. */
const reportOf = async ($: EngineInterface, folder: string) => {
  const text = await spool($, ['status'], folder).catch(error => `${error}`)
  const lines = text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('Project: '))
  return ['(Escape closes this, the arrow keys scroll it)', ...lines]
}

/** Keeps an open pane up to date. */
const refresh = async ($: EngineInterface, folder: string) => {
  if (report.length === 0) {
    return
  }
  const next = await reportOf($, folder)
  // It may have been closed meanwhile.
  if (report.length > 0 && next.join('\n') !== report.join('\n')) {
    report = next
    $.ui.invalidate('ui.render')
  }
}

const look = async ($: EngineInterface) => {
  const env = await $.process.hookEnv()
  const session = env.CLAUDE_CODE_SESSION_ID ?? ''
  const folder = env.CLAUDE_PROJECT_DIR ?? ''
  await refresh($, folder)
  const journal = session === '' ? undefined : await journalOf($, folder, session)
  if (journal === undefined) {
    return show($, NONE)
  }
  const { mtimeMs } = await $.fs.stat(journal)
  // A loop that has ended begins again only with a new line.
  if (shown.line === null && mtimeMs === seenAt) {
    return
  }
  const asked = JSON.stringify({ session_id: session, cwd: folder })
  show($, JSON.parse(await spool($, ['statusline', '--json'], folder, asked)))
  seenAt = mtimeMs
}

/** Looks once; what goes wrong is said once, and the loop goes its own way. */
const lookSafely = async ($: EngineInterface) => {
  if (isLooking) {
    return
  }
  isLooking = true
  try {
    await look($)
  } catch (error) {
    show($, NONE)
    if (!hasFailed) {
      hasFailed = true
      $.ui.log(`Ralph-speckit: the band cannot be drawn: ${error}; the loop is not affected`)
    }
  } finally {
    isLooking = false
  }
}

export const register: Register = on => {
  on('session.start', async ($, e, next) => {
    const started = await next(e)
    await $.command.register({
      name: COMMAND,
      description: 'Show the loop of this session at once, also while the agent works',
      immediate: true,
    })
    $.clock.every(PERIOD, () => lookSafely($))
    return started
  })

  // While the agent works, the client prints a command's text only after the turn: a pane is there at once.
  on('command.run', { command: COMMAND }, async $ => {
    const { CLAUDE_PROJECT_DIR: folder = '' } = await $.process.hookEnv()
    report = await reportOf($, folder)
    const pane = { id: COMMAND, title: 'Loop', rows: report.length } as const
    const { isPlaced } = await $.ui.open({ ...pane, focus: true, closeOnEscape: true })
    if (isPlaced) {
      return {}
    }
    const text = report.slice(1).join('\n')
    report = []
    return { text, isTextDisplayOnly: true }
  })

  on('ui.close', async ($, e, next) => {
    const closed = await next(e)
    if (e.id === COMMAND) {
      report = []
    }
    return closed
  })

  on('ui.render', { component: 'Pane', requestId: COMMAND }, ($, e) => {
    const { Box, Text } = $.ui.resolve(e)
    return (
      <Box flexDirection="column">
        {report.map(row => (
          <Text>{row || ' '}</Text>
        ))}
      </Box>
    )
  })

  on('ui.render', { component: 'AbovePrompt' }, ($, e, next) => {
    if (shown.line === null || e.props.hasSurvey) {
      return next(e)
    }
    const { Box, Text } = $.ui.resolve(e)
    return (
      <Box>
        <Text dimColor wrap="truncate-end">
          {shown.line}
        </Text>
      </Box>
    )
  })
}
