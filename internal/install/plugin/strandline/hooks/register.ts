// The client calls this module before it compacts a conversation. Modules are an early access interface of the client and may
// change; on any error here the client compacts itself. `strandline init` writes and replaces this file.
import type { Register } from 'claude-code'

const program = '@PROGRAM@'
const timeoutMs = 10000

export const register: Register = (on) => {
  on('session.compact', async ($, e, next) => {
    try {
      const [session, info, usage, cwd] = await Promise.all([
        $.session.id().catch(() => ''), $.session.info().catch(() => ({})), $.session.usage().catch(() => ({})), $.session.cwd().catch(() => ''),
      ]) as any[]
      const stdin = JSON.stringify({
        session, transcript: info?.transcriptPath, cwd, agentId: e.agentId,
        trigger: e.trigger, instructions: e.instructions,
        tokens: e.agentId ? 0 : usage?.context?.tokens, window: usage?.context?.window,
        messages: e.messages.map((m: any) => ({
          role: m.role, text: m.text,
          toolUses: m.toolUses?.map((u: any) => ({ tool_use_id: u.tool_use_id, tool: u.tool, input: u.input })),
          toolResults: m.toolResults?.map((r: any) => ({ tool_use_id: r.tool_use_id, text: r.text, isError: r.isError })),
        })),
      })
      const run = await $.process.run([program, 'compact'], { stdin, timeoutMs })
      if (run.exitCode === 0 && !run.isStdoutTruncated) {
        const answer = JSON.parse(run.stdout)
        if (typeof answer.skip === 'string') return { skip: answer.skip }
        const messages = answer.messages.map((m: any) => 'keep' in m ? e.messages[m.keep] : { text: '', toolUses: [], ...m })
        if (messages.length > 0 && messages.every((m: any) => m)) return { messages }
      }
    } catch {
      // The client's own compaction follows.
    }
    return next(e)
  })

  // Compacts between two turns if the setting autopilot.compact_early requests it, which is at least half of the window. A client
  // without a terminal refuses.
  on('turn.complete', async ($, e, next) => {
    try {
      const context = ((await $.session.usage()) as any)?.context
      if (context?.tokens >= context?.window / 2) {
        const run = await $.process.run([program, 'early', `${context.tokens}`, `${context.window}`], { timeoutMs })
        if (run.exitCode === 0 && run.stdout.trim() === 'compact') await $.session.compact()
      }
    } catch {
      // The client compacts at its own threshold.
    }
    return next(e)
  })
}
