import Core
import Evidence
import JSON
import Practice
import Testing

@Suite("Notifications of the practice store", .timeLimit(.minutes(20)))
struct DeliveryTests {
    private let hour: Int64 = 3_600_000

    private func makeWorld(_ change: (inout Shop) -> Void = { _ in }) -> PracticeWorld {
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:1/notifications"
        change(&shop)
        return PracticeWorld(shop, from: opening, seed: 7)
    }

    private func buy(_ store: PracticeStore) throws {
        _ = try store.perform(Step(.buy, customer: "u1", product: "pro.month"))
    }

    @Test("A refused notification is tried after 1, 12, 24, 48 and 72 hours, and no more")
    func production() throws {
        let practised = PractisedStore(makeWorld(), answers: ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"])
        try buy(practised.store)
        try practised.store.advance(to: opening.days(20))
        let hours = practised.store.read { world in
            world.postings[0].attempts.map { ($0.at.milliseconds - opening.milliseconds) / hour }
        }
        #expect(hours == [0, 1, 13, 37, 85, 157])
        let bodies = practised.posts.prefix(6).map(\.body)
        let names = try bodies.map { body in
            try payload(of: JSON.read(body)["signedPayload"]?.string ?? "")["notificationUUID"]
        }
        #expect(bodies.count == 6)
        #expect(Set(names).count == 1)
    }

    @Test("An accepted notification is not sent again")
    func taken() throws {
        let practised = PractisedStore(makeWorld(), answers: ["TIMED_OUT", "SUCCESS"])
        try buy(practised.store)
        try practised.store.advance(to: opening.days(20))
        let results = practised.store.read { $0.postings[0].attempts.map(\.result) }
        #expect(results == ["TIMED_OUT", "SUCCESS"])
    }

    @Test("A sandbox tries each notification once")
    func sandbox() throws {
        let world = makeWorld { $0.app.retries = .sandbox }
        let practised = PractisedStore(world, answers: ["TIMED_OUT"])
        try buy(practised.store)
        try practised.store.advance(to: opening.days(20))
        #expect(practised.posts.count == 1)
    }

    @Test("A store without an address for notifications posts none")
    func nowhere() throws {
        let practised = PractisedStore(makeWorld { $0.app.notificationURL = nil })
        try buy(practised.store)
        try practised.store.advance(to: opening.days(40))
        #expect(practised.posts.isEmpty)
        #expect(practised.store.read { $0.postings.map(\.type) } == ["SUBSCRIBED", "DID_RENEW"])
    }

    @Test("Dropped notifications never arrive, and repeated ones arrive twice")
    func dropAndRepeat() throws {
        let lossy = PractisedStore(makeWorld())
        try lossy.store.suffer(#"{"drop":1,"seed":1}"#)
        try buy(lossy.store)
        try lossy.store.advance(to: opening.days(30))
        #expect(lossy.posts.isEmpty)
        let eager = PractisedStore(makeWorld())
        try eager.store.suffer(#"{"repeat":1,"seed":1}"#)
        try buy(eager.store)
        #expect(eager.posts.count == 2)
        #expect(eager.store.read { $0.postings.count } == 1)
    }

    @Test("Trouble with notifications does not depend on the calls between them")
    func independent() throws {
        func results(callsBetween: Bool) throws -> [[String]] {
            let served = try ServedStore()
            try served.store.suffer(
                #"{"drop":0.5,"internal_error":0.5,"slow":0.1,"slow_ms":1,"seed":3}"#)
            for number in 0..<12 {
                _ = try served.buy("coins.100", "u\(number)")
                if callsBetween { _ = try served.ask("GET", "/inApps/v1/transactions/1") }
            }
            return served.store.read { $0.postings.map { $0.attempts.map(\.result) } }
        }
        let alone = try results(callsBetween: false)
        #expect(Set(alone).count == 2)
        #expect(try results(callsBetween: true) == alone)
    }

    @Test("Trouble occurs at about its rate, and in the same places with the same seed")
    func rate() throws {
        func dropped() throws -> [Int] {
            let practised = PractisedStore(makeWorld())
            try practised.store.suffer(#"{"drop":0.3,"seed":5}"#)
            for number in 0..<300 {
                _ = try practised.store.perform(
                    Step(.buy, customer: "u\(number)", product: "coins.100"))
            }
            return practised.store.read { world in
                world.postings.indices.filter {
                    world.postings[$0].attempts.last?.result == "NO_RESPONSE"
                }
            }
        }
        let first = try dropped()
        #expect((60...120).contains(first.count))
        #expect(try dropped() == first)
    }

    @Test("Shuffled notifications come late and out of order, each once")
    func shuffled() throws {
        let practised = PractisedStore(makeWorld())
        try practised.store.suffer(#"{"shuffle":1,"delay_by":"1d","seed":3}"#)
        for number in 0..<20 {
            _ = try practised.store.perform(
                Step(.buy, customer: "u\(number)", product: "coins.100"))
        }
        try practised.store.advance(to: opening.days(2))
        let dates = try practised.posts.map { post in
            try payload(of: JSON.read(post.body)["signedPayload"]?.string ?? "")["signedDate"]?
                .integer ?? 0
        }
        #expect(dates.count == 20)
        #expect(dates != dates.sorted())
    }

    @Test("A spoiled notification is refused, and its next attempt is believed")
    func spoiled() throws {
        let practised = PractisedStore(
            makeWorld(), answers: ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
        try practised.store.suffer(#"{"wrong_signature":1,"seed":3}"#)
        try buy(practised.store)
        try practised.store.advance(to: opening.days(1))
        var judge = try Judge()
        #expect(practised.posts.count == 2)
        #expect(throws: (any Error).self) {
            try judge.take(practised.posts[0].body, .notification, at: opening.days(1))
        }
        try judge.take(practised.posts[1].body, .notification, at: opening.days(1))
        #expect(judge.state.purchases.count == 1)
    }

    @Test("A store whose clock is ahead signs in the future")
    func skew() throws {
        let practised = PractisedStore(makeWorld())
        try practised.store.suffer(#"{"skew_seconds":3600}"#)
        let given = try practised.store.perform(
            Step(.buy, customer: "u1", product: "pro.month"))
        let signed = try #require(given.signedTransaction)
        let date = try payload(of: signed)["signedDate"]?.integer ?? 0
        let now = practised.store.read { $0.now }
        #expect(date == now.milliseconds + hour)
    }
}
