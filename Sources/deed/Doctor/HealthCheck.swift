import Commands

/// A check of something that an installation depends on. To add a check, define it in one of the check files and list
/// it in `all`.
struct HealthCheck: Sendable {
    /// A stable code for programs and for `--only`.
    let code: String
    /// The part that the check examines.
    let subject: String
    let level: Finding.Level
    /// The stage that a set-up must reach before the check makes sense.
    let needs: Stage
    let find: @Sendable (Patient) throws(CommandEnd) -> [Finding]

    init(
        _ code: String, _ subject: String, _ level: Finding.Level, needs: Stage = .machine,
        find: @escaping @Sendable (Patient) throws(CommandEnd) -> [Finding]
    ) {
        self.code = code
        self.subject = subject
        self.level = level
        self.needs = needs
        self.find = find
    }

    /// Returns a check with at most one finding.
    static func one(
        _ code: String, _ subject: String, _ level: Finding.Level, needs: Stage = .machine,
        find: @escaping @Sendable (Patient) throws(CommandEnd) -> Finding?
    ) -> HealthCheck {
        HealthCheck(code, subject, level, needs: needs) { patient throws(CommandEnd) in
            try find(patient).map { [$0] } ?? []
        }
    }

    /// The stages of a set-up.
    enum Stage: Int, Comparable {
        case machine, server, schema

        static func < (one: Stage, other: Stage) -> Bool { one.rawValue < other.rawValue }
    }
}

/// A problem that a check found, and what to do about it.
struct Finding {
    enum Level: String { case warning, wrong }

    let sentence: String
    /// What to do, in words.
    let remedy: String
    /// The exact commands for the remedy, if commands help.
    var commands: [Advice] = []
    /// The repair; `nil` if it is not harmless.
    var fix: (() throws(CommandEnd) -> Void)?
}

/// A line for a person to paste.
struct Advice {
    enum Place: String { case shell, sql }

    let place: Place
    let text: String

    static func shell(_ text: String) -> Advice { Advice(place: .shell, text: text) }

    /// SQL for the database's administrator or owner.
    static func sql(_ text: String) -> Advice { Advice(place: .sql, text: text) }

    var line: String { place == .shell ? text : "in SQL: \(text);" }
}

extension HealthCheck {
    /// All checks, in the order in which the parts of a set-up depend on each other.
    static let all: [HealthCheck] =
        [
            databaseURL, dataFolder, dataFolderOwner, seenFiles, descriptors, disk, keyMissing,
            keyUnreadable, keyOpen, keyMalformed, tlsFiles, tlsEnd, extraRoots, databaseMissing,
            restoreUnfinished, databaseReachable, version, fsync, fullPages, autovacuum, encoding,
            readOnly, checksums, connections, transactionAge, clocks, schemaMissing, schemaOutdated,
            schemaNewer, programOutdated, formatPending, serviceRole, superuser, owner,
            schemaChanged, databaseOpen, standbys, impediments, keyOther, webhookKeys, factorKeys,
            noProject,
            projectUnreadable, silentInstance,
            unreadyInstance,
            versions, unreadStreams, intake, backup, backupTried, checkpoint, audit,
        ] + ofProjects
}
