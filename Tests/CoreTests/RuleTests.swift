import Core
import Histories
import Testing

/// Tests one worked example per rule. Days count from 1 January 2026.
@Suite("The rules of access")
struct RuleTests {
    static let lifetimes: [WorkedExample] = [
        WorkedExample(
            "A non-consumable gives access from its purchase for ever", "level2",
            [facts([transaction("1", "level2", .nonConsumable, at(3))])],
            [
                Boundary(at(3), "no upcoming 0.0", "yes active 3.0"),
                Boundary(instant("9999-12-31T23:59:59.999Z"), "yes active 3.0", "yes active 3.0"),
            ]),
        WorkedExample(
            "A refund ends it", "level2",
            [
                facts([transaction("1", "level2", .nonConsumable, at(3))]),
                facts([
                    transaction("1", "level2", .nonConsumable, at(3), signed: at(9)) {
                        $0.revocation = refund(at: at(8), .full, .issueWithApp)
                    }
                ]),
            ],
            [Boundary(at(8), "yes active 3.0", "no revoked -7.0")]),
        WorkedExample(
            "A reversal brings it back, and history has no gap", "level2",
            [
                facts([
                    transaction("1", "level2", .nonConsumable, at(3), signed: at(9)) {
                        $0.revocation = refund(at: at(8))
                    }
                ]),
                facts([transaction("1", "level2", .nonConsumable, at(3), signed: at(12))]),
            ],
            [Boundary(at(8), "yes active 3.0", "yes active 3.0")]),
        WorkedExample(
            "A second refund after a reversal ends it again", "level2",
            [
                facts([
                    transaction("1", "level2", .nonConsumable, at(3), signed: at(20)) {
                        $0.revocation = refund(at: at(19))
                    }
                ]),
                facts([transaction("1", "level2", .nonConsumable, at(3), signed: at(12))]),
                facts([
                    transaction("1", "level2", .nonConsumable, at(3), signed: at(9)) {
                        $0.revocation = refund(at: at(8))
                    }
                ]),
            ],
            [
                Boundary(at(8), "yes active 3.0", "yes active 3.0"),
                Boundary(at(19), "yes active 3.0", "no revoked -8.0"),
            ]),
        WorkedExample(
            "A restore in a receipt is the same purchase and does not undo its refund", "level2",
            [
                facts([
                    transaction("1", "level2", .nonConsumable, at(3), signed: at(9)) {
                        $0.revocation = refund(at: at(8))
                    }
                ]),
                facts([
                    transaction("77", of: "1", "level2", .nonConsumable, at(20)) {
                        $0.originallyPurchased = at(3)
                        $0.rank = .offlineReceipt
                    }
                ]),
            ],
            [
                Boundary(at(3), "no upcoming 0.0", "yes active 3.0"),
                Boundary(at(8), "yes active 3.0", "no revoked -8.0"),
                Boundary(at(20), "no revoked -8.0", "no revoked -8.0"),
            ]),
        WorkedExample(
            "A family member's purchase counts", "level2",
            [
                facts([
                    transaction("1", "level2", .nonConsumable, at(3)) {
                        $0.ownership = .familyShared
                    }
                ])
            ],
            [Boundary(at(3), "no upcoming 0.0", "yes active 3.0")]),
        WorkedExample(
            "unless the product says no", "level3",
            [
                facts([
                    transaction("1", "level3", .nonConsumable, at(3)) {
                        $0.ownership = .familyShared
                    }
                ])
            ],
            [Boundary(at(3), "-", "-")]),
        WorkedExample(
            "A family member leaves, and the access ends", "level2",
            [
                facts([
                    transaction("1", "level2", .nonConsumable, at(3), signed: at(9)) {
                        $0.ownership = .familyShared
                        $0.revocation = refund(at: at(8), .family)
                    }
                ])
            ],
            [Boundary(at(8), "yes active 3.0", "no revoked -8.0")]),
        WorkedExample(
            "A customer who installed an early version keeps what it had", "legacy",
            [facts(apps: [installation("1.9.12", on: at(2))])],
            [Boundary(at(2), "no upcoming 0.0", "yes active 3.0")]),
        WorkedExample(
            "and the first version with the purchase inside brings nothing", "legacy",
            [facts(apps: [installation("2.0", on: at(2))])], [Boundary(at(2), "-", "-")]),
        WorkedExample(
            "and a sandbox, where everybody has version 1.0, brings nothing", "legacy",
            [facts(apps: [installation("1.0", on: at(2), environment: .sandbox)])],
            [Boundary(at(2), "-", "-")]),
    ]

