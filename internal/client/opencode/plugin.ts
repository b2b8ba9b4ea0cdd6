// OpenCode loads this plugin from the folder plugins of its configuration. It reports the sessions' events to Strandline and adds what
// Strandline returns to the context. If the program is missing, fails or is late, OpenCode goes on as without it.
// `strandline init` writes and replaces this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const program = "@PROGRAM@"
const timeout = 6000 // milliseconds

// run returns what `strandline hook` prints for an event, "" if it fails.
function run(payload: object): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const child = spawn(program, ['hook', '--client', 'opencode'], { stdio: ['pipe', 'pipe', 'ignore'], timeout, killSignal: 'SIGKILL', windowsHide: true })
    child.on('error', () => resolve(''))
    child.stdin.on('error', () => {}) // it may end before it reads
    child.stdout.on('data', (part) => parts.push(part))
    child.on('close', (code) => resolve(code === 0 ? Buffer.concat(parts).toString() : ''))
    child.stdin.end(JSON.stringify(payload))
  })
}

// database is the file with the sessions.
function database(): string {
  const folder = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'opencode')
  const file = process.env.OPENCODE_DB || 'opencode.db'
  return isAbsolute(file) ? file : join(folder, file)
}

export const Strandline = async ({ client, directory }: any) => {
  if (!existsSync(program)) return {}
  const parents = new Map<string, string | undefined>() // by session; undefined for one that is no sub-agent
  const created = new Set<string>() // sessions that began in this process
  const started = new Set<string>() // sessions with a prompt in this process
  const texts = new Map<string, Promise<string>>() // what is added to the context, by message
  const manual = new Set<string>() // sessions whose compaction the user asked for
  const running = new Set<Promise<unknown>>()

  const parent = async (session: string) => {
    if (!parents.has(session)) parents.set(session, (await client.session.get({ path: { id: session } }).catch(() => undefined))?.data?.parentID)
    return parents.get(session)
  }

  // hook reports an event of a session. The event of a sub-agent names its parent.
  const hook = async (session: string, event: string, fields: object = {}): Promise<string> => {
    const work = (async () => {
      try {
        const of = await parent(session)
        return await run({
          hook_event_name: event, session_id: of ?? session, agent_id: of ? session : undefined,
          transcript_path: `${database()}#${session}`, cwd: directory, ...fields,
        })
      } catch {
        return ''
      }
    })()
    running.add(work)
    const answer = await work
    running.delete(work)
    return answer
  }

  const context = async (session: string, event: string, fields: object): Promise<string> => {
    try {
      return JSON.parse(await hook(session, event, fields)).hookSpecificOutput.additionalContext ?? ''
    } catch {
      return ''
    }
  }

  return {
    async event({ event }: any) {
      const p = event.properties
      switch (event.type) {
        case 'session.created':
          parents.set(p.info.id, p.info.parentID)
          created.add(p.info.id)
          break
        case 'message.part.updated':
          if (p.part.type === 'compaction') p.part.auto ? manual.delete(p.part.sessionID) : manual.add(p.part.sessionID)
          break
        case 'session.idle':
          await hook(p.sessionID, (await parent(p.sessionID)) ? 'SubagentStop' : 'Stop')
          break
      }
    },

    'chat.message': async ({ sessionID }: any, { message, parts }: any) => {
      const prompt = parts.filter((p: any) => p.type === 'text' && !p.synthetic).map((p: any) => p.text).join('\n')
      if (!prompt || (await parent(sessionID))) return
      const added = []
      if (!started.has(sessionID)) {
        started.add(sessionID)
        added.push(await context(sessionID, 'SessionStart', { source: created.has(sessionID) ? 'startup' : 'resume' }))
      }
      added.push(await context(sessionID, 'UserPromptSubmit', { prompt }))
      const text = added.filter(Boolean).join('\n\n')
      if (text) texts.set(message.id, Promise.resolve(text))
    },

    'tool.execute.after': async ({ sessionID, tool }: any) => {
      void hook(sessionID, 'PostToolUse', { tool_name: { bash: 'Bash', write: 'Write', edit: 'Edit' }[tool as string] ?? tool })
    },

    'experimental.session.compacting': async ({ sessionID }: any, output: any) => {
      const text = await context(sessionID, 'PreCompact', { trigger: manual.delete(sessionID) ? 'manual' : 'auto' })
      if (text) output.context.push(text)
    },

    // Each request has the texts again: they are in no message that OpenCode stores.
    'experimental.chat.messages.transform': async (_: unknown, { messages }: any) => {
      let summary: any
      for (const { info, parts } of messages) {
        if (info.role === 'assistant' && info.summary) {
          summary = info
          continue
        }
        const add = async (text: Promise<string> | undefined) => {
          const body = await text
          if (body) parts.push({ id: `prt_strandline${info.id}`, messageID: info.id, sessionID: info.sessionID, type: 'text', synthetic: true, text: body })
        }
        if (summary && info.role === 'user') {
          const { id, sessionID } = summary
          summary = undefined
          if (!texts.has(id)) texts.set(id, context(sessionID, 'SessionStart', { source: 'compact' }))
          await add(texts.get(id))
        }
        await add(texts.get(info.id))
      }
    },

    dispose: async () => {
      await Promise.all(running)
    },
  }
}
