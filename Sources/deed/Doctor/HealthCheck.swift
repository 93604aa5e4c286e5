import Commands

/// A look at one thing that an installation depends on. A new one is a value in one of the files of checks, and a name in `all`.
struct HealthCheck: Sendable {
    /// The stable code that programs compare, and the word for `--only`.
    let code: String
    /// What it looks at.
    let subject: String
    let level: Finding.Level
    /// What must be there before anything can be found.
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

    /// One that finds one thing at most.
    static func one(
        _ code: String, _ subject: String, _ level: Finding.Level, needs: Stage = .machine,
        find: @escaping @Sendable (Patient) throws(CommandEnd) -> Finding?
    ) -> HealthCheck {
        HealthCheck(code, subject, level, needs: needs) { patient throws(CommandEnd) in
            try find(patient).map { [$0] } ?? []
        }
    }

    /// How far a set-up must have come.
    enum Stage: Int, Comparable {
        case machine, server, schema

        static func < (one: Stage, other: Stage) -> Bool { one.rawValue < other.rawValue }
    }
}

/// Something that a check found, and what to do about it.
struct Finding {
    enum Level: String { case warning, wrong }

    let sentence: String
    /// In words.
    let remedy: String
    /// What does it, word for word; empty where only a person can.
    var commands: [Advice] = []
    /// Does it here and now; only where that can do no harm.
    var fix: (() throws(CommandEnd) -> Void)?
}

/// A line to paste.
struct Advice {
    enum Place: String { case shell, sql }

    let place: Place
    let text: String

    static func shell(_ text: String) -> Advice { Advice(place: .shell, text: text) }

    /// For the database's administrator or owner.
    static func sql(_ text: String) -> Advice { Advice(place: .sql, text: text) }

    var line: String { place == .shell ? text : "in SQL: \(text);" }
}

extension HealthCheck {
    /// In the order in which a set-up depends on them.
    static let all: [HealthCheck] =
        [
            databaseURL, dataFolder, dataFolderOwner, seenFiles, descriptors, disk, keyMissing,
            keyUnreadable, keyOpen, keyMalformed, tlsFiles, tlsEnd, extraRoots, databaseMissing,
            restoreUnfinished, databaseReachable, version, fsync, fullPages, autovacuum, encoding,
            readOnly, checksums, connections, transactionAge, clocks, schemaMissing, schemaOutdated,
            schemaNewer, serviceRole, superuser, owner, schemaChanged, databaseOpen, standbys,
            impediments, keyOther, webhookKeys, noProject, projectUnreadable, silentInstance,
            unreadyInstance,
            versions, unreadStreams, intake, backup, backupTried, checkpoint, audit,
        ] + ofProjects
}