    static let terms: [WorkedExample] = [
        WorkedExample(
            "A non-renewing purchase lasts as long as the catalog says", "season",
            [facts([transaction("1", "season", .nonRenewing, at(1))])],
            [
                Boundary(at(1), "no upcoming 0.0", "yes active 3.0"),
                Boundary(at(31), "yes active 3.0", "no expired -5.0"),
            ]),
        WorkedExample(
            "extend: the next starts when the last ends", "season",
            [
                facts([transaction("1", "season", .nonRenewing, at(1))]),
                facts([transaction("2", "season", .nonRenewing, at(11))]),
            ],
            [
                Boundary(at(31), "yes active 3.0", "yes active 3.0"),
                Boundary(at(61), "yes active 3.0", "no expired -5.0"),
            ]),
        WorkedExample(
            "extend: a refund of the first lets the next start at once", "season",
            [
                facts([
                    transaction("1", "season", .nonRenewing, at(1)) {
                        $0.revocation = refund(at: at(15))
                    }
                ]),
                facts([transaction("2", "season", .nonRenewing, at(11))]),
            ],
            [
                Boundary(at(15), "yes active 3.0", "yes active 3.0"),
                Boundary(at(45), "yes active 3.0", "no expired -5.0"),
            ]),
        WorkedExample(
            "restart: the term begins anew", "boost",
            [
                facts([transaction("1", "boost", .nonRenewing, at(1))]),
                facts([transaction("2", "boost", .nonRenewing, at(11))]),
            ],
            [
                Boundary(at(11), "yes active 3.0", "yes active 3.0"),
                Boundary(at(41), "yes active 3.0", "no expired -5.0"),
            ]),
        WorkedExample(
            "restart: when the second is refunded, the first counts to its end", "boost",
            [
                facts([transaction("1", "boost", .nonRenewing, at(1))]),
                facts([
                    transaction("2", "boost", .nonRenewing, at(11)) {
                        $0.revocation = refund(at: at(12))
                    }
                ]),
            ],
            [Boundary(at(31), "yes active 3.0", "no expired -5.0")]),
        WorkedExample(
            "overlap: each runs from its own purchase", "pass",
            [
                facts([transaction("1", "pass", .nonRenewing, at(1))]),
                facts([transaction("2", "pass", .nonRenewing, at(11))]),
            ],
            [
                Boundary(at(31), "yes active 3.0", "yes active 3.0"),
                Boundary(at(41), "yes active 3.0", "no expired -5.0"),
            ]),
    ]

