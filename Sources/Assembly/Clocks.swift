import API
import Core
import HTTPServer
import JSON
import Ledger
import Service
import Telemetry
import Threading

/// What a command or the service goes by.
typealias Clock = @Sendable () -> Instant

extension Option {
    static let testClock = switchSetting(
        "test-clock", "needed to change what is in a database that has a test clock")
    static let serveTestClock = switchSetting(
        "test-clock",
        "go by a clock that PUT /v1/test/clock moves; the database has it for good from then on")
}

extension Database {
    /// The clock of a command over this database, which stands for as long as the command runs where it
    /// is a test's.
    func clock(of invocation: Invocation, onlyReads: Bool) throws(CommandEnd) -> Clock {
        guard let instant = try testClockInstant() else {
            if invocation.has("test-clock") { throw .noTestClock }
            return systemClock
        }
        if !onlyReads, !invocation.has("test-clock") { throw .testClockUnnamed(instant) }
        return { instant }
    }

    /// Where the database's test clock stands; `nil` when it has none.
    func testClockInstant() throws(CommandEnd) -> Instant? {
        try attempt { () throws(LedgerError) in try TestClockTable(serviceConnection).read() }
    }

    /// The clock by which `deed serve` goes, where it is a test's: it is made when it is asked for.
    func sharedClock(of invocation: Invocation, log: Log) throws(CommandEnd) -> SharedClock? {
        let table = TestClockTable(serviceConnection)
        var found = try attempt { () throws(LedgerError) in try table.read() }
        guard invocation.has("test-clock") else {
            if let found { throw .testClockUnnamed(found) }
            return nil
        }
        if found == nil {
            try requireTestable(table)
            found = try attempt { () throws(LedgerError) in
                try table.mark(at: systemClock())
                return try table.read()
            }
        }
        guard let found else { throw .noTestClock }
        log.warning(
            "test_clock",
            [
                "now": .string(found.text),
                "reason": "this database goes by a test clock and not by the machine's",
            ])
        return SharedClock(at: found, ClockPort(table))
    }

    /// The one place that decides whose time may be a test's. A store of the real world has no part in
    /// that: its customers would lose what they paid for. No app can have credentials for a store yet;
    /// when one can, an app whose store is not on a loopback address is refused here, too.
    private func requireTestable(_ table: TestClockTable) throws(CommandEnd) {
        let knowsStore = try attempt { () throws(LedgerError) in
            try table.knowsStorePurchases()
        }
        if knowsStore {
            throw .refused(
                code: "test_clock_refused",
                sentence: "This database knows purchases that a store has sold in production: it "
                    + "gets no test clock. Serve another one, with another --data-dir or "
                    + "--database-url.")
        }
    }
}

extension CommandEnd {
    fileprivate static let noTestClock = CommandEnd.refused(
        code: "test_clock_missing",
        sentence: "This database has no test clock: leave --test-clock out, or give it one with: "
            + "deed serve --test-clock")

    static func testClockUnnamed(_ instant: Instant) -> CommandEnd {
        .refused(
            code: "test_clock",
            sentence:
                "This database goes by a test clock, which stands at \(instant.text), and will "
                + "for good: add --test-clock (or DEED_TEST_CLOCK=1), or use another database.")
    }
}

extension SharedClock {
    var asClock: Clock { { self.now } }

    /// A header of every answer.
    var stamp: @Sendable () -> Header { { self.header } }
}

extension Ledger {
    /// What a watch asks for a test clock.
    var readTestClock: @Sendable () throws(Fault) -> Instant? {
        { () throws(Fault) in try self.testClock() }
    }
}

extension ClockPort {
    fileprivate init(_ table: TestClockTable) {
        self.init(
            read: { () throws(Fault) in
                try faulting { () throws(LedgerError) in try table.read() }
            },
            move: { target, from throws(Fault) in
                try faulting { () throws(LedgerError) in try table.move(to: target, from: from) }
            },
            nextDue: { instant throws(Fault) in
                try faulting { () throws(LedgerError) in try table.nextDue(after: instant) }
            })
    }
}

/// Looks again and again where other instances have moved the test clock.
final class ClockFollower: Sendable {
    /// As often as what other instances have written is looked for.
    private static let pause: Int64 = 50

    private let isStopping = Monitor(false)
    private let clock: SharedClock

    init(_ clock: SharedClock) {
        self.clock = clock
    }

    func start() {
        startThread("clock") { [isStopping, clock] in
            while isStopping.wait(milliseconds: ClockFollower.pause, for: { $0 ? () : nil }) == nil
            {
                // An unreachable database is told of by the watch.
                try? clock.follow()
            }
        }
    }

    func stop() { isStopping.change { $0 = true } }
}
