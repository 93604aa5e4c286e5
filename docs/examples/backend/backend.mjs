// A complete back end of a game that uses Deed. It needs only Node (18 or newer).
//
//     DEED_URL=http://127.0.0.1:8080 DEED_KEY=deed_backend_... node backend.mjs
//
// DEED_ENVIRONMENT is `production`, or `sandbox` for purchases by testers and from the practice store. PORT is the
// port to listen on (8081). The game calls only this back end, never Deed, because the back end knows who the player
// is. In this example, the path names the player; use your own login instead.

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const deed = process.env.DEED_URL ?? 'http://127.0.0.1:8080'
const key = process.env.DEED_KEY
const environment = process.env.DEED_ENVIRONMENT ?? 'production'
const port = process.env.PORT ?? '8081'

function end(sentence) {
  console.error(sentence)
  process.exit(1)
}

if (!/^https?:\/\/[^/]+/.test(deed)) end('DEED_URL must be Deed\'s address, such as http://127.0.0.1:8080')
if (!key) end('DEED_KEY is missing; create a key with: deed key create --role backend')
if (!key.startsWith('deed_backend_')) {
  end("DEED_KEY is not a back end's key, which begins with deed_backend_; create one with: deed key create --role backend")
}
if (!['production', 'sandbox'].includes(environment)) {
  end(`DEED_ENVIRONMENT must be production or sandbox, not ${environment}`)
}
if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65535) end(`PORT must be a number up to 65535, not ${port}`)

// With these outcomes, the client app may finish the transaction; otherwise it keeps it for later.
const delivered = new Set(['recorded', 'already_known', 'already_settled'])

// A refusal by Deed; `problem.code` is for programs, `problem.detail` for people.
class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail)
    this.status = status
    this.problem = problem
  }
}

// Calls Deed, and repeats the call if Deed marks it retryable: every call here can be repeated safely.
async function call(method, path, body, headers = {}) {
  const wish = {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  }
  for (let attempt = 0; ; attempt++) {
    let answer, content
    try {
      answer = await fetch(deed + path, { ...wish, signal: AbortSignal.timeout(10_000) })
      content = answer.status === 304 ? null : await answer.json()
    } catch {
      if (attempt < 2) continue
      throw new Refused(503, { code: 'deed_unreachable', detail: 'Deed does not answer.' })
    }
    if (answer.status < 400) return { status: answer.status, content, headers: answer.headers }
    if (!content.retryable || attempt >= 2) throw new Refused(answer.status, content)
    await pause(1000 * Number(answer.headers.get('Retry-After') ?? '1'))
  }
}

// A cache of each player's data. It only saves calls and bytes, so losing it does no harm.
const positions = new Map() // the log's position after the player's last write
const answers = new Map() // the last answer about rights, with its ETag

const path = (player, rest) => `/v1/customers/${encodeURIComponent(player)}${rest}`
const wrote = (player, headers) => positions.set(player, headers.get('Deed-Position'))
const rightsIn = (answer) =>
  Object.entries(answer.entitlements).filter(([, right]) => right.active).map(([name]) => name).sort()

// Submits the phone's evidence. The app finishes the transactions in `finish`, and keeps the others for later.
async function submit(player, evidence, restoring = false) {
  const { signed_transactions, receipt } = evidence
  const { content, headers } = await call(
    'POST', path(player, restoring ? '/restore' : '/receipts'),
    { signed_transactions, receipt, environment })
  wrote(player, headers)
  const isDelivered = (item) => delivered.has(item.outcome)
  return {
    // A receipt and a signed transaction may name the same transaction.
    finish: [...new Set(content.items.filter(isDelivered).map((item) => item.transaction).filter(Boolean))].sort(),
    told: content.items.filter((item) => !isDelivered(item)).map((item) => item.detail ?? item.outcome),
    rights: rightsIn(content),
    balances: content.balances,
  }
}

// Returns what the player may use now. The answer includes the player's own writes, no matter which instance answers.
async function rights(player) {
  const known = answers.get(player)
  const wanted = {}
  if (known) wanted['If-None-Match'] = known.tag
  if (positions.has(player)) wanted['Deed-After'] = positions.get(player)
  const { status, content, headers } = await call(
    'GET', path(player, `/entitlements?environment=${environment}`), undefined, wanted)
  if (status === 304) return { ...known.found, unchanged: true }
  // Before `next_change`, only a write changes the answer, so the game need not ask again until then.
  const found = { rights: rightsIn(content), next_change: content.next_change }
  answers.set(player, { tag: headers.get('ETag'), found })
  return { ...found, unchanged: false }
}

// Spends coins. `order` is the game's name for this request: a repeated request takes nothing more.
async function spend(player, { order, amount, what }) {
  const { content, headers } = await call(
    'POST', path(player, '/balances/coins/spend'), { amount, reason: what, environment },
    { 'Idempotency-Key': `spend ${order}` })
  wrote(player, headers)
  return { balance: content.balance }
}

// The URL namespace of RFC 9562, for UUIDs of version 5.
const urls = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')

// Registers the UUID that the app passes to each purchase. Purchases with it belong to this player, no matter who
// submits them.
async function token(player) {
  const digest = createHash('sha1').update(urls).update(`https://game.example/players/${player}`).digest()
  digest[6] = (digest[6] & 0x0f) | 0x50
  digest[8] = (digest[8] & 0x3f) | 0x80
  const hex = digest.toString('hex', 0, 16)
  const token = [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => hex.slice(from, to)).join('-')
  const { headers } = await call('PUT', path(player, '/account_token'), { token, environment })
  wrote(player, headers)
  return { token }
}

// Returns the events after version `after`, such as a refund, so that the game can take back what it delivered. The
// game stores the answer's `after` together with the effects: no event is lost, and none counts twice.
async function news(player, body, query) {
  const after = Number(query.get('after') ?? 0)
  if (!Number.isSafeInteger(after)) throw new TypeError('after is wrong')
  const { content } = await call(
    'GET', path(player, `/events?environment=${environment}&limit=100&after=${after}`))
  const told = content.events.map(({ version, type, recorded_at }) => ({ version, type, at: recorded_at }))
  return { news: told, after: told.at(-1)?.version ?? after, more: content.next !== null && content.next !== undefined }
}

const calls = {
  'GET rights': rights,
  'GET news': news,
  'GET token': token,
  'POST purchases': submit,
  'POST restore': (player, body) => submit(player, body, true),
  'POST spend': spend,
}

const server = createServer(async (request, response) => {
  let status = 404
  let content = { code: 'unknown' }
  try {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const [, group, player, name] = pathname.split('/')
    const answer = group === 'players' && calls[`${request.method} ${name}`]
    if (answer) {
      content = await answer(decodeURIComponent(player), JSON.parse(text || '{}'), searchParams)
      status = 200
    }
  } catch (error) {
    // Any other error comes from a malformed call.
    status = error instanceof Refused ? error.status : 400
    content = error instanceof Refused ? error.problem : { code: 'malformed', detail: String(error) }
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(content))
})

server.on('error', (error) => end(`port ${port} cannot be listened on (${error.code}); set PORT to a free one`))
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`the game's back end is on http://127.0.0.1:${server.address().port}`)
})
