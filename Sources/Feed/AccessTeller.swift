import Core
import Following
import Synchronization

/// Determines how events changed access. Each customer is folded only once, starting from memory or
/// from the first event.
final class AccessTeller {
    let log: any FeedLog
    let memory: ToldMemory
    private let id: ProjectID
    private var project: ProjectState?
    /// Editions that are no longer part of the project's state.
    private var oldEditions: [CatalogEdition] = []

    init(_ log: any FeedLog, _ memory: ToldMemory, _ project: ProjectID) {
        self.log = log
        self.memory = memory
        id = project
    }

    /// Returns the changes caused by each requested event of the round. The round ends before the first customer
    /// whose events would exceed the row limit. The very first customer is always included.
    func tell(
        _ round: inout Round, in course: inout PageCourse
    ) throws(Fault) -> [Position: AccessTold] {
        let missing = plan(&round, in: &course)
        var told = try recall(missing)
        var found: [Position: AccessTold] = [:]
        for event in round.steps.prefix(round.limit) {
            guard let state = told[event.stream] else { continue }
            let isWanted = course.wants(event)
            do throws(Fault) {
                var access = try state.get()
                // Removing the state first avoids copying its contents.
                told[event.stream] = nil
                if isWanted {
                    found[event.position] = try changes(by: event, &access)
                } else {
                    access.pass(try log.recorded(event))
                }
                told[event.stream] = .success(access)
            } catch {
                if error.isOfWholeDatabase || error == .busy { throw error }
                told[event.stream] = .failure(error)
                if isWanted { found[event.position] = .unknown }
            }
        }
        for case (let stream, .success(let access)) in told { memory.keep(access, of: stream) }
        return found
    }

    func changes(by event: LoggedEvent, _ access: inout ToldAccess) throws(Fault) -> AccessTold {
        let changes = try access.tell(try log.recorded(event)) { wanted, customer throws(Fault) in
            try catalog(wanted, for: customer)
        }
        return AccessTold(changes: changes, isUnknown: false)
    }

    /// For each customer with requested events, returns where the fold starts. May shorten the
    /// round.
    private func plan(_ round: inout Round, in course: inout PageCourse) -> [PartlyTold] {
        let wanted = Set(round.steps.prefix(round.limit).filter { course.wants($0) }.map(\.stream))
        var planned: Set<Stream> = []
        var missing: [PartlyTold] = []
        var left = course.rowsLeft - round.steps.count
        for (place, event) in round.steps.prefix(round.limit).enumerated()
        where wanted.contains(event.stream) && planned.insert(event.stream).inserted {
            let part = PartlyTold(
                event.stream, memory.told(of: event.stream, before: event.version),
                through: event.version - 1)
            if part.length > left, !missing.isEmpty || !course.items.isEmpty {
                (round.limit, round.isLast) = (place, true)
                break
            }
            left -= part.length
            course.count(part.length)
            missing.append(part)
        }
        return missing
    }

    func recall(
        _ parts: [PartlyTold]
    ) throws(Fault) -> [Stream: Result<ToldAccess, Fault>] {
        var told: [Stream: Result<ToldAccess, Fault>] = [:]
        var batch: [PartlyTold] = []
        var rows = 0
        func read() throws(Fault) {
            for (part, result) in zip(batch, try log.recall(batch)) { told[part.stream] = result }
            (batch, rows) = ([], 0)
        }
        for part in parts {
            if part.length <= 0 {
                told[part.stream] = .success(part.told)
                continue
            }
            batch.append(part)
            rows += part.length
            if rows >= 5000 { try read() }
        }
        if !batch.isEmpty { try read() }
        return told
    }

    private func catalog(
        _ wanted: WantedCatalog, for customer: CustomerState
    ) throws(Fault) -> Catalog {
        if wanted == .version(0) { return Catalog() }
        if project.map({ $0.catalogVersion < wanted.newest }) ?? true {
            project = try log.project(id)
        }
        if let edition = project?.edition(wanted) ?? oldEditions[wanted] {
            return try log.catalog(edition, of: id, for: customer)
        }
        oldEditions = try log.editions(of: id, from: wanted)
        // The project had no catalog at the time, so no products were on sale.
        guard let edition = oldEditions[wanted] else { return Catalog() }
        return try log.catalog(edition, of: id, for: customer)
    }
}

/// Recently read customers, in the state last reported to readers, up to a maximum number of bytes.
final class ToldMemory: Sendable {
    /// The entries that were used since the last rotation, and the older ones.
    private struct State {
        var young: [Stream: ToldAccess] = [:]
        var old: [Stream: ToldAccess] = [:]
        var weight = 0
    }
    private let state = Mutex(State())
    private let limit: Int

    init(bytes: Int) {
        limit = bytes / 2
    }

    /// Returns the customer's state before this version; an empty state if the customer is not in memory.
    func told(of stream: Stream, before version: Int64) -> ToldAccess {
        let known = state.withLock { $0.young[stream] ?? $0.old[stream] }
        return known.flatMap { $0.version < version ? $0 : nil } ?? ToldAccess()
    }

    func keep(_ told: ToldAccess, of stream: Stream) {
        if told.weight > limit { return }
        state.withLock { state in
            if state.weight + told.weight > limit {
                state.old = state.young
                (state.young, state.weight) = ([:], 0)
            }
            let before = state.young.updateValue(told, forKey: stream)
            state.weight += told.weight - (before?.weight ?? 0)
        }
    }

    func forget() { state.withLock { $0 = State() } }

    func forget(_ stream: Stream) {
        state.withLock { state in
            state.old[stream] = nil
            state.weight -= state.young.removeValue(forKey: stream)?.weight ?? 0
        }
    }
}
