package import Core

/// People's actions from the log, and their refused calls, which the database holds outside the
/// log.
package protocol TrailKeeping: Sendable {
    func acts(
        of project: ProjectID, _ filter: TrailFilter, after last: TrailPlace?, limit: Int,
        without others: [Actor]
    ) throws(Fault) -> FoundActs
    func refusedCalls(
        of project: ProjectID, _ filter: TrailFilter, after last: TrailPlace?, limit: Int,
        since: Instant
    ) throws(Fault) -> [RefusedCall]
    func note(_ calls: [RefusedCall]) throws(Fault)
    func forgetRefusedCalls(
        of project: ProjectID, before instant: Instant, beyond count: Int64
    ) throws(Fault)
}

package enum TrailEntry: Sendable {
    case act(RecordedAct)
    case refusal(RefusedCall)

    package var place: TrailPlace {
        switch self {
        case .act(let act): act.place
        case .refusal(let call): call.place
        }
    }

    package var actor: Actor {
        switch self {
        case .act(let act): act.actor
        case .refusal(let call): call.actor
        }
    }
}

/// A page of the trail, newest first.
package struct TrailAnswer: Sendable {
    package let project: ProjectID
    package let entries: [TrailEntry]
    /// The names of the keys that performed the actions.
    package let actorNames: [Actor: String]
    /// Where the next page starts; `nil` if this is the last page.
    package let next: TrailPlace?
}

/// The actions of people and their keys in a project.
package struct Trails: Sendable {
    let ledger: any EventLog
    let keeping: any TrailKeeping
    let reading: any CustomerReading
    let now: @Sendable () -> Instant

    /// Returns up to `limit` matching entries. A page may have fewer entries or none, even if another page follows.
    package func list(
        of project: ProjectID, _ filter: TrailFilter, after last: TrailPlace?, limit: Int
    ) throws(CommandError) -> TrailAnswer {
        let state = try ledger.existing(project)
        try obtain(reading.requireCertainty())
        let machines = state.keys.filter { !$0.created.role.isOfPeople }.map(\.actor)
        let found = try obtain(
            keeping.acts(
                of: project, filter, after: last, limit: limit + 1, without: machines))
        let since = now().advanced(byMilliseconds: -RefusedCall.keptFor)
        let refused = try obtain(
            keeping.refusedCalls(
                of: project, filter, after: last, limit: limit + 1, since: since))
        var all =
            found.acts.map(TrailEntry.act) + refused.map(TrailEntry.refusal)
        all.sort { $0.place.precedes($1.place) }
        // Actions beyond this position were not examined, and some of them may be newer than the
        // oldest refusals found.
        let isCutOff = found.acts.count <= limit && found.lookedUntil != nil
        if isCutOff, let end = found.lookedUntil {
            all = all.filter { $0.place.precedes(end) || $0.place == end }
        }
        let page = Array(all.prefix(limit))
        let next = all.count > limit ? page.last?.place : isCutOff ? found.lookedUntil : nil
        return TrailAnswer(
            project: project, entries: page, actorNames: state.names(of: page.map(\.actor)),
            next: next)
    }
}

extension Role {
    /// Whether keys with this role belong to people.
    package var isOfPeople: Bool { self == .support || self == .admin }
}

extension Key {
    fileprivate var actor: Actor { Actor(prefix: "key:", random: id.text) }
}
