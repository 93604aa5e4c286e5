package import Core
import HTTPServer
import JSON
import Ledger
import Postgres
package import Service
package import Telemetry

extension Database {
    /// Returns the clock for a command that uses this database. A test clock does not move while the command runs. A
    /// command that changes something may use a test clock only if `isForTests` is true.
    package func clock(onlyReads: Bool, isForTests: Bool) throws(StartError) -> Clock {
        guard let instant = try testClockInstant() else {
            if isForTests { throw .noTestClock }
            return systemClock
        }
        if !onlyReads, !isForTests { throw .testClockUnnamed(instant) }
        return { instant }
    }

    /// Returns the time of the database's test clock, or `nil` if it has none.
    package func testClockInstant() throws(StartError) -> Instant? {
        try asking { () throws(LedgerError) in try TestClockTable(serviceConnection).read() }
    }

    /// Returns the test clock for `deed serve`, if the service uses one. Creates a missing test clock if the command
    /// `mayMark` the database permanently.
    package func sharedClock(isForTests: Bool, mayMark: Bool, log: Log) throws(StartError)
        -> SharedClock?
    {
        let table = TestClockTable(serviceConnection)
        var found = try asking { () throws(LedgerError) in try table.read() }
        guard isForTests else {
            if let found { throw .testClockUnnamed(found) }
            return nil
        }
        if found == nil {
            if !mayMark { throw .testClockOnlyByFlag }
            try markForTests()
            found = try asking { () throws(LedgerError) in try table.read() }
        }
        guard let found else { throw .noTestClock }
        log.warning(
            "test_clock",
            [
                "now": .string(found.text),
                "reason": "this database follows a test clock, not the machine's clock",
            ])
        return SharedClock(at: found, table)
    }

    /// Gives the database a test clock, which only the database's owner can do. A database with production customers
    /// never gets one, because the customers would lose what they have paid for or were given. A database with
    /// production store credentials never gets one, because a test clock would make the credentials unusable.
    private func markForTests() throws(StartError) {
        do throws(LedgerError) {
            try TestClockTable(connection(role: nil)).mark(at: systemClock())
        } catch {
            throw StartError(markingFor: error) ?? .fault(error.detailed)
        }
    }
}

extension StartError {
    /// Creates the reason why a database cannot get a test clock; `nil` if the error has a different cause.
    fileprivate init?(markingFor error: LedgerError) {
        guard case .postgres(let reason) = error else { return nil }
        let sentence: String
        switch reason.sqlState {
        // The login lacks the required right.
        case "42501":
            sentence =
                "Only the schema's owner may give a database a test clock. Start Deed once with the login for deed "
                + "migrate: deed serve --test-clock --database-url postgresql://OWNER@HOST/DATABASE. The "
                + "service's own login then serves it."
        case "DD007":
            sentence =
                "This database has customers in production, so it cannot have a test clock. Serve "
                + "another database, with another --data-dir or --database-url."
        case "DD008":
            sentence =
                "An app in this database has credentials for a real store, so the database cannot "
                + "have a test clock. Serve another database, or give the app a store on this "
                + "machine: deed app set --store-url"
        default: return nil
        }
        self = .refused(code: "test_clock_refused", sentence: sentence)
    }

    fileprivate static let noTestClock = StartError.refused(
        code: "test_clock_missing",
        sentence: "This database has no test clock: leave --test-clock out, or give it one with: "
            + "deed serve --test-clock")

    fileprivate static let testClockOnlyByFlag = StartError.refused(
        code: "test_clock_missing",
        sentence:
            "DEED_TEST_CLOCK is set, but this database has no test clock. Unset the variable, or "
            + "give the database a permanent test clock with: deed serve --test-clock")

    static func testClockUnnamed(_ instant: Instant) -> StartError {
        .refused(
            code: "test_clock",
            sentence:
                "This database permanently follows a test clock, which shows \(instant.text). "
                + "Add --test-clock (or DEED_TEST_CLOCK=1), or use another database.")
    }
}

extension TestClockTable: ClockPlace {}
