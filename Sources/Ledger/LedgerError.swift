package import Core
package import Postgres
import Wording

/// Why the ledger did not carry out a request.
package enum LedgerError: Trouble, Error, Sendable, CustomStringConvertible {
    case postgres(PostgresError)
    /// Part of the log is damaged.
    case unreadable(String)
    /// Part of the log was written by a newer program.
    case tooNew(String)
    /// The log is shorter than when this process last saw it.
    case logShrunk
    /// Another instance has taken over this instance's work.
    case leaseLost
    case schemaMissing
    case schemaOutdated(found: Int64, needed: Int64)
    case schemaNewer(found: Int64, known: Int64)
    case migrationEdited(name: String)
    case schemaUnreleased
    case roleMissing
    /// The database answers but cannot be used normally.
    case impeded(Impediment)

    /// The sentence and the remedy, for operators.
    package var description: String { withRemedy }

    package var sentence: String {
        switch self {
        case .postgres(let error):
            error.description
        case .unreadable(let what): Unreadable(what, needsNewer: false).sentence
        case .tooNew(let what): Unreadable(what, needsNewer: true).sentence
        case .logShrunk:
            "The log is shorter than it was: the database was restored to an earlier state while "
                + "this process ran."
        case .leaseLost: Fault.leaseLost.sentence
        case .schemaMissing:
            "The database has no Deed schema yet."
        case .schemaOutdated(let found, let needed):
            "The database schema is at migration \(found), but this release needs \(needed)."
        case .schemaNewer(let found, let known):
            "The database schema is at migration \(found), but this release knows only up to \(known)."
        case .migrationEdited(let name):
            "The migration \(name) was applied to the database with a text that differs from this "
                + "release's."
        case .schemaUnreleased:
            "This database was created by a development build before 0.1.0."
        case .roleMissing:
            "The login may not create the role deed_service."
        case .impeded(let impediment): impediment.sentence
        }
    }

    package var remedy: Remedy? {
        switch self {
        case .unreadable: .inspectRows
        case .schemaMissing, .schemaOutdated: .migrate
        case .schemaNewer: .installMigratingRelease
        case .migrationEdited: .useMigratingRelease
        case .schemaUnreleased: .startAnew
        case .roleMissing: .createServiceRole
        case .impeded(let impediment): impediment.remedy
        case .postgres, .tooNew, .logShrunk, .leaseLost: nil
        }
    }

    /// Whether the same attempt may succeed later.
    var isPassing: Bool {
        switch self {
        case .logShrunk: true
        case .postgres(let error):
            // Serialization failures, deadlocks, standbys that are not promoted yet, slow locks or
            // statements, and servers that lack a resource (class 53).
            error.kind == .connection || error.kind == .unwanted
                || error.sqlState?.hasPrefix("53") ?? false && !error.isLackOfRoom
                || ["40001", "40P01", "25006", "55P03", "57014"].contains(error.sqlState)
        default: false
        }
    }

    /// Whether the fault is lasting and affects every command in a batch.
    var isOfAll: Bool {
        switch fault {
        case .leaseLost: true
        case .impeded: !isPassing
        default: false
        }
    }

    /// Whether the database's disk is full.
    var isLackOfRoom: Bool {
        if case .postgres(let error) = self { error.isLackOfRoom } else { false }
    }

    /// Whether another session held a necessary lock for too long.
    var isLockedOut: Bool {
        if case .postgres(let error) = self { error.sqlState == "55P03" } else { false }
    }

    /// Whether the database interrupted a slow statement, or a transaction whose next statement took too long.
    var isTooLong: Bool {
        guard case .postgres(let error) = self else { return false }
        return ["57014", "25P03"].contains(error.sqlState)
    }

    /// Whether another commit was the first to claim a purchase or to let one wait under a token. A
    /// new decision takes that commit into account.
    var isOvertaken: Bool {
        guard case .postgres(let error) = self else { return false }
        return error.sqlState == "DD006"
            || error.sqlState == "23505" && error.constraint == "holders_pkey"
    }

    /// Whether an event already exists where the log should continue. Heads and events are always
    /// written together, so something other than Deed wrote that event. It blocks the log permanently.
    var isBlocked: Bool {
        guard case .postgres(let error) = self else { return false }
        return error.sqlState == "23505"
            && ["events_pkey", "events_version_key"].contains(error.constraint)
    }

    /// The refusal, if a rule of the database caused the error.
    var refusal: Refusal? {
        guard case .postgres(let error) = self else { return nil }
        return switch error.sqlState {
        case "DD003": .appTaken
        case "DD004": .order(.exists)
        case "DD005": .token(.taken)
        default: nil
        }
    }

    /// The fault that callers see.
    package var fault: Fault {
        switch self {
        case .impeded(let impediment): .impeded(impediment)
        case .leaseLost: .leaseLost
        case .postgres(let error) where error.kind == .unwanted:
            .impeded(error.cause as? Impediment ?? Impediment(.behind, error.serverMessage))
        case .postgres(let error) where error.isLackOfRoom: .impeded(.full)
        case .postgres(let error) where error.isReadOnly: .impeded(.readOnly)
        case .postgres(let error) where error.kind == .exhausted: .busy
        case .unreadable(let what): .unreadable(Unreadable(what, needsNewer: false))
        case .tooNew(let what): .unreadable(Unreadable(what, needsNewer: true))
        case _ where isPassing: .unavailable
        case _ where isBlocked: .logBlocked
        default: .broken(description)
        }
    }
}

extension LedgerError {
    /// Returns the fault for the command's sender. For background work, a timeout does not mean that the database is
    /// unreachable, because the same work would time out again.
    func fault(of pending: PendingCommand) -> Fault {
        if pending.kind == .client || !isTooLong { return fault }
        return .broken(
            "The work due in shard \(pending.command.stream.shard.number) could not be written: the "
                + "database cancelled a statement that took too long. Find out what slows the "
                + "database down.")
    }
}

/// Calls the ledger, and turns errors into faults.
package func faulting<Answer>(
    _ body: () throws(LedgerError) -> Answer
) throws(Fault) -> Answer {
    try rethrowing(as: \.fault, body)
}
