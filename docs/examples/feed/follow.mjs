// Follows Deed's feed, and writes one line of JSON for each event. It needs only Node (18.3 or newer).
//
//     DEED_KEY=deed_reader_... node follow.mjs --cursor place.json --out events.jsonl
//
// The `--cursor` file stores the position in the log, from which the program continues after it was killed at any moment.
// With `--out`, that file contains each event once. Without it, the lines go to standard output, and a page of events
// is repeated if the program dies between writing the page and storing the position. In both cases, events of the last
// few minutes come again after Deed's log lost events: recognize them by their ids. Only one program at a time may use
// a `--cursor` file.

import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const longestWait = 30 // seconds for which Deed may delay an empty answer
const longestPause = 10 // seconds between two attempts

// An error that a retry cannot resolve, as a sentence for people.
class Stop extends Error {}

// The log lost events before the cursor; `restart` is a cursor that misses no remaining event.
class Lost extends Error {
  constructor(restart) {
    super()
    this.restart = restart
  }
}

const say = (sentence) => console.error(sentence)

// The cursor, the ids of the last page's events, and the length of the output after that page.
class Place {
  constructor(path) {
    this.path = path
    let text
    try {
      text = readFileSync(path, 'utf8')
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
    }
    this.cursor = null
    this.ids = []
    this.length = null
    if (text === undefined) return
    try {
      const { cursor, ids, length } = JSON.parse(text)
      if (cursor === undefined || !Array.isArray(ids) || length === undefined) throw new Error()
      Object.assign(this, { cursor, ids, length })
    } catch {
      throw new Stop(`${path} is no file of this program; name another file with --cursor`)
    }
  }

  // Replaces the file in one step, so that it is complete even if the program or the machine stops.
  keep() {
    const { cursor, ids, length } = this
    const aside = `${this.path}.new`
    const file = openSync(aside, 'w')
    writeFileSync(file, JSON.stringify({ cursor, ids, length }))
    fsyncSync(file)
    closeSync(file)
    renameSync(aside, this.path)
    const folder = openSync(dirname(resolve(this.path)), 'r')
    fsyncSync(folder)
    closeSync(folder)
  }
}

// Standard output, which cannot be taken back: lines written since the last stored position are repeated.
class StandardOutput {
  constructor(place) {
    if (place.length !== null) throw new Stop(`${place.path} belongs to an output file; name that file with --out`)
    process.stdout.on('error', () => {})
  }

  write(lines) {
    return new Promise((done, fail) => process.stdout.write(lines, (error) => (error ? fail(error) : done())))
  }
}

// An output file. At the start, the program cuts off lines written since the last stored position, and writes them again.
class OutputFile {
  constructor(path, place) {
    this.place = place
    this.file = openSync(path, 'a')
    const { size } = fstatSync(this.file)
    if (place.length === null) {
      if (place.cursor) throw new Stop(`${place.path} belongs to standard output; name a new file with --cursor`)
      if (size > 0) throw new Stop(`${path} has content that ${place.path} does not know of; name a new file with --out`)
      place.length = 0
    }
    if (size < place.length) {
      throw new Stop(`${path} has ${size} bytes instead of ${place.length}: it was cut, or it is another file`)
    }
    ftruncateSync(this.file, place.length)
  }

  async write(lines) {
    const bytes = Buffer.from(lines)
    writeFileSync(this.file, bytes)
    fsyncSync(this.file)
    this.place.length += bytes.length
  }
}

// Requests pages over a connection that `fetch` keeps open, and repeats each request until it is answered.
class Feed {
  constructor(url, key, query) {
    Object.assign(this, { url, key, query })
  }

