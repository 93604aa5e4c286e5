import Core
import Histories
import Testing

/// Tests the published boundaries of access. Days count from 1 January, and a look does the work of the job.
@Suite("Boundaries of access")
struct BoundaryTests {
    enum Step {
        case look(Int64)
        case pass(Int64, TransactionFact)
        case renewal(Int64, RenewalFact)
        case grant(Int64, from: Int64, to: Int64?)
        case catalog(Int64, Catalog)
    }

    struct Example: CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        let published: [String]

        init(_ description: String, _ steps: [Step], _ published: [String]) {
            testDescription = description
            self.steps = steps
            self.published = published
        }
    }

    private static func month(_ name: String, _ start: Int64, _ end: Int64) -> TransactionFact {
        transaction(name, of: "m1", "pro", .autoRenewable, at(start), to: at(end))
    }

    private static func pass(_ start: Int64) -> TransactionFact {
        transaction("p\(start)", "pass", .nonRenewing, at(start))
    }

    private static let solo = catalog([
        product("solo", .autoRenewable(group: "solo", level: 1), ["solo"])
    ])

    private static func selling(
        _ entitlements: [String], lasting days: Int64 = 30, endingSoon: String? = nil
    ) -> Catalog {
        var draft = CatalogDraft()
        draft.products = [
            product(
                "pass", .nonRenewing(duration: .days(days), stacking: .overlap), entitlements),
            product("pro", .autoRenewable(group: "membership", level: 2), ["pro"]),
        ]
        draft.endingSoon = ["pass": "pass", "pro": "pro"].reduce(into: [:]) {
            $0[id($1.key)] = endingSoon.map { duration($0) }
        }
        guard let catalog = try? draft.validated() else { preconditionFailure("no catalog") }
        return catalog
    }

    static let examples = [
        Example(
            "A season ends once, at its instant, whenever the job looks",
            [.pass(1, pass(1)), .look(20), .look(31), .look(40), .look(90)], ["ended pass 31"]),
        Example(
            "A purchase tells its own start", [.pass(1, pass(1)), .look(2)], []),
        Example(
            "A grant that begins later starts by the clock",
            [.grant(0, from: 5, to: 9), .look(4), .look(6), .look(9)],
            ["started vip 5", "ended vip 9"]),
        Example(
            "What begins and ends between two looks is published in order",
            [.grant(0, from: 5, to: 9), .look(30)], ["started vip 5", "ended vip 9"]),
        Example(
            "A right that ended before it was recorded publishes nothing",
            [.pass(40, pass(1)), .look(50)], []),
        Example(
            "A right that began before it was recorded publishes its end only",
            [.pass(20, pass(1)), .look(50)], ["ended pass 31"]),
        Example(
            "A renewal in time keeps the end from coming",
            [.pass(1, month("m1", 1, 31)), .pass(30, month("m2", 31, 61)), .look(40)], []),
        Example(
            "A renewal that comes late starts again what was published as ended",
            [
                .pass(1, month("m1", 1, 31)), .look(31), .pass(33, month("m2", 31, 61)),
                .look(70),
            ],
            [
                "ended ad_free 31", "ended pro 31", "started ad_free 31", "started pro 31",
                "ended ad_free 61", "ended pro 61",
            ]),
        Example(
            "A late renewal after a gap starts again when its period began",
            [.pass(1, pass(1)), .look(31), .pass(40, pass(35)), .look(41)],
            ["ended pass 31", "started pass 35"]),
        Example(
            "What the job did not come to is published before a fact that comes later",
            [.pass(1, pass(1)), .pass(40, month("m1", 39, 69))], ["ended pass 31"]),
        Example(
            "A refund tells the end itself",
            [
                .pass(1, pass(1)),
                .pass(
                    10,
                    transaction("p1", "pass", .nonRenewing, at(1), signed: at(10)) {
                        $0.revocation = refund(at: at(10))
                    }), .look(60),
            ], []),
        Example(
            "Of two sources the last end counts",
            [.pass(1, pass(1)), .pass(5, pass(5)), .look(32), .look(40)], ["ended pass 35"]),
        Example(
            "A new catalog that lengthens a season moves its end",
            [
                .catalog(0, selling(["pass"])), .pass(1, pass(1)),
                .catalog(20, selling(["pass"], lasting: 60)), .look(70),
            ], ["ended pass 61"]),
        Example(
            "A new catalog that shortens a season ends it when it counts",
            [
                .catalog(0, selling(["pass"])), .pass(1, pass(1)),
                .catalog(20, selling(["pass"], lasting: 10)), .look(70),
            ], ["ended pass 20"]),
        Example(
            "A new catalog starts what it adds and ends what it takes away",
            [
                .catalog(0, selling(["pass"])), .pass(1, pass(1)),
                .catalog(20, selling(["vip"])), .look(70),
            ], ["ended pass 20", "started vip 20", "ended vip 31"]),
        Example(
            "What ended before a catalog came ends by the one before",
            [
                .catalog(0, selling(["pass"])), .pass(1, pass(1)),
                .catalog(40, selling(["pass"], lasting: 60)), .look(70),
            ], ["ended pass 31", "started pass 40", "ended pass 61"]),
        Example(
            "The reminder of a season comes as long before its end as the catalog says",
            [
                .catalog(0, selling(["pass"], endingSoon: "P3D")), .pass(1, pass(1)), .look(27),
                .look(28), .look(29), .look(31),
            ], ["ending_soon pass 28", "ended pass 31"]),
        Example(
            "A season that is no longer than the reminder has none",
            [
                .catalog(0, selling(["pass"], lasting: 3, endingSoon: "P3D")), .pass(1, pass(1)),
                .look(31),
            ], ["ended pass 4"]),
        Example(
            "A subscription that will renew has no reminder",
            [
                .catalog(0, selling(["pass"], endingSoon: "P3D")), .pass(1, month("m1", 1, 31)),
                .look(31),
            ], ["ended pro 31"]),
        Example(
            "A subscription that was cancelled has one",
            [
                .catalog(0, selling(["pass"], endingSoon: "P3D")), .pass(1, month("m1", 1, 31)),
                .renewal(5, renewal(of: "m1", signed: at(5), on: false)), .look(31),
            ], ["ending_soon pro 28", "ended pro 31"]),
        Example(
            "One that was cancelled after the reminder's day tells that itself",
            [
                .catalog(0, selling(["pass"], endingSoon: "P3D")), .pass(1, month("m1", 1, 31)),
                .renewal(29, renewal(of: "m1", signed: at(29), on: false)), .look(31),
            ], ["ended pro 31"]),
    ]

    @Test("The notices of a life", arguments: examples)
    func published(example: Example) {
        var life = PublishedLife()
        for step in example.steps { life.take(step) }
        #expect(life.notices == example.published)
    }

    @Test("None of a project's boundaries is lost, even if nothing checked for long")
    func firstLook() {
        var life = PublishedLife()
        life.take(.pass(1, Self.pass(1)))
        life.look(at: at(400))
        #expect(life.notices == ["ended pass 31"])
        #expect(life.customer.openEditions(of: ProjectState()).isEmpty)
    }

    @Test("A notice carries the answer that reads give from its boundary on")
    func answer() throws {
        var life = PublishedLife()
        life.take(.pass(1, Self.month("m1", 1, 31)))
        life.look(at: at(40))
        let notice = try #require(life.events.last?.event.accessNotice)
        let read = try #require(
            life.customer.entitlements(at: notice.at, catalog: shop)[notice.entitlement])
        #expect(notice.answer == AccessAnswer(read))
        #expect(notice.answer.isActive == false)
        #expect(life.events.last?.occurredAt == at(31))
    }

    /// The days on which events are published, and whether `access.started` corrects an earlier `access.ended`.
    static let corrections: [(name: String, steps: [Step], isCorrection: Bool)] = [
        (
            "A renewal that is told late",
            [.pass(1, month("m1", 1, 31)), .look(31), .pass(33, month("m2", 31, 61))], true
        ),
        (
            "A failed payment with grace that is told after the end",
            [
                .pass(1, month("m1", 1, 31)), .look(31),
                .renewal(
                    32,
                    renewal(of: "m1", signed: at(31)) {
                        $0.isInBillingRetry = true
                        $0.graceUntil = at(47)
                    }),
            ], true
        ),
        (
            "The end and its correction in one commit",
            [.pass(1, month("m1", 1, 31)), .pass(33, month("m2", 31, 61))], true
        ),
        (
            "A purchase after a gap",
            [.pass(1, month("m1", 1, 31)), .look(31), .pass(40, month("m2", 35, 65))], false
        ),
        (
            "A payment that is recovered after a gap",
            [
                .pass(1, month("m1", 1, 31)), .look(31),
                .renewal(32, renewal(of: "m1", signed: at(31)) { $0.isInBillingRetry = true }),
                .pass(34, month("m2", 34, 64)),
            ], false
        ),
    ]

    @Test(
        "Access that continues without a gap names the end it takes back", arguments: corrections
    )
    func corrects(_ example: (name: String, steps: [Step], isCorrection: Bool)) throws {
        var life = PublishedLife()
        for step in example.steps { life.take(step) }
        let starts = life.events.compactMap { recorded in
            if case .accessStarted(let notice) = recorded.event { notice } else { nil }
        }
        #expect(starts.map(\.entitlement) == [id("ad_free"), id("pro")])
        for start in starts {
            let end = try #require(
                life.events.first {
                    if case .accessEnded(let notice) = $0.event {
                        notice.entitlement == start.entitlement
                    } else {
                        false
                    }
                })
            #expect(start.corrects == (example.isCorrection ? end.position : nil))
            #expect((start.at == end.event.accessNotice?.at) == example.isCorrection)
        }
    }

    @Test("A catalog that removes an entitlement publishes the answer from then on")
    func goneAnswer() throws {
        var life = PublishedLife(catalog: Self.selling(["pass"]))
        life.take(.pass(1, Self.pass(1)))
        life.apply(Self.selling(["vip"]), at: at(20))
        life.look(at: at(21))
        let notice = try #require(life.events.compactMap(\.event.accessNotice).first)
        #expect(
            life.customer.entitlements(at: at(20), catalog: Self.selling(["vip"]))[id("pass")]
                == nil)
        #expect(notice.entitlement == id("pass"))
        #expect(notice.answer == AccessAnswer.none)
    }

    /// The naive model tries every moment that a fact names.
    @Test("Random lives publish what the naive model sees change between two steps")
    func randomLives() {
        let first = ConvergenceTests.firstSeed
        for seed in first..<first + 400 {
            let history = RandomHistory(seed: seed).facts
            var random = SeededGenerator(seed: seed)
            var naive = NaivePublisher()
            var life = PublishedLife(catalog: bazaar)
            var (now, known): (Int64, [AnyFact]) = (at(0).milliseconds, [])
            for fact in history.shuffled(using: &random) {
                now += random.number(0...3 * day)
                let isLook = random.chance(40)
                naive.step(NaiveModel(products: naiveBazaar, facts: AnyFact.facts(known)), to: now)
                if isLook { life.look(at: Instant(milliseconds: now)) }
                known.append(fact)
                let before = life.events.count
                life.record(AnyFact.facts([fact]), at: Instant(milliseconds: now))
                if life.events.count > before {
                    naive.regain(NaiveModel(products: naiveBazaar, facts: AnyFact.facts(known)))
                }
            }
            now += 400 * day
            naive.step(NaiveModel(products: naiveBazaar, facts: AnyFact.facts(known)), to: now)
            life.look(at: Instant(milliseconds: now))
            let published = life.notices
            life.expectCorrections("seed \(seed)")
            #expect(published == naive.published, "seed \(seed)")
            if published != naive.published { return }
        }
    }
}

