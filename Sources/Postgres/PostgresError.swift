/// Why PostgreSQL did not carry out a request.
///
/// The description never contains any values. The server's own message may contain some, so it is kept separately.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// No connection exists, or it broke. Work that was in progress may or may not have been done.
        case connection
        /// The server answers but is not the right one.
        case unwanted
        /// The server refused a statement.
        case statement
        /// No connection in the pool became available in time.
        case exhausted
        /// The server's answer was unexpected.
        case unexpected
    }
    package let kind: Kind
    /// PostgreSQL's five-character code for the reason, if it gave one.
    package let sqlState: String?
    /// The table that the error concerns, if the server names it.
    package let relation: String?
    /// The violated constraint, if any.
    package let constraint: String?
    package let serverMessage: String
    /// The reason for which the caller rejected the server.
    package let cause: (any Error)?

    package init(
        _ kind: Kind, sqlState: String? = nil, relation: String? = nil, constraint: String? = nil,
        serverMessage: String, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.sqlState = sqlState
        self.relation = relation
        self.constraint = constraint
        self.serverMessage = serverMessage
        self.cause = cause
    }

    static let silence = "the server has fallen silent"

    /// Whether the server was silent for too long.
    package var isSilence: Bool { kind == .connection && serverMessage == PostgresError.silence }

    /// Whether the server answered at all. When a server refuses a session, libpq provides only the
    /// text of the message, in which the severity is not translated.
    package var isAnswer: Bool {
        switch kind {
        case .statement, .unexpected: true
        case .connection: serverMessage.contains("FATAL:")
        case .unwanted, .exhausted: false
        }
    }

    /// Whether the server's disk is full.
    package var isLackOfRoom: Bool { sqlState == "53100" }

    /// Whether the server does not accept writes in this session.
    package var isReadOnly: Bool { sqlState == "25006" }

    /// Whether the server's message is about a missing or inaccessible object in the schema, and
    /// therefore contains no values.
    private var namesAnObject: Bool {
        ["42501", "42P01", "42703", "42883"].contains(sqlState) && !serverMessage.isEmpty
    }

    package var description: String {
        switch kind {
        case .connection:
            "PostgreSQL cannot be reached; check that it is running and that DEED_DATABASE_URL is right."
        case .unwanted: serverMessage
        case .exhausted:
            "Every connection to PostgreSQL is busy; try again, or raise the pool's size."
        case .statement:
            "PostgreSQL refused a statement"
                + (sqlState.map { " with SQLSTATE \($0)" } ?? "")
                + (constraint.map { " for the constraint \($0)" } ?? "")
                + (relation.map { " in the table \($0)" } ?? "")
                + (namesAnObject ? ": \(serverMessage)" : "") + "."
        case .unexpected:
            "PostgreSQL's answer has an unexpected shape; check that the schema is Deed's own."
        }
    }
}
