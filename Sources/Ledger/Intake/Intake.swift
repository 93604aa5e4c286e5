package import Core
import Postgres
import SQL

// The queue of evidence that cannot be judged yet. It is in the same database as the log, but the
// log does not depend on it.

extension Ledger {
    /// How many unreadable items are skipped in one call.
    private static let passedItems = 100

    /// Adds an item, or returns the waiting item with the same evidence; `nil` if the project's queue is full.
    package func addIntake(_ item: IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem? {
        try requireWritable()
        let wish = item.wish
        let customer = Bind.text(wish.purpose.customer?.text)
        let (digest, environment) = (wish.heading.digest, wish.heading.environment.rawValue)
        let add = Statement.addIntake(
            .text(item.id.text), .text(wish.project.text), .text(wish.purpose.word.rawValue),
            customer,
            .text(wish.order?.text), .text(environment), .text(wish.heading.kind),
            .text(wish.heading.app.text), .bytea(digest), .bytea(evidence),
            .int8(item.addedAt.milliseconds), .int8(IntakeItem.countLimit),
            .int8(IntakeItem.byteLimit))
        let find = Statement.findAddedIntake(
            .text(item.id.text), .text(wish.project.text), .bytea(digest),
            .text(wish.purpose.word.rawValue), .text(environment), customer)
        for call in [add, find] {
            let found = try list(call) { rows, row throws(LedgerError) in
                try IntakeRow(rows, row).item
            }
            if let item = found.first { return item }
        }
        return nil
    }

    package func intake(_ id: IntakeID, of project: ProjectID) throws(Fault) -> IntakeItem? {
        try list(Statement.findIntake(.text(project.text), .text(id.text))) {
            rows, row throws(LedgerError) in try IntakeRow(rows, row).item
        }.first
    }

    /// Returns up to `limit` of a project's items after `last`, oldest first. May be restricted to one state.
    package func intake(
        of project: ProjectID, in state: IntakeItem.State.Word?, after last: IntakeItem?,
        limit: Int
    ) throws(Fault) -> [IntakeItem] {
        let place: [Bind] = [
            .int8(last?.addedAt.milliseconds ?? .min), .text(last?.id.text ?? ""),
        ]
        let listed = RowList { place, limit in
            let binds: [Bind] = [.text(project.text), .text(state?.rawValue)]
            return Call(statement: .listIntake, binds: binds + place + [limit])
        } place: {
            IntakeRow.place($0, $1)
        } subject: {
            IntakeRow.subject($0, $1)
        } item: { rows, row throws(LedgerError) -> IntakeItem in
            try IntakeRow(rows, row).item
        }
        return try page(after: place, limit: limit, listed)
    }

    /// Takes the due item with the fewest attempts. No other worker gets the item until the lease
    /// ends. Skips items that only busy stores could judge.
    package func takeIntake(
        now: Instant, without busy: BusyStores = BusyStores()
    ) throws(Fault) -> TakenIntake? {
        try requireWritable()
        let leases = (1...IntakeItem.pauses.count).map { tries in
            IntakeItem.leaseEnd(takenAt: now, tries: Int64(tries)).milliseconds
        }
        let leftOut = busy.apps.flatMap { app in
            busy.kinds.filter { $0.store == app.store }.map { (kind: $0.word, app: app.id.text) }
        }
        let (always, sometimes) = (
            busy.kinds.filter { $0.proof == .word }, busy.kinds.filter { $0.proof != .word }
        )
        let call = Statement.takeIntake(
            .int8(now.milliseconds), .int8s(leases), .texts(leftOut.map { $0.kind }),
            .texts(leftOut.map { $0.app }), .bool(busy.isFull), .texts(always.map(\.word)),
            .texts(sometimes.map(\.word)), .texts(sometimes.map(\.store.rawValue)))
        // An unreadable item is leased like any other, so that the next one can be found.
        for _ in 0..<Ledger.passedItems {
            let found = try list(call) { rows, row throws(LedgerError) in
                try rows.readable(row, unread, IntakeRow.subject) {
                    rows, row throws(LedgerError) -> TakenIntake in
                    try IntakeRow.taken(rows, row)
                }
            }
            guard let first = found.first else { return nil }
            if let taken = first { return taken }
        }
        return nil
    }

    /// Updates the item's row, unless it has changed since the item was read.
    package func changeIntake(_ item: IntakeItem) throws(CommandError) -> Bool {
        if let barrier { throw .fault(.impeded(barrier)) }
        var results: String?
        if case .believed(let all) = item.state { results = all.coded }
        let call = Statement.changeIntake(
            .text(item.id.text), .int8(item.revision), .text(item.state.word.rawValue),
            .int8(item.tries), .int8(item.nextTry?.milliseconds), .text(item.reason?.code),
            .text(item.reason?.sentence), .text(results), .text(item.act?.actor.text),
            .text(item.act?.reason.text), .text(item.act?.ticket?.text),
            .int8(item.changedAt.milliseconds))
        do throws(LedgerError) {
            return try rows(call) { _, _ in true }.first ?? false
        } catch {
            if case .postgres(let reason) = error, reason.constraint == "intake_waiting_key" {
                throw .refused(.intake(.queuedAgain(item.id)))
            }
            throw .fault(error.fault)
        }
    }

    /// Returns the number of waiting items in all projects.
    package func intakeCounts() throws(Fault) -> IntakeCounts {
        try list(Statement.countIntake(.int8(IntakeItem.alarmTries))) { rows, row in
            var counts = IntakeCounts()
            counts.waiting = rows.int8(row, 0)
            counts.alarming = rows.int8(row, 1)
            counts.oldest = rows.optionalInt8(row, 2).map(Instant.init(milliseconds:))
            return counts
        }.first ?? IntakeCounts()
    }

    /// Deletes items that ended before an instant, and returns their number. Deletes nothing if another instance has
    /// taken over the lease.
    package func cleanIntake(
        endedBefore instant: Instant, under lease: Lease
    ) throws(Fault) -> Int {
        try requireWritable()
        let limit: Int64 = 1000
        let call = Statement.cleanIntake(
            .int8(instant.milliseconds), .int8(limit), .text(lease.name), .int8(lease.fence))
        return try list(call) { _, _ in () }.count
    }
}