extension PublishedLife {
    /// Expects a start to correct the last end of the same entitlement exactly if both have the same instant.
    fileprivate func expectCorrections(_ comment: Comment) {
        var ends: [EntitlementID: RecordedEvent] = [:]
        for recorded in events {
            switch recorded.event {
            case .accessEnded(let notice): ends[notice.entitlement] = recorded
            case .accessStarted(let notice):
                let end = ends.removeValue(forKey: notice.entitlement)
                let isCorrection = end?.event.accessNotice?.at == notice.at
                #expect(notice.corrects == (isCorrection ? end?.position : nil), comment)
            default: break
            }
        }
    }

    fileprivate mutating func take(_ step: BoundaryTests.Step) {
        switch step {
        case .look(let day): look(at: at(day))
        case .pass(let day, let fact): record(facts([fact]), at: at(day))
        case .renewal(let day, let fact): record(facts(renewals: [fact]), at: at(day))
        case .catalog(let day, let catalog): apply(catalog, at: at(day))
        case .grant(let day, let start, let end):
            let given = GrantGiven(
                grant: id("g\(day)"), entitlement: id("vip"), start: at(start),
                end: end.map { at($0) }, reason: id("test"), ticket: nil)
            append([.grantGiven(given)], at: at(day))
        }
    }
}