  async page(cursor, wait) {
    const query = new URLSearchParams(this.query)
    if (cursor) query.set('after', cursor)
    if (wait) query.set('wait', wait)
    const url = `${this.url.replace(/\/+$/, '')}/v1/events?${query}`
    for (let tries = 0; ; tries++) {
      let trouble
      let after = 0
      try {
        const answer = await fetch(url, {
          headers: { Authorization: `Bearer ${this.key}` },
          redirect: 'manual',
          signal: AbortSignal.timeout(1000 * (longestWait + 30)),
        })
        const text = await answer.text()
        if (answer.status === 200) {
          const { events, next, more } = JSON.parse(text)
          if (!Array.isArray(events) || !next) throw new SyntaxError()
          if (tries > 0) say('Deed answers again.')
          return { events, next, more }
        }
        trouble = this.trouble(answer.status, text)
        const told = answer.headers.get('Retry-After') ?? ''
        after = /^[0-9]+$/.test(told) ? Number(told) : 0
      } catch (error) {
        if (error instanceof Stop || error instanceof Lost) throw error
        trouble = error instanceof SyntaxError
          ? "the answer is not from Deed"
          : `Deed cannot be reached (${error.cause?.message || error.message})`
      }
      if (tries === 0) say(`${trouble}; retrying.`)
      const backoff = Math.min(longestPause, 0.25 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2)
      await pause(1000 * Math.max(after, backoff))
    }
  }

  // Describes a problem that a retry may resolve; throws any other.
  trouble(status, text) {
    let problem = {}
    try {
      problem = JSON.parse(text) ?? {}
    } catch {}
    if (status === 409 && problem.code === 'cursor_lost') throw new Lost(problem.restart)
    const words = `Deed answers ${status}` + (problem.code ? ` ${problem.code}: ${problem.detail}` : '')
    if ([408, 429].includes(status) || status >= 500) return words
    throw new Stop(words)
  }
}

async function follow(feed, place, output, once) {
  for (;;) {
    const asked = Date.now()
    let page
    try {
      page = await feed.page(place.cursor, once ? 0 : longestWait)
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      say("Deed's log lost events that this program has read, and an operator accepted the loss; continuing with the cursor from Deed.")
      place.cursor = error.restart
      place.keep()
      continue
    }
    const { events, next, more } = page
    const known = new Set(place.ids)
    // Write the page first, then store the cursor after it.
    if (events.length > 0) {
      await output.write(events.filter(({ id }) => !known.has(id)).map((event) => `${JSON.stringify(event)}\n`).join(''))
      place.ids = events.map(({ id }) => id)
    }
    if (events.length > 0 || next !== place.cursor) {
      place.cursor = next
      place.keep()
    }
    if (more) continue
    if (once) return
    // Deed delays only a limited number of calls, and answers others immediately.
    if (events.length === 0 && Date.now() - asked < 1000) await pause(1000)
  }
}

async function main() {
  let options
  try {
    options = parseArgs({
      options: {
        cursor: { type: 'string' },
        out: { type: 'string' },
        url: { type: 'string', default: process.env.DEED_URL ?? 'http://127.0.0.1:8080' },
        environment: { type: 'string', default: 'production' },
        types: { type: 'string' },
        once: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new Stop(error.message)
  }
  const { cursor, out, url, environment, types, once } = options
  if (!cursor) throw new Stop('--cursor FILE is missing: the file that stores the position in the log')
  if (!/^https?:\/\/([^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(\/[^?#\s]*)?$/.test(url)) throw new Stop("--url must be Deed's address, such as http://127.0.0.1:8080")
  if (!['production', 'sandbox'].includes(environment)) throw new Stop('--environment must be production or sandbox')
  const key = (process.env.DEED_KEY ?? '').trim()
  if (!key) throw new Stop('DEED_KEY is missing; create a key with: deed key create --role reader')
  if (!/^deed_[!-~]+$/.test(key)) throw new Stop('DEED_KEY is not a key of Deed, which begins with deed_')
  const query = { environment, limit: 1000 }
  if (types) query.types = types
  const place = new Place(cursor)
  const output = out ? new OutputFile(out, place) : new StandardOutput(place)
  place.keep() // reports an unwritable folder before the first page is read
  await follow(new Feed(url, key, query), place, output, once)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof Stop) && !error.code) throw error
  say(error.code === 'EPIPE' ? 'the reader of the lines has exited' : error.message)
  process.exit(1)
}
