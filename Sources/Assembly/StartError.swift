import Core
import Ledger
import Postgres

/// Why a service, or another resource that a command needs, is unavailable.
package enum StartError: Error, Hashable, Sendable {
    /// Nothing is broken, but the action is not allowed.
    case refused(code: String, sentence: String)
    case fault(String)

    /// Creates the error for a URL that cannot refer to a PostgreSQL database; `nil` for any other URL. libpq would
    /// take such a string as a database's name, and would only report that the database does not exist. The message
    /// omits the URL, because it may contain a password.
    init?(foreignURL url: String) {
        let form = "Give --database-url as in postgresql://LOGIN@HOST/DATABASE."
        if let end = url.firstRange(of: "://")?.lowerBound {
            let scheme = url[..<end].lowercased()
            if scheme.contains("=") || ["postgresql", "postgres"].contains(scheme) { return nil }
            self = .refused(
                code: "not_postgresql",
                sentence:
                    "The database's URL begins with \(scheme.prefix(20))://, but Deed works with PostgreSQL "
                    + "only. \(form)")
            return
        }
        if url.contains("=") || !url.contains(where: { "/:@".contains($0) }) { return nil }
        self = .refused(
            code: "not_postgresql",
            sentence: "The database's URL does not begin with postgresql://. \(form)")
    }
}

extension LedgerError {
    /// The code for programs, if the error is a refusal.
    package var refusalCode: String? {
        switch self {
        case .schemaUnreleased: "schema_unreleased"
        case .impeded(let impediment) where impediment.kind == .outdated:
            impediment.kind.rawValue
        default: nil
        }
    }

    /// The error's message, followed by the server's own message, which the person at the terminal
    /// may see.
    package var detailed: String {
        guard case .postgres(let error) = self, !error.serverMessage.isEmpty else {
            return description
        }
        // 42501 means that the login lacks a right, most likely membership in the service's role.
        // If the login may not even connect, PostgreSQL says so only in its message.
        let isRefused =
            error.sqlState == "42501"
            || error.serverMessage.contains("permission denied for database")
        let remedy =
            isRefused
            ? ". Have the database's owner run: deed migrate --service-login <login>" : ""
        return "\(description) PostgreSQL says: \(error.serverMessage)\(remedy)"
    }
}

/// Queries the ledger at the start of a service or command. Any error ends the start-up.
func asking<Answer>(_ body: () throws(LedgerError) -> Answer) throws(StartError) -> Answer {
    do throws(LedgerError) {
        return try body()
    } catch {
        if let code = error.refusalCode {
            throw .refused(code: code, sentence: error.description)
        }
        throw .fault(error.detailed)
    }
}
