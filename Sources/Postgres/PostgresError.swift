/// Why PostgreSQL did not do what it was asked.
///
/// The description never repeats values: the server's own words, which may, are kept apart.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// No connection, or it broke: what was under way may or may not have been done.
        case connection
        /// The server answers, and is not the one to work with.
        case unwanted
        /// The server refused a statement.
        case statement
        /// No connection of the pool came free in time.
        case exhausted
        /// The server answered something that the reader did not expect.
        case unexpected
    }
    package let kind: Kind
    /// The five characters with which PostgreSQL names the reason, if it gave one.
    package let sqlState: String?
    /// The constraint that was violated, when one was.
    package let constraint: String?
    package let serverMessage: String

    package init(
        _ kind: Kind, sqlState: String? = nil, constraint: String? = nil, serverMessage: String
    ) {
        self.kind = kind
        self.sqlState = sqlState
        self.constraint = constraint
        self.serverMessage = serverMessage
    }

    static let silence = "the server has fallen silent"

    /// Whether the server answered nothing for too long.
    package var isSilence: Bool { kind == .connection && serverMessage == PostgresError.silence }

    /// Whether the server to work with has said something. When it refuses a session, libpq has no more than
    /// its words, where its severity is not translated.
    package var isAnswer: Bool {
        switch kind {
        case .statement, .unexpected: true
        case .connection: serverMessage.contains("FATAL:")
        case .unwanted, .exhausted: false
        }
    }

    /// Whether there is no room on the server's disk.
    package var isLackOfRoom: Bool { sqlState == "53100" }

    package var description: String {
        switch kind {
        case .connection:
            "PostgreSQL cannot be reached; check that it runs and that DEED_DATABASE_URL is right."
        case .unwanted: serverMessage
        case .exhausted:
            "Every connection to PostgreSQL is busy; try again, or raise the pool's size."
        case .statement:
            "PostgreSQL refused a statement"
                + (sqlState.map { " with SQLSTATE \($0)" } ?? "")
                + (constraint.map { " for the constraint \($0)" } ?? "") + "."
        case .unexpected:
            "PostgreSQL gave an answer of an unexpected shape; check that the schema is Deed's own."
        }
    }
}
