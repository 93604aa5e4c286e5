import Assembly
import Commands
import Core
import Evidence
import JSON
import Ledger
import Service
import StoreAccess

extension Invocation {
    /// Adds the parts that require a readable database with this release's schema.
    func addLog(
        to parts: inout [StatusPart], _ database: Database, _ view: inout OperatorsView,
        isForTests: Bool
    ) throws(CommandEnd) {
        let done = try attempt { () throws(LedgerError) in try view.done() }
        let jobs = try attempt { () throws(LedgerError) in try view.jobs() }
        let now = systemClock()
        let budgets = try attempt { () throws(LedgerError) in try view.budgets(at: now) }
        let storage = try attempt { () throws(LedgerError) in try view.storage() }
        let clock = try clock(over: database, onlyReads: true)
        let live = Live(
            database.modestSettings(clock: clock),
            Outside(verifier: Verifier(extraRoots: []), keys: secretKeyFile.ring))
        defer {
            live.store.close()
            live.ledger.close()
        }
        let projects = try ask(live.ledger.projects())
        var states: [(project: ProjectID, state: ProjectState?)] = []
        for listed in projects {
            states.append((listed.project, try? live.ledger.project(listed.project)))
        }
        let heads = try ask(live.ledger.heads())
        let oldest = projects.map(\.createdAt).min()
        let age = isForTests ? 0 : oldest.map { now.milliseconds - $0.milliseconds } ?? 0
        parts += [
            .log(events: heads.reduce(0, +)), .unclaimed(try ask(live.ledger.unclaimedCount())),
            .unread(states), .jobs(jobs, now: clock()),
            .nights(states, now: clock(), isForTests: isForTests), .done(done, age: age),
            .apps(states, done, budgets) { (try? live.store.vault.statuses(of: $0)) ?? [:] },
            .keys(states, now: clock()),
            .storage(storage.bytes, done, free: freeBytes(in: database, storage.folder)),
        ]
    }
}

extension StatusPart {
    static func log(events: Int64) -> StatusPart {
        StatusPart(
            "log", [StatusLine("\(events) events")], [("log", ["events": .integer(events)])])
    }

    static func unclaimed(_ count: Int64) -> StatusPart {
        StatusPart(
            "unclaimed", [StatusLine("\(count) purchases without a customer")],
            [("unclaimed", .integer(count))])
    }

    /// Returns the projects that this program cannot read. The instances report unreadable customers.
    static func unread(_ states: [(project: ProjectID, state: ProjectState?)]) -> StatusPart {
        let closed = states.filter { $0.state == nil }.map { $0.project.text }
        return StatusPart(
            "projects",
            closed.isEmpty
                ? [StatusLine("\(states.count)")]
                : closed.map { StatusLine("\($0) is unreadable", remedy: "deed audit") },
            [("unreadable_projects", .array(closed.map(JSON.string)))])
    }

    static func jobs(_ jobs: [(name: String, ranAt: Instant)], now: Instant) -> StatusPart {
        let newest = jobs.sorted { $0.ranAt > $1.ranAt }
        let words = newest.prefix(4).map {
            "\($0.name) \(span(now.milliseconds - $0.ranAt.milliseconds)) ago"
        }
        let text = words.isEmpty ? "none has run yet" : words.joined(separator: ", ")
        return StatusPart(
            "jobs", [StatusLine(text)],
            [
                (
                    "jobs",
                    .array(
                        newest.map {
                            ["job": .string($0.name), "ran_at": .string($0.ranAt.text)]
                        })
                )
            ])
    }

    /// Returns the last complete reconciliation of each project.
    static func nights(
        _ states: [(project: ProjectID, state: ProjectState?)], now: Instant, isForTests: Bool
    ) -> StatusPart {
        var lines: [StatusLine] = []
        var members: [JSON] = []
        for case (let project, let state?) in states {
            let since = state.unreconciledSince(by: now)
            let age = now.milliseconds - since.milliseconds
            let command = "deed reconcile --project \(project)"
            let when = state.reconciledAt.map { _ in "\(span(age)) ago" } ?? "never"
            if state.isSound == false {
                lines.append(
                    StatusLine(
                        "\(project): \(when), not sound",
                        remedy: "deed reconcile list --project \(project)"))
            } else {
                let isLate = age > longestNight && !isForTests
                lines.append(StatusLine("\(project): \(when)", remedy: isLate ? command : nil))
            }
            members.append([
                "project": .string(project.text),
                "reconciled_at": .optional(state.reconciledAt?.text),
                "sound": state.isSound.map(JSON.bool) ?? .null,
            ])
        }
        if lines.isEmpty { lines = [StatusLine("there is no project yet")] }
        return StatusPart("reconciled", lines, [("reconciled", .array(members))])
    }

    /// Returns the last audit, checkpoint and backup. None of them counts as late in a new installation.
    static func done(_ done: [LastDone], age: Int64) -> StatusPart {
        var lines: [StatusLine] = []
        var object = JSONObject()
        for chore in Chore.all {
            let last = done.first { $0.what == chore.what }
            let isLate = (last?.ago ?? age) > chore.limit
            let when = last.map { "\(span($0.ago)) ago" } ?? "never"
            lines.append(StatusLine("\(chore.name) \(when)", remedy: isLate ? chore.command : nil))
            object.append(chore.what, .optional(last?.doneAt.text))
        }
        let quiet = lines.filter { $0.remedy == nil }.map(\.text).joined(separator: ", ")
        return StatusPart(
            "last",
            lines.filter { $0.remedy != nil } + (quiet.isEmpty ? [] : [StatusLine(quiet)]),
            [("last_done", .object(object))])
    }
}

/// The time in milliseconds after which a nightly run counts as missed.
let longestNight: Int64 = 36 * 3_600_000

/// A regular task of the operator, and the number of milliseconds after which it is late.
struct Chore {
    let what: String
    let name: String
    let limit: Int64
    let command: String

    static let all = [
        Chore(
            what: "audit", name: "audit", limit: 35 * 86_400_000,
            command: "deed audit --evidence --projections"),
        Chore(
            what: "checkpoint", name: "checkpoint", limit: 35 * 86_400_000,
            command: "deed checkpoint --out deed-checkpoint.json"),
        Chore(
            what: "backup", name: "backup", limit: longestNight,
            command: "deed backup --out deed-backup"
        ),
        Chore(
            what: "backup_tried", name: "backup tried", limit: 35 * 86_400_000,
            command: "deed backup check deed-backup"),
    ]
}
