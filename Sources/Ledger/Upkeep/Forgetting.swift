package import Core
import JSON
import Postgres
import SQL

/// Rows that are deleted once they are old. They are not derived from the log, and no other data depends on them.
package enum OldRows: String, CaseIterable, Sendable {
    /// Quarantined events.
    case quarantined
    /// Places in the stores' histories.
    case histories
    /// Budgets for store calls.
    case budgets
    case leases
    /// Refused calls that were made with people's keys.
    case refusedCalls = "refused_calls"
    /// Attempts to send messages to webhooks.
    case webhookAttempts = "webhook_attempts"
    /// Finished replays.
    case webhookReplays = "webhook_replays"

    /// How long the rows are kept, in milliseconds; `nil` if the operator chooses.
    ///
    /// A write to one of these tables also deletes old rows of its project or webhook, but there may never be another.
    package var lifetime: Int64? {
        switch self {
        case .quarantined, .histories, .budgets, .leases: nil
        case .refusedCalls: RefusedCall.keptFor
        case .webhookAttempts: WebhookAttempt.lifetime
        case .webhookReplays: WebhookReplay.lifetime
        }
    }

    /// Deletes a page of the rows that have not been used since an instant, and returns the number deleted.
    fileprivate func call(_ instant: Instant, limit: Int64) -> Call {
        let time = instant.milliseconds
        return switch self {
        case .quarantined: Statement.forgetQuarantined(.int8(time), .int8(limit))
        case .histories: Statement.forgetHistories(.int8(time), .int8(limit))
        case .budgets: Statement.forgetBudgets(.int8(instant.microseconds), .int8(limit))
        case .leases: Statement.forgetLeases(.int8(time), .int8(limit))
        case .refusedCalls: Statement.forgetOldRefusedCalls(.int8(time), .int8(limit))
        case .webhookAttempts: Statement.forgetWebhookAttempts(.int8(time), .int8(limit))
        case .webhookReplays: Statement.forgetWebhookReplays(.int8(time), .int8(limit))
        }
    }
}

/// The result of deleting a page of old evidence.
package enum OldEvidence: Hashable, Sendable {
    /// The search has examined all evidence filed up to that instant, and deleted `gone` pieces.
    case passed(Instant, gone: Int64)
    /// There is no older evidence left.
    case none
    /// Commits in progress may be based on the evidence.
    case busy
}

extension Ledger {
    package static let forgottenPage: Int64 = 500
    private static let noteName = "forgetting"
    private static let noteMember = "evidence_until"

    /// Deletes a page of rows that have not been used since an instant.
    package func forget(
        _ rows: OldRows, before instant: Instant
    ) throws(Fault) -> (count: Int64, isLast: Bool) {
        try requireWritable()
        let gone =
            try list(rows.call(instant, limit: Ledger.forgottenPage)) { rows, row in
                rows.int8(row, 0)
            }.first ?? 0
        return (gone, gone < Ledger.forgottenPage)
    }

    /// Deletes evidence on which no event is based: one page of the evidence filed after one instant and before
    /// another.
    package func forgetEvidence(
        after place: Instant, before instant: Instant
    ) throws(Fault) -> OldEvidence {
        try requireWritable()
        let forget = Statement.forgetEvidence(
            .int8(place.milliseconds), .int8(instant.milliseconds), .int8(Ledger.forgottenPage))
        return try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                var found = OldEvidence.busy
                // If the commit is lost, the next run does the work again.
                let calls = [
                    Statement.begin(), ConnectionSettings.losableTransaction(), forget,
                    Statement.commit(),
                ]
                try connection.read(calls) { index, rows in
                    if index == 2 { found = OldEvidence(rows) }
                }
                return found
            }
        }
    }

    /// Returns the instant up to which evidence has been examined. Evidence from before that instant stays.
    package func evidenceForgottenUntil() throws(Fault) -> Instant {
        let note = try lastDone(Ledger.noteName).flatMap { try? JSON.read($0.says) }
        return note?[Ledger.noteMember]?.integer.map(Instant.init(milliseconds:)) ?? .distantPast
    }

    package func noteEvidenceForgotten(until instant: Instant) throws(Fault) {
        let note: JSON = [Ledger.noteMember: .integer(instant.milliseconds)]
        try self.note(done: Ledger.noteName, says: note.text)
    }

    /// Deletes the notes about logs that no service has worked with since an instant. Returns the
    /// number of deletions. Deletes nothing while the machine's clock is known to be wrong.
    package func forgetSeenLogs(before instant: Instant) -> Int {
        barrier == nil ? known.forgetOthers(before: instant) : 0
    }
}

extension Instant {
    /// The instant in microseconds, or the nearest number that fits.
    fileprivate var microseconds: Int64 {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (milliseconds < 0 ? .min : .max) : product
    }
}

extension OldEvidence {
    fileprivate init(_ rows: borrowing Rows) {
        guard let gone = rows.optionalInt8(0, 1) else {
            self = .busy
            return
        }
        let reached = rows.optionalInt8(0, 0).map(Instant.init(milliseconds:))
        self = reached.map { .passed($0, gone: gone) } ?? .none
    }
}