extension Event {
    fileprivate var accessNotice: AccessNotice? {
        switch self {
        case .accessStarted(let notice), .accessEnded(let notice), .accessEndingSoon(let notice):
            notice
        default: nil
        }
    }
}

/// Computes the changes between two moments from what is known between them.
private struct NaivePublisher {
    private(set) var published: [String] = []
    private var now = at(0).milliseconds
    private var ended: [String: Int64] = [:]

    mutating func step(_ model: NaiveModel, to end: Int64) {
        var changes: [(at: Int64, isStart: Bool, name: String)] = []
        for (name, timeline) in NaiveModel.timelines(model.sources()) {
            changes += timeline.starts.filter { now < $0 && $0 <= end }.map { ($0, true, name) }
            changes += timeline.ends.filter { now < $0 && $0 <= end }.map { ($0, false, name) }
        }
        changes.sort { ($0.at, $0.isStart ? 1 : 0, $0.name) < ($1.at, $1.isStart ? 1 : 0, $1.name) }
        for change in changes {
            ended[change.name] = change.isStart ? nil : change.at
            note(change.isStart, change.name, change.at)
        }
        now = end
    }

    mutating func regain(_ model: NaiveModel) {
        let timelines = NaiveModel.timelines(model.sources())
        for (name, end) in ended.sorted(by: { $0.key < $1.key }) {
            guard let timeline = timelines[name],
                NaiveModel.answer(timeline, at: now).isActive
            else { continue }
            ended[name] = nil
            note(true, name, max(end, timeline.starts.last { $0 <= now } ?? end))
        }
    }

    private mutating func note(_ isStart: Bool, _ name: String, _ moment: Int64) {
        let days = PublishedLife.days(Instant(milliseconds: moment))
        published.append("\(isStart ? "started" : "ended") \(name) \(days)")
    }
}
