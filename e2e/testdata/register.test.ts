// Tests of the compactor plugin's module, run by `claude plugin test`.
import { expect, test } from 'claude-code/testing'

const message = { role: 'user', text: 'The port is 54177.', toolUses: [], handle: 'h1' }
const compact = async ($: any, on: any, stdout: string, exitCode = 0) => {
  on('process.run', () => ({ value: { exitCode, stdout, stderr: '', isStdoutTruncated: false, isStderrTruncated: false } }))
  on('session.compact', () => ({ messages: [{ role: 'user', text: 'by the client', toolUses: [] }] }))
  return JSON.stringify(await $.session.compact({ trigger: 'manual', messages: [message] }))
}

test('answers with the program\'s conversation', async ($: any, on: any) => {
  const got = await compact($, on, JSON.stringify({ messages: [{ role: 'user', text: 'STRANDLINE RECORD' }, { keep: 0 }] }))
  expect(got).toContain('STRANDLINE RECORD')
  expect(got).toContain('54177')
})

for (const [name, stdout, exitCode] of [['fails', '', 3], ['is silent', '', 0], ['babbles', '{"messages":[{"keep":9}]}', 0]] as any[]) {
  test(`leaves it to the client when the program ${name}`, async ($: any, on: any) => {
    expect(await compact($, on, stdout, exitCode)).toContain('by the client')
  })
}
