// Pi loads this extension from the folder extensions of its configuration. It reports the session's events to Strandline, adds what
// Strandline returns to the context, and replaces compactions. If the program is missing, fails or is late, Pi goes on as without it.
// `strandline init` writes and replaces this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

const program = "@PROGRAM@"
const name = 'strandline'
const hookTimeout = 3000 // milliseconds
const compactTimeout = 10000

// run returns what the program prints, parsed; undefined if it prints nothing or fails.
function run(args: string[], stdin: unknown, timeout: number, signal?: AbortSignal): Promise<any> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], timeout, signal, killSignal: 'SIGKILL', windowsHide: true })
    child.on('error', () => resolve(undefined))
    child.stdin.on('error', () => {}) // it may end before it reads
    child.stdout.on('data', (part) => parts.push(part))
    child.on('exit', (code) => code !== 0 && resolve(undefined)) // a process that it started may still hold the output
    child.on('close', (code) => {
      try {
        resolve(code === 0 ? JSON.parse(Buffer.concat(parts).toString()) : undefined)
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.end(JSON.stringify(stdin))
  })
}

// hook reports an event and returns the text to add to the context, if any.
async function hook(ctx: any, event: string, fields: object = {}): Promise<string | undefined> {
  try {
    const transcript = ctx.sessionManager.getSessionFile()
    if (!transcript) return undefined // the session is not stored
    const payload = { hook_event_name: event, session_id: ctx.sessionManager.getSessionId(), transcript_path: transcript, cwd: ctx.cwd, ...fields }
    return (await run(['hook', '--client', 'pi'], payload, hookTimeout))?.hookSpecificOutput?.additionalContext
  } catch {
    return undefined
  }
}

const textOf = (content: any): string =>
  typeof content === 'string' ? content : (content ?? []).filter((b: any) => b.type === 'text').map((b: any) => b.text).join('\n')

// message returns a message of the context for `strandline compact`; undefined for those that Pi or Strandline adds again.
function message(m: any): object | undefined {
  switch (m.role) {
    case 'user':
      return { role: 'user', text: textOf(m.content) }
    case 'assistant':
      return {
        role: 'assistant', text: textOf(m.content),
        toolUses: (m.content ?? []).filter((b: any) => b.type === 'toolCall').map((b: any) => ({ tool_use_id: b.id, tool: b.name, input: b.arguments })),
      }
    case 'toolResult':
      return { role: 'user', toolResults: [{ tool_use_id: m.toolCallId, text: textOf(m.content), isError: m.isError }] }
    case 'compactionSummary':
      return { role: 'user', text: m.summary, summary: true }
    case 'branchSummary':
      return { role: 'assistant', text: m.summary }
    case 'bashExecution':
      return m.excludeFromContext ? undefined : { role: 'user', text: `<bash-input>${m.command}</bash-input>\n<bash-stdout>${m.output}</bash-stdout>` }
    case 'custom':
      return m.customType === name ? undefined : { role: 'assistant', text: textOf(m.content) }
  }
  return undefined
}

export default function (pi: any) {
  if (!existsSync(program)) return
  try {
    pi.registerMcpServer?.(name, { command: program, args: ['mcp'], exposure: 'direct' })
  } catch {
    // The tools are missing.
  }

  const add = (text: string) => ({ customType: name, content: text, display: false })

  pi.on('session_start', async (event: any, ctx: any) => {
    const source = ({ startup: 'startup', new: 'clear', fork: 'fork' } as any)[event.reason] ?? 'resume'
    const text = await hook(ctx, 'SessionStart', { source })
    if (text) pi.sendMessage(add(text))
  })

  pi.on('before_agent_start', async (event: any, ctx: any) => {
    if (!event.prompt) return undefined
    const text = await hook(ctx, 'UserPromptSubmit', { prompt: event.prompt })
    return text ? { message: add(text) } : undefined
  })

  pi.on('session_before_compact', async (event: any, ctx: any) => {
    try {
      const messages: object[] = []
      const entries: string[] = []
      for (const entry of ctx.sessionManager.buildSessionProjection().entries) {
        for (const m of entry.messages) {
          const plain = message(m)
          if (plain) entries[messages.push(plain) - 1] = entry.sourceEntry.id
        }
      }
      const answer = await run(['compact'], {
        client: 'pi', session: ctx.sessionManager.getSessionId(), transcript: ctx.sessionManager.getSessionFile(), cwd: ctx.cwd,
        trigger: event.reason === 'manual' ? 'manual' : 'auto', instructions: event.customInstructions,
        tokens: event.preparation.tokensBefore, window: ctx.model?.contextWindow, messages,
      }, compactTimeout, event.signal)
      if (typeof answer?.summary !== 'string' || !Number.isInteger(answer.from)) return undefined
      return { compaction: { summary: answer.summary, firstKeptEntryId: entries[answer.from], tokensBefore: event.preparation.tokensBefore } }
    } catch {
      return undefined // Pi compacts itself.
    }
  })

  pi.on('session_compact', async (event: any, ctx: any) => {
    const text = await hook(ctx, 'SessionStart', { source: 'compact' })
    if (text && !event.fromExtension) pi.sendMessage(add(text))
  })

  pi.on('agent_settled', (_event: any, ctx: any) => hook(ctx, 'Stop'))

  pi.on('session_shutdown', (event: any, ctx: any) => hook(ctx, 'SessionEnd', { reason: event.reason }))
}
