import Core
import Ledger
import Postgres
import SQL
import TestSupport
import Testing

@Suite("The queue of evidence over a connection that loses commits")
struct IntakeLossTests {
    private let database: ScratchDatabase
    private let proxy: PostgresProxy
    private let ledger: Ledger
    private let start = Instant(milliseconds: 1_795_202_460_000)
    private static let reason = IntakeReason(code: "later", sentence: "Not now.")
    private static let refusal = RefusedEvidence(
        code: reason.code, sentence: reason.sentence)

    init() throws {
        database = try ScratchDatabase()
        proxy = try PostgresProxy(database.url)
        let url = proxy.url
        ledger = database.ledger(change: { $0.connection.url = url })
    }

    private func add(_ number: Int) throws -> IntakeItem {
        try #require(try ledger.addIntake(.test(number, at: start), [1]))
    }

    private func revision() throws -> Int64 {
        try database.number("select sum(revision)::bigint from deed.intake")
    }

    private func act() throws -> AdminAct {
        AdminAct(actor: try Actor("key:k1"), reason: try Reason("by hand"), ticket: nil)
    }

    @Test("An item is added once", arguments: PostgresProxy.Loss.allCases)
    func added(_ loss: PostgresProxy.Loss) throws {
        proxy.lose(loss, of: .addIntake)
        #expect(try add(1).id.text == "i_1")
        #expect(proxy.left == 0)
        #expect(try database.number("select count(*) from deed.intake") == 1)
    }

    @Test("An item that a worker ends before the second attempt is found, and not added again")
    func ended() throws {
        // Ends the item as soon as it exists, so that the second attempt always comes later.
        try database.run(
            """
            create function deed.end_at_once() returns trigger language plpgsql as $$ begin
                new.state := 'refused';
                new.tries := 1;
                new.code := 'later';
                new.sentence := 'Not now.';
                return new;
            end $$;
            create trigger end_at_once before insert on deed.intake
                for each row execute function deed.end_at_once()
            """)
        proxy.lose(.reply, of: .addIntake)
        let item = try add(1)
        #expect(proxy.left == 0)
        #expect(item.id.text == "i_1" && item.state.word == .refused)
        #expect(try database.number("select count(*) from deed.intake") == 1)
    }

    @Test(
        "A change is made once, and its author knows", arguments: PostgresProxy.Loss.allCases)
    func changed(_ loss: PostgresProxy.Loss) throws {
        let item = try add(1)
        let verdicts = [
            item.judged(.tryAgain(Self.reason), now: start, jitter: 0),
            item.judged(.refused(Self.refusal), now: start, jitter: 0),
            item.judged(.believed([]), now: start, jitter: 0),
            try item.decided(.settle, by: act(), now: start),
            try item.decided(.drop, by: act(), now: start),
            try item.decided(.retry, by: act(), now: start),
        ]
        for verdict in verdicts {
            try database.run("update deed.intake set revision = 0, state = 'waiting'")
            proxy.lose(loss, of: .changeIntake)
            #expect(try ledger.changeIntake(verdict), "\(verdict.state)")
            #expect(proxy.left == 0)
            #expect(try revision() == 1, "\(verdict.state)")
        }
    }

    @Test("Someone else's change to the same item is not mistaken for one's own")
    func othersChange() throws {
        let item = try add(1)
        let ended = item.judged(.refused(Self.refusal), now: start, jitter: 0)
        #expect(try ledger.changeIntake(ended))
        let later = start.advanced(byMilliseconds: 1)
        let others = [
            item.judged(.tryAgain(Self.reason), now: start, jitter: 0),
            item.judged(.refused(Self.refusal), now: later, jitter: 0),
            item.judged(
                .refused(RefusedEvidence(code: "other", sentence: "Not now.")), now: start,
                jitter: 0),
            item.judged(.believed([]), now: start, jitter: 0),
            try item.decided(.settle, by: act(), now: start),
        ]
        for other in others { #expect(try !ledger.changeIntake(other), "\(other.state)") }
        #expect(try revision() == 1)
    }

    @Test("An item whose taking was lost comes back", arguments: PostgresProxy.Loss.allCases)
    func taken(_ loss: PostgresProxy.Loss) throws {
        for number in 1...2 { _ = try add(number) }
        proxy.lose(loss, of: .takeIntake)
        var taken: [String] = []
        while let next = try ledger.takeIntake(now: start) { taken.append(next.item.id.text) }
        let later = start.advanced(byMilliseconds: 300_000)
        while let next = try ledger.takeIntake(now: later) { taken.append(next.item.id.text) }
        #expect(proxy.left == 0)
        #expect(Set(taken) == ["i_1", "i_2"])
    }
}
