import Ledger
import Postgres

/// Why a service, or what a command works with, cannot be had.
package enum StartError: Error, Hashable, Sendable {
    /// It is as it should be, and not for this.
    case refused(code: String, sentence: String)
    case fault(String)
}

extension LedgerError {
    /// What it is for programs, where it is no fault.
    package var refusalCode: String? {
        if case .schemaUnreleased = self { "schema_unreleased" } else { nil }
    }

    /// With the server's own words: the person at the terminal may see them.
    package var detailed: String {
        guard case .postgres(let error) = self, !error.serverMessage.isEmpty else {
            return description
        }
        // 42501: the login lacks the privilege, most likely that of being the service. Where it may not even
        // connect, PostgreSQL says that in words.
        let isRefused =
            error.sqlState == "42501"
            || error.serverMessage.contains("permission denied for database")
        let remedy =
            isRefused
            ? ". Have the database's owner run: deed migrate --service-login <login>" : ""
        return "\(description) PostgreSQL says: \(error.serverMessage)\(remedy)"
    }
}

/// Asks the ledger at a start; what it throws ends that.
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
