import Core
import Glibc
import Ledger
import Postgres
import Telemetry

/// Writes the log for many customers with one grant each, and the projected rows, as input for COPY. The output
/// goes to three files, which may be pipes. Then prints the statement that updates the heads.
///
/// Customers are named `reader-0`, `reader-1` and so on. The first `--due` grants end at `--ends`, and the next
/// `--later` grants end a second later. Of the remaining grants, every other one lasts two years, and the
/// others never end. If `--tickets` is not 0, each grant belongs to one of that many support cases. `--people`
/// grants, evenly spread, are made with the keys of ten people. Everything is recorded within a second.
func loadCustomers(_ options: BenchOptions) -> Int32 {
    guard let url = getenv("DEED_DATABASE_URL").map({ unsafe String(cString: $0) }),
        let count = options["--customers"].flatMap(Int.init),
        let due = options["--due"].flatMap(Int.init),
        let later = options["--later"].flatMap(Int.init),
        let ends = options["--ends"].flatMap(Int64.init),
        let events = fopen(options["--events"] ?? "", "w"),
        let customers = fopen(options["--rows"] ?? "", "w"),
        let grants = fopen(options["--grants"] ?? "", "w")
    else {
        complain("see: deed-bench")
        return 2
    }
    let start = Instant(milliseconds: ends - 1000)
    func moment(_ number: Int) -> Instant {
        start.advanced(byMilliseconds: Int64(1000 * number / max(1, count)) - 1000)
    }
    let settings = LedgerSettings(
        connection: ConnectionSettings(url: url, role: nil), clock: { start })
    let ledger = Ledger(settings, log: .silent, metrics: Metrics())
    defer { ledger.close() }
    do {
        var copy = try LogCopy(ledger, ProjectID("default"), now: moment(0))
        let tickets = options["--tickets"].flatMap(Int.init) ?? 0
        let people = options["--people"].flatMap(Int.init) ?? 0
        let grant = LoadedGrant(due: due, later: later, ends: ends, tickets: tickets)
        for first in stride(from: 0, to: count, by: LoadedGrant.page) {
            // A grant that starts in the future has a boundary at its start.
            let recorded = moment(first)
            for number in first..<min(first + LoadedGrant.page, count) {
                let (given, customer) = (
                    try grant.given(number, recorded), try CustomerID("reader-\(number)")
                )
                let acts = number * people / count
                if acts < (number + 1) * people / count {
                    copy.add(given, to: customer, by: try Actor("key:k_person\(acts % 10)"))
                } else {
                    copy.add(given, to: customer)
                }
            }
            let text = copy.take(next: moment(first + LoadedGrant.page))
            try write(text.events, to: events)
            try write(text.customers, to: customers)
            try write(text.grants, to: grants)
        }
        guard [events, customers, grants].allSatisfy({ fclose($0) == 0 }) else { throw Unwritten() }
        for head in copy.heads {
            print(
                "update deed.shards set head = \(head.sequence), chain = '\\x\(head.chain)', "
                    + "recorded_at = \(head.recordedAt) where shard = \(head.shard);")
        }
        return 0
    } catch {
        complain("\(error)")
        return 3
    }
}

/// The reader of the rows stopped early.
private struct Unwritten: Error {}

private func write(_ text: String, to file: UnsafeMutablePointer<FILE>) throws {
    guard fputs(text, file) >= 0 else { throw Unwritten() }
}

/// A customer's grant, determined by the customer's number.
private struct LoadedGrant {
    static let page = 5000
    private static let years: Int64 = 2 * 365 * 86_400_000

    let due: Int
    let later: Int
    let ends: Int64
    /// The number of support cases to which the grants belong; 0 if they belong to none.
    let tickets: Int

    func given(_ number: Int, _ start: Instant) throws -> GrantGiven {
        GrantGiven(
            grant: try GrantID("g_\(number)"), entitlement: try EntitlementID("pro"),
            start: start, end: end(number), reason: try Reason("measured"),
            ticket: tickets > 0 ? try Ticket("T-\(number % tickets)") : nil)
    }

    private func end(_ number: Int) -> Instant? {
        if number < due { return Instant(milliseconds: ends) }
        if number < due + later { return Instant(milliseconds: ends + 1000) }
        return number.isMultiple(of: 2)
            ? Instant(milliseconds: ends + LoadedGrant.years) : nil
    }
}