    static let subscriptions: [WorkedExample] = [
        WorkedExample(
            "A subscription gives access until it expires", "pro",
            [facts([transaction("1", "pro", .autoRenewable, at(0), to: at(30))])],
            [
                Boundary(at(0), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "A renewal goes on where the last period ended", "pro",
            [
                facts([transaction("1", "pro", .autoRenewable, at(0), to: at(30))]),
                facts([transaction("2", of: "1", "pro", .autoRenewable, at(30), to: at(60))]),
            ],
            [
                Boundary(at(30), "yes active 5.0", "yes active 5.0"),
                Boundary(at(60), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "A trial is told from a paid period", "pro",
            [
                facts([
                    transaction("1", "pro", .autoRenewable, at(0), to: at(7)) {
                        $0.offer = Offer(kind: .introductory, discount: .freeTrial)
                    },
                    transaction("2", of: "1", "pro", .autoRenewable, at(7), to: at(37)),
                ])
            ],
            [Boundary(at(7), "yes trial 5.1", "yes active 5.0")]),
        WorkedExample(
            "and so is an introductory price", "pro",
            [
                facts([
                    transaction("1", "pro", .autoRenewable, at(0), to: at(30)) {
                        $0.offer = Offer(kind: .introductory, discount: .payAsYouGo)
                    },
                    transaction("2", of: "1", "pro", .autoRenewable, at(30), to: at(60)) {
                        $0.offer = Offer(kind: .winBack)
                    },
                ])
            ],
            [Boundary(at(30), "yes intro 5.2", "yes active 5.3")]),
        WorkedExample(
            "An upgrade takes over at once what it unlocks too", "ad_free",
            upgrade, [Boundary(at(10), "yes active 5.0", "yes active 5.0")]),
        WorkedExample(
            "and begins what only it unlocks", "pro",
            upgrade, [Boundary(at(10), "no upcoming 0.0", "yes active 5.0")]),
        WorkedExample(
            "and ends what it does not unlock", "solo",
            [
                facts([
                    transaction("1", "solo", .autoRenewable, at(0), to: at(30), signed: at(10)) {
                        $0.isUpgraded = true
                    },
                    transaction("2", of: "1", "plus", .autoRenewable, at(10), to: at(40)),
                ])
            ],
            [Boundary(at(10), "yes active 5.0", "no upgraded -6.0")]),
        WorkedExample(
            "A prorated refund of the upgraded period changes nothing more", "pro",
            [
                facts([
                    transaction("1", "plus", .autoRenewable, at(0), to: at(30), signed: at(11)) {
                        $0.isUpgraded = true
                        $0.revocation = refund(at: at(10), .prorated, milliPercent: 66_000)
                    },
                    transaction("2", of: "1", "pro", .autoRenewable, at(10), to: at(40)),
                ])
            ],
            [
                Boundary(at(10), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(40), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "A downgrade waits for the renewal", "pro",
            [
                facts(
                    [transaction("1", "pro", .autoRenewable, at(0), to: at(30))],
                    renewals: [renewal(of: "1", signed: at(5)) { $0.nextProduct = id("plus") }]),
                facts([transaction("2", of: "1", "plus", .autoRenewable, at(30), to: at(60))]),
            ],
            [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
        WorkedExample(
            "and what it gave up is not retried with what took its place", "pro",
            [
                facts([
                    transaction("1", "pro", .autoRenewable, at(0), to: at(30)),
                    transaction("2", of: "1", "plus", .autoRenewable, at(30), to: at(60)),
                ]),
                facts(renewals: [renewal(of: "1", signed: at(60)) { $0.isInBillingRetry = true }]),
            ],
            [Boundary(at(60), "no expired 0.0", "no expired 0.0")]),
        WorkedExample(
            "Two subscriptions to one thing: it ends when the last one does", "pro",
            [
                facts([
                    transaction("1", "pro", .autoRenewable, at(0), to: at(30)),
                    transaction("2", "solo", .autoRenewable, at(20), to: at(50)),
                ])
            ],
            [
                Boundary(at(30), "yes active 5.0", "yes active 5.0"),
                Boundary(at(50), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "A receipt may add a later end, and never an earlier one", "pro",
            [
                facts([transaction("1", "pro", .autoRenewable, at(0), to: at(30))]),
                facts([
                    transaction("1", "pro", nil, at(0), to: at(33), signed: at(9)) {
                        $0.rank = .offlineReceipt
                    },
                    transaction("1", "pro", nil, at(0), to: at(20), signed: at(10)) {
                        $0.rank = .verifyReceiptReply
                    },
                ]),
            ],
            [Boundary(at(33), "yes active 5.0", "no expired 0.0")]),
        WorkedExample(
            "A receipt that tells of a later refund ends a period", "pro",
            [
                facts([transaction("1", "pro", .autoRenewable, at(0), to: at(30))]),
                facts([
                    transaction("1", "pro", nil, at(0), to: at(30), signed: at(13)) {
                        $0.rank = .verifyReceiptReply
                        $0.revocation = refund(at: at(12), nil, .other)
                    }
                ]),
            ],
            [Boundary(at(12), "yes active 5.0", "no revoked -8.0")]),
    ]

    static let upgrade = [
        facts([transaction("1", "plus", .autoRenewable, at(0), to: at(30))]),
        facts([
            transaction("1", "plus", .autoRenewable, at(0), to: at(30), signed: at(10)) {
                $0.isUpgraded = true
            },
            transaction("2", of: "1", "pro", .autoRenewable, at(10), to: at(40)),
        ]),
    ]

    @Test("Non-consumables, families and original versions", arguments: lifetimes)
    func lifetime(_ example: WorkedExample) { example.check() }

    @Test("Non-renewing purchases", arguments: terms)
    func term(_ example: WorkedExample) { example.check() }

    @Test("Subscriptions", arguments: subscriptions)
    func subscription(_ example: WorkedExample) { example.check() }
}
