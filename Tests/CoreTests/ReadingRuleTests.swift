import Core
import Histories
import Testing

/// Tests the meaning of Google's answers, by the rows of a sheet of its states. Days count from 1 January 2026.
@Suite("What a store's readings mean")
struct ReadingRuleTests {
    private static func row(
        _ name: String, _ entitlement: String, _ readings: [TransactionFact],
        _ boundaries: [Boundary]
    ) -> WorkedExample {
        WorkedExample(
            name, entitlement, readings.map { facts([$0]) }, boundaries, catalog: playShop)
    }

    private static func pro(
        to end: Int64, _ order: String = "GPA.1", renews: Bool = true,
        _ change: (inout Reading.Item) -> Void = { _ in }
    ) -> Reading.Item { playItem("pro", order, to: at(end), renews: renews, change) }

    /// A month that was bought on the first day.
    private static let bought = playReading(.active, at: at(0), [pro(to: 30)], mark: "a")

    private static func ended(_ ending: Reading.Ending?) -> (inout Reading) -> Void {
        { $0.ending = ending }
    }

    static let states: [WorkedExample] = [
        row(
            "ACTIVE gives access until the expiry", "pro", [bought],
            [
                Boundary(at(0), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        row(
            "A silent retry moves the expiry and stays ACTIVE", "pro",
            [bought, playReading(.active, at: at(30), [pro(to: 31)], mark: "b")],
            [
                Boundary(at(30), "yes active 5.0", "yes active 5.0"),
                Boundary(at(31), "yes active 5.0", "no expired 0.0"),
            ]),
        row(
            "IN_GRACE_PERIOD goes on, and its end moves", "pro",
            [
                bought, playReading(.grace, at: at(31), [pro(to: 34)], mark: "b"),
                playReading(.grace, at: at(33), [pro(to: 37)], mark: "c"),
            ],
            [
                Boundary(at(30), "yes active 5.0", "yes grace 1.0"),
                Boundary(at(34), "yes grace 1.0", "yes grace 1.0"),
                Boundary(at(37), "yes grace 1.0", "no retry -1.0"),
            ]),
        row(
            "A payment in grace leaves no gap", "pro",
            [
                bought, playReading(.grace, at: at(31), [pro(to: 34)], mark: "b"),
                playReading(.active, at: at(33), [pro(to: 60, "GPA.1..0")], mark: "c"),
            ],
            [
                Boundary(at(30), "yes active 5.0", "yes active 5.0"),
                Boundary(at(34), "yes active 5.0", "yes active 5.0"),
                Boundary(at(60), "yes active 5.0", "no expired 0.0"),
            ]),
        row(
            "Grace is all that is known", "pro",
            [playReading(.grace, at: at(31), [pro(to: 34)], mark: "b")],
            [
                Boundary(at(0), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(31), "yes active 5.0", "yes grace 1.0"),
                Boundary(at(34), "yes grace 1.0", "no retry -1.0"),
            ]),
        row(
            "CANCELED gives access until the expiry", "pro",
            [
                bought,
                playReading(
                    .cancelled, at: at(9), [pro(to: 30, renews: false)], mark: "b",
                    ended(.byCustomer)),
            ],
            [
                Boundary(at(9), "yes active 4.0", "yes active 4.0"),
                Boundary(at(30), "yes active 4.0", "no expired -5.0"),
            ]),
        row(
            "A cancellation that is taken back renews", "pro",
            [
                bought, playReading(.cancelled, at: at(9), [pro(to: 30, renews: false)], mark: "b"),
                playReading(.active, at: at(12), [pro(to: 30)], mark: "c"),
            ], [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
        row(
            "ON_HOLD gives nothing", "pro",
            [bought, playReading(.onHold, at: at(31), [pro(to: 30)], mark: "b")],
            [Boundary(at(30), "yes active 5.0", "no retry -1.0")]),
        row(
            "What follows a hold begins when it is read", "pro",
            [
                bought, playReading(.onHold, at: at(31), [pro(to: 30)], mark: "b"),
                playReading(.active, at: at(40), [pro(to: 70, "GPA.1..0")], mark: "c"),
            ],
            [
                Boundary(at(30), "yes active 5.0", "no upcoming 0.0"),
                Boundary(at(40), "no upcoming 0.0", "yes active 5.0"),
            ]),
        row(
            "PAUSED gives nothing", "pro",
            [
                bought,
                playReading(.paused, at: at(30), [pro(to: 30)], mark: "b") {
                    $0.resumesAt = at(60)
                },
            ], [Boundary(at(30), "yes active 5.0", "no paused -9.0")]),
        row(
            "EXPIRED ends it, as the customer wanted", "pro",
            [
                bought,
                playReading(
                    .expired, at: at(30), [pro(to: 30, renews: false)], mark: "b",
                    ended(.byCustomer)),
            ], [Boundary(at(30), "yes active 4.0", "no expired -5.0")]),
        row(
            "EXPIRED ends it, because nothing was paid", "pro",
            [
                bought,
                playReading(
                    .expired, at: at(31), [pro(to: 30, renews: false)], mark: "b",
                    ended(.bySystem)),
            ], [Boundary(at(30), "yes active 4.0", "no expired -2.0")]),
        row(
            "EXPIRED with an earlier end is a revocation", "pro",
            [
                bought,
                playReading(
                    .expired, at: at(11), [pro(to: 10, renews: false)], mark: "b",
                    ended(.byDeveloper)),
            ], [Boundary(at(10), "yes active 4.0", "no revoked -8.0")]),
        row(
            "What was not acknowledged is revoked, too", "pro",
            [
                bought,
                playReading(.expired, at: at(3), [pro(to: 3, renews: false)], mark: "b") {
                    ($0.ending, $0.isAcknowledged) = (.bySystem, false)
                },
            ], [Boundary(at(3), "yes active 4.0", "no revoked -8.0")]),
        row(
            "A hold that begins early is no revocation", "pro",
            [
                bought, playReading(.onHold, at: at(10), [pro(to: 10)], mark: "b"),
                playReading(
                    .expired, at: at(12), [pro(to: 10, renews: false)], mark: "c",
                    ended(.bySystem)),
            ], [Boundary(at(10), "yes active 4.0", "no expired -2.0")]),
        row(
            "Nor is the end of a hold that the customer cancels", "pro",
            [
                bought, playReading(.onHold, at: at(31), [pro(to: 30)], mark: "b"),
                playReading(
                    .expired, at: at(33), [pro(to: 30, renews: false)], mark: "c",
                    ended(.byCustomer)),
            ], [Boundary(at(30), "yes active 4.0", "no expired -5.0")]),
        row(
            "A state that is not known takes nothing away", "pro",
            [
                bought,
                playReading(.unknown("MOONLIT"), at: at(9), [pro(to: 90)], mark: "b"),
            ],
            [
                Boundary(at(9), "yes active 5.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        row(
            "A state that is not known gives nothing", "pro",
            [playReading(.unknown("MOONLIT"), at: at(9), [pro(to: 90)], mark: "b")],
            [Boundary(at(10), "-", "-")]),
        row(
            "A trial and an introductory price are the period's", "pro",
            [
                playReading(
                    .active, at: at(0),
                    [
                        pro(to: 7) {
                            $0.offer = Offer(kind: .introductory, discount: .freeTrial)
                        }
                    ], mark: "a"),
                playReading(
                    .active, at: at(7),
                    [
                        pro(to: 37, "GPA.1..0") {
                            $0.offer = Offer(kind: .introductory, discount: .payAsYouGo)
                        }
                    ], mark: "b"),
                playReading(.active, at: at(38), [pro(to: 67, "GPA.1..1")], mark: "c"),
            ],
            [
                Boundary(at(7), "yes trial 5.1", "yes intro 5.2"),
                Boundary(at(37), "yes intro 5.2", "yes active 5.0"),
            ]),
    ]

    @Test("Each state gives or ends access as the sheet says", arguments: states)
    func state(_ example: WorkedExample) { example.check() }

    static let items: [WorkedExample] = [
        row(
            "An item without a paid order gives nothing", "plus",
            [
                playReading(
                    .active, at: at(0), [pro(to: 30), playItem("plus", nil, to: at(30))], mark: "a")
            ], [Boundary(at(1), "-", "-")]),
        row(
            "An add-on that is refunded ends alone", "extra",
            [
                playReading(
                    .active, at: at(0), [pro(to: 30), playItem("extra", to: at(30))], mark: "a"),
                playReading(.active, at: at(10), [pro(to: 30)], mark: "b"),
            ], [Boundary(at(10), "yes active 5.0", "no revoked -8.0")]),
        row(
            "and the base plan goes on", "pro",
            [
                playReading(
                    .active, at: at(0), [pro(to: 30), playItem("extra", to: at(30))], mark: "a"),
                playReading(.active, at: at(10), [pro(to: 30)], mark: "b"),
            ], [Boundary(at(10), "yes active 5.0", "yes active 5.0")]),
        row(
            "An add-on that is removed ends with its period", "extra",
            [
                playReading(
                    .active, at: at(5),
                    [
                        pro(to: 30),
                        playItem("extra", to: at(30), renews: false) { $0.isRemoved = true },
                    ], mark: "a"),
                playReading(.active, at: at(30), [pro(to: 60, "GPA.1..0")], mark: "b"),
            ],
            [
                Boundary(at(5), "yes active 4.0", "yes active 4.0"),
                Boundary(at(30), "yes active 4.0", "no expired -5.0"),
            ]),
        row(
            "An add-on bought later counts from its first reading", "extra",
            [
                bought,
                playReading(
                    .active, at: at(12), [pro(to: 30), playItem("extra", "GPA.2", to: at(30))],
                    mark: "b"),
            ], [Boundary(at(12), "no upcoming 0.0", "yes active 5.0")]),
    ]

    @Test("Access is per item", arguments: items)
    func item(_ example: WorkedExample) { example.check() }

    private static let plus = playReading(
        .active, at: at(0), [playItem("plus", to: at(30))], mark: "a")

    private static func next(
        _ state: Reading.State = .active, at instant: Int64, from start: Int64 = 10,
        _ items: [Reading.Item], mark: String, _ change: (inout Reading) -> Void = { _ in }
    ) -> TransactionFact {
        playReading(state, "t2", of: "t1", at: at(instant), from: at(start), items, mark: mark) {
            $0.continues = id("t1")
            change(&$0)
        }
    }

    static let chains: [WorkedExample] = [
        row(
            "An upgrade ends the older token, though it still answers ACTIVE", "plus",
            [
                plus, next(at: 10, [pro(to: 40, "GPA.2")], mark: "b"),
                playReading(.active, at: at(12), [playItem("plus", to: at(30))], mark: "c"),
            ], [Boundary(at(10), "yes active 5.0", "no upgraded -6.0")]),
        row(
            "and the newer one begins", "pro",
            [plus, next(at: 10, [pro(to: 40, "GPA.2")], mark: "b")],
            [Boundary(at(10), "no upcoming 0.0", "yes active 5.0")]),
        row(
            "A deferred change leaves the old product its period", "plus",
            deferred,
            [
                Boundary(at(10), "yes active 5.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        row(
            "and brings the new one at its end", "pro", deferred,
            [
                Boundary(at(10), "no upcoming 0.0", "no upcoming 0.0"),
                Boundary(at(30), "no upcoming 0.0", "yes active 5.0"),
            ]),
        row(
            "A deferred change that has not come gives nothing", "pro", Array(deferred.prefix(2)),
            [Boundary(at(29), "-", "-")]),
        row(
            "A top-up of a prepaid plan adds up", "pro",
            [
                playReading(
                    .active, at: at(0), [pro(to: 30, renews: false) { $0.isPrepaid = true }],
                    mark: "a"),
                next(
                    at: 20, from: 20, [pro(to: 60, "GPA.2", renews: false) { $0.isPrepaid = true }],
                    mark: "b"),
            ],
            [
                Boundary(at(20), "yes active 5.0", "yes active 4.0"),
                Boundary(at(30), "yes active 4.0", "yes active 4.0"),
                Boundary(at(60), "yes active 4.0", "no expired -5.0"),
            ]),
        row(
            "A subscription that is bought again leaves the gap", "pro",
            [bought, next(at: 50, from: 50, [pro(to: 80, "GPA.2")], mark: "b")],
            [
                Boundary(at(30), "yes active 5.0", "no upcoming 0.0"),
                Boundary(at(50), "no upcoming 0.0", "yes active 5.0"),
            ]),
        row(
            "A newer token of which nothing is paid ends nothing", "plus",
            [plus, next(at: 10, [playItem("pro", nil, to: nil)], mark: "b")],
            [Boundary(at(10), "yes active 5.0", "yes active 5.0")]),
        row(
            "Nor does one in a state that is not known", "plus",
            [plus, next(.unknown("MOONLIT"), at: 10, [pro(to: 40, "GPA.2")], mark: "b")],
            [Boundary(at(10), "yes active 5.0", "yes active 5.0")]),
    ]

    private static let deferred: [TransactionFact] = [
        plus,
        next(
            at: 10,
            [
                playItem("plus", to: at(30), renews: false) { $0.nextProduct = id("pro") },
                playItem("pro", nil, to: nil),
            ], mark: "b"),
        next(at: 30, [pro(to: 60, "GPA.2")], mark: "c"),
    ]

    @Test("A chain of tokens is one subscription", arguments: chains)
    func chain(_ example: WorkedExample) {
        example.check()
        #expect(CustomerState(recording: example.evidence, catalog: playShop).purchases.count == 1)
    }

    @Test("A replaced token that is read last does not turn the purchase back to its product")
    func readAgain() {
        let upgrade = Self.next(at: 10, [Self.pro(to: 40, "GPA.2")], mark: "b")
        let again = playReading(
            .expired, at: at(12), [playItem("plus", to: at(10), renews: false)], mark: "c",
            Self.ended(.replaced))
        let orders = [
            [Self.plus, upgrade, again], [again, upgrade, Self.plus], [upgrade, again],
        ]
        for order in orders {
            let state = CustomerState(
                recording: order.map { facts([$0]) }, catalog: playShop)
            #expect(state.purchases.count == 1)
            let purchase = state.purchases[0]
            #expect(purchase.newest?.product == id("pro") && purchase.newest?.expires == at(40))
            #expect(purchase.renewal?.product == id("pro"))
        }
    }

    static let goods: [WorkedExample] = [
        row(
            "A non-consumable counts for ever", "level2",
            [playReading(.purchased, at: at(1), [playGood("level2")])],
            [Boundary(at(0), "no upcoming 0.0", "yes active 3.0")]),
        row(
            "until it is taken back, as soon as that is read", "level2",
            [
                playReading(.purchased, at: at(1), [playGood("level2")]),
                playReading(.takenBack, at: at(9), [playGood("level2")]),
                playReading(.takenBack, at: at(12), [playGood("level2")]),
            ], [Boundary(at(9), "yes active 3.0", "no revoked -8.0")]),
        row(
            "What was taken back before it was ever read gives nothing", "level2",
            [playReading(.takenBack, at: at(9), [playGood("level2")])],
            [Boundary(at(5), "no revoked -8.0", "no revoked -8.0")]),
        row(
            "What was ordered in advance begins with its release", "level2",
            [
                playReading(
                    .purchased, at: at(1),
                    [playGood("level2") { ($0.isOrderedInAdvance, $0.releasedAt) = (true, at(5)) }])
            ], [Boundary(at(5), "no upcoming 0.0", "yes active 3.0")]),
        row(
            "A rental ends after the catalog's duration", "film",
            [playReading(.purchased, at: at(1), [playGood("film") { $0.isRented = true }])],
            [
                Boundary(at(0), "no upcoming 0.0", "yes active 3.0"),
                Boundary(at(30), "yes active 3.0", "no expired -5.0"),
            ]),
        row(
            "A state that is not known takes nothing away", "level2",
            [
                playReading(.purchased, at: at(1), [playGood("level2")]),
                playReading(.unknown("9"), at: at(9), [playGood("level2")]),
            ], [Boundary(at(9), "yes active 3.0", "yes active 3.0")]),
    ]

    @Test("What is bought once", arguments: goods)
    func good(_ example: WorkedExample) { example.check() }
}
