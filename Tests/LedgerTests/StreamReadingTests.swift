import Core
import Postgres
import SQL
import TestSupport
import Testing

@testable import Ledger

@Suite("Reading streams")
struct StreamReadingTests {
    @Test("Only the first row of a stream states the shard's end completely")
    func chainOnce() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        for number in 0..<5 {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(number)"))
        }
        var connection = try Connection.open(database.settings())
        for (known, rowCount) in [(Int64(0), 5), (3, 2), (5, 1)] {
            let call = Call(
                statement: .readStreams,
                binds: [
                    .int2s([stream.shard.number]), .texts([stream.project.text]),
                    .texts([stream.environment.rawValue]), .texts([stream.customer.text]),
                    .int8s([known]), .int8s([0]), .int2(nil),
                ])
            try connection.run([call]) { _, rows in
                #expect(rows.count == rowCount)
                let chains = (0..<rows.count).map { rows.isNull($0, 17) ? 0 : 1 }
                #expect(chains == [1] + [Int](repeating: 0, count: rowCount - 1), "\(known)")
            }
        }
    }

    @Test("The log gets a limited number of lines a minute, however many streams cannot be read")
    func manyUnread() {
        let lines = LoggedLines()
        let unread = UnreadStreams(log: lines.log)
        let fault = LedgerError.unreadable("a test").fault
        for _ in 0..<3 {
            for number in 0..<3000 {
                unread.note(UnreadSubject("p", "mars", "u\(number)", row: "customers"), fault)
            }
        }
        unread.note(UnreadSubject("p", "mars", "u", row: "customers"), .unavailable)
        #expect(unread.count == 1000 && unread.list.count == 1000)
        #expect(lines.all.count == 1000)
        #expect(lines.all[0].contains(#""row":"customers""#))
    }
}
