import Ledger
import Postgres

/// Why a service, or something that a command needs, is unavailable.
package enum StartError: Error, Hashable, Sendable {
    /// It works as intended, but not for this.
    case refused(code: String, sentence: String)
    case fault(String)
}

extension LedgerError {
    /// The refusal's code for programs, if it is no fault.
    package var refusalCode: String? {
        if case .schemaUnreleased = self { "schema_unreleased" } else { nil }
    }

    /// With the server's own words: the person at the terminal may see them.
    package var detailed: String {
        guard case .postgres(let error) = self, !error.serverMessage.isEmpty else {
            return description
        }
        // 42501: the login lacks the privilege, most likely membership in the service's role. If it may not
        // even connect, PostgreSQL says so in words.
        let isRefused =
            error.sqlState == "42501"
            || error.serverMessage.contains("permission denied for database")
        let remedy =
            isRefused
            ? ". Have the database's owner run: deed migrate --service-login <login>" : ""
        return "\(description) PostgreSQL says: \(error.serverMessage)\(remedy)"
    }
}

/// Asks the ledger during a start; what it throws ends the start.
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
